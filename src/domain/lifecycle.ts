import { EventEmitter } from "node:events";
import type { Fault, InstallStep, InstallStepName, Resources } from "../contract/agents.ts";
import { asBerthError, BerthError } from "../contract/errors.ts";
import { pendingSteps, type StoredAgent, stepsAt, stepsEnded } from "./agents.ts";

/** What is wanted of an agent's machine. */
interface MachineRequest {
  id: string;
  generation: number;
  runtime: string;
  hostname: string;
  resources: Resources;
}

/** What is told of a machine's making, step by step. */
interface Progress {
  /** The steps that it will take; told once, before the first. */
  plan(steps: readonly InstallStepName[]): void;
  begin(step: InstallStepName): void;
}

/** The machines, as far as an agent's life needs them. */
export interface MachinesOfAgents {
  /** Makes it run, with its runtime ready for a message. */
  ensure(request: MachineRequest, progress: Progress): Promise<void>;
  /** Ends the run, with all that was written on the disk. */
  stop(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  /** Resolves when the run that goes on now has ended. */
  ended(id: string): Promise<void>;
  list(): Promise<{ id: string }[]>;
}

/** What changes in an agent's row as its machine comes and goes; `generation` guards against a late step. */
export interface AgentChange {
  status?: StoredAgent["status"];
  error?: Fault | null;
  installSteps?: InstallStep[];
}

/** The agents' rows, as far as an agent's life needs them. */
export interface AgentRows {
  /** Throws `agent_exists`. */
  insert(agent: StoredAgent): Promise<void>;
  byId(id: string): Promise<StoredAgent | null>;
  all(): Promise<StoredAgent[]>;
  /** Writes nothing when the row is of another generation or gone; answers whether it wrote. */
  change(id: string, generation: number, change: AgentChange): Promise<boolean>;
  /** Marks the agent as being deleted and raises its generation. */
  beginDeletion(id: string): Promise<void>;
  /** Marks the agent as being made and raises its generation, unless it is being deleted. Answers what it is then. */
  beginRestart(id: string): Promise<StoredAgent | null>;
  remove(id: string): Promise<void>;
}

/** A machine that ends this often within `lossWindowMs` is not started again by itself. */
const maximumLosses = 3;
const lossWindowMs = 10 * 60_000;
const databaseRetryMs = 500;

/**
 * The life of agents: what a row wants is made true of its machine, one step at a time per agent.
 *
 *     provisioning ──► ready ──(machine lost, restart)──► provisioning
 *          │
 *          └──► failed ──(restart)──► provisioning        any status may go to deleting ──► (gone)
 *
 * Every step may be made again after a crash at any point; `recover` does so for all agents at the start.
 */
export class Lifecycle {
  readonly #rows: AgentRows;
  readonly #machines: MachinesOfAgents;
  readonly #log: (message: string, fields: Record<string, unknown>) => void;
  readonly #tasks = new Map<string, Promise<void>>();
  readonly #losses = new Map<string, number[]>();
  readonly #changes = new EventEmitter<Record<string, []>>().setMaxListeners(0);
  #stopped = false;

  constructor(
    rows: AgentRows,
    machines: MachinesOfAgents,
    log: (message: string, fields: Record<string, unknown>) => void,
  ) {
    this.#rows = rows;
    this.#machines = machines;
    this.#log = log;
  }

  /** Stores a new agent and begins to make its machine. Throws `agent_exists`. */
  async create(agent: StoredAgent): Promise<void> {
    await this.#rows.insert(agent);
    this.#begin(agent);
  }

  /** Resolves when the agent's machine is there; rejects with the fault of an agent that failed. */
  async ready(id: string): Promise<void> {
    for (;;) {
      await this.#tasks.get(id);
      const agent = await this.#rows.byId(id);
      if (!agent) throw new BerthError("agent_deleted", "The agent was deleted.");
      if (agent.status === "deleting") throw new BerthError("agent_deleted", "The agent is being deleted.");
      if (agent.status === "failed") throw faultOf(agent);
      if (agent.status === "ready") return;
      if (!this.#tasks.has(id)) this.#begin(agent);
    }
  }

  /** The agent at once and after each change, until `signal` is aborted or it is gone. */
  async *watch(id: string, signal: AbortSignal): AsyncGenerator<StoredAgent> {
    let changed = true;
    let wake: () => void = () => {};
    const notice = () => {
      changed = true;
      wake();
    };
    this.#changes.on(id, notice);
    signal.addEventListener("abort", notice);
    try {
      while (!signal.aborted) {
        if (changed) {
          changed = false;
          const agent = await this.#rows.byId(id);
          if (!agent) return;
          yield agent;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      this.#changes.off(id, notice);
      signal.removeEventListener("abort", notice);
    }
  }

  /**
   * Ends the machine and boots it again from its disk. Answers the agent as it is meanwhile; null when it is being
   * deleted.
   */
  async restart(id: string): Promise<StoredAgent | null> {
    const agent = await this.#rows.beginRestart(id);
    if (!agent) return null;
    this.#losses.delete(id);
    this.#changed(id);
    void this.#after(id, async () => {
      // A later restart or deletion, or a server that stops, sees to the machine itself.
      if (this.#stopped || (await this.#rows.byId(id))?.generation !== agent.generation) return;
      await this.#machines.stop(id);
      await this.#provide(agent);
    }).catch((error: unknown) => this.#failed(agent, error));
    return agent;
  }

  /** Removes the agent with its machine and every byte of it. Resolves when all is gone. */
  async delete(id: string): Promise<void> {
    await this.#rows.beginDeletion(id);
    this.#changed(id);
    await this.#after(id, async () => {
      await this.#machines.destroy(id);
      await this.#rows.remove(id);
    });
    this.#losses.delete(id);
    this.#changed(id);
  }

  /** After a start of the server: goes on where the one before it ended, and removes machines of nobody. */
  async recover(): Promise<void> {
    // In this order: a row is always older than its machine.
    const machines = await this.#machines.list();
    const agents = await this.#rows.all();
    const known = new Set(agents.map(({ id }) => id));
    for (const { id } of machines) {
      if (!known.has(id)) await this.#machines.destroy(id);
    }
    for (const agent of agents) {
      if (agent.status === "deleting") void this.delete(agent.id).catch((error: unknown) => this.#failed(agent, error));
      else if (agent.status === "provisioning" || agent.status === "ready") this.#begin(agent);
    }
  }

  /** Begins no more steps; those under way come to an end by themselves. */
  stop(): void {
    this.#stopped = true;
  }

  #begin(agent: StoredAgent): void {
    void this.#after(agent.id, () => this.#provide(agent)).catch((error: unknown) => this.#failed(agent, error));
  }

  /** Runs one step of an agent after the one before it. */
  #after(id: string, step: () => Promise<void>): Promise<void> {
    const task = (this.#tasks.get(id) ?? Promise.resolve()).catch(() => {}).then(step);
    const settled = task
      .catch(() => {})
      .then(() => {
        if (this.#tasks.get(id) === settled) this.#tasks.delete(id);
      });
    this.#tasks.set(id, settled);
    return task;
  }

  /** Makes the machine run, and writes each step down as it begins. */
  async #provide({ id }: StoredAgent): Promise<void> {
    const agent = await this.#patiently(() => this.#rows.byId(id));
    if (!agent || agent.status === "deleting" || this.#stopped) return;
    const { generation } = agent;
    let steps = agent.installSteps;
    let written = Promise.resolve();
    const write = (change: AgentChange & { installSteps: InstallStep[] }) => {
      steps = change.installSteps;
      written = written
        .then(() => this.#write(id, generation, change))
        .catch((error: unknown) => this.#failed(agent, error));
    };
    const progress: Progress = {
      // Also of an agent that was ready, whose machine has ended while no server saw it.
      plan: (names) => write({ status: "provisioning", installSteps: pendingSteps(names) }),
      begin: (step) => write({ installSteps: stepsAt(steps, step, new Date()) }),
    };
    try {
      await this.#machines.ensure({ ...agent, hostname: agent.name }, progress);
      await written;
      const installSteps = stepsEnded(steps, "done", new Date());
      await this.#write(id, generation, { status: "ready", error: null, installSteps });
      this.#machines
        .ended(id)
        .then(() => this.#lost(agent))
        .catch((error: unknown) => this.#failed(agent, error));
    } catch (error) {
      await written;
      const failure = asBerthError(error, "machine_failed", "The agent's machine could not be started.");
      this.#log("an agent failed", { agent: agent.name, code: failure.code, error });
      await this.#write(id, generation, {
        status: "failed",
        error: { code: failure.code, message: failure.message },
        installSteps: stepsEnded(steps, "failed", new Date()),
      });
    }
  }

  /** The machine ended by itself: it is started again from its disk, unless it does so again and again. */
  async #lost(agent: StoredAgent): Promise<void> {
    if (this.#stopped) return;
    const current = await this.#patiently(() => this.#rows.byId(agent.id));
    if (current?.status !== "ready" || current.generation !== agent.generation) return;
    const recent = (this.#losses.get(agent.id) ?? []).filter((at) => Date.now() - at < lossWindowMs);
    this.#losses.set(agent.id, [...recent, Date.now()]);
    this.#log("an agent's machine was lost", { agent: agent.name, losses: recent.length + 1 });
    if (recent.length + 1 >= maximumLosses) {
      const error: Fault = {
        code: "machine_lost",
        message: `The agent's machine ended ${maximumLosses} times in ten minutes.`,
      };
      await this.#write(agent.id, agent.generation, { status: "failed", error });
      return;
    }
    await this.#write(agent.id, agent.generation, { status: "provisioning", installSteps: [] });
    this.#begin(current);
  }

  /** After `stop` nothing is written: what the machines are is seen again at the next start. */
  async #write(id: string, generation: number, change: AgentChange): Promise<void> {
    if (this.#stopped) return;
    await this.#patiently(() => this.#rows.change(id, generation, change));
    this.#changed(id);
  }

  /** Waits for a database that is away: what happened to a machine meanwhile must not be forgotten. */
  async #patiently<T>(step: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await step();
      } catch (error) {
        const passing = error instanceof BerthError && error.code === "database_unavailable";
        if (!passing || this.#stopped) throw error;
        await new Promise((resolve) => setTimeout(resolve, databaseRetryMs));
      }
    }
  }

  #changed(id: string): void {
    this.#changes.emit(id);
  }

  #failed(agent: StoredAgent, error: unknown): void {
    this.#log("a step of an agent's life failed", { agent: agent.name, error });
  }
}

function faultOf({ error }: StoredAgent): BerthError {
  return new BerthError(error?.code ?? "agent_failed", error?.message ?? "The agent has failed.");
}
