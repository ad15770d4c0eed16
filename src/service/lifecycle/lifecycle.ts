import { EventEmitter } from "node:events";
import type { Resources } from "../../contract/agents.ts";
import { asBerthError, BerthError, isShortage } from "../../contract/errors.ts";
import { Backoff, pause, retryTransient } from "../../platform/retry.ts";
import type { AgentState } from "../agents.ts";
import type { AgentChange, AgentRows } from "./agent-rows.ts";
import { type AgentTimers, Idleness } from "./idleness.ts";
import { InstallWriter, type Progress } from "./provisioning.ts";
import type { Slots } from "./slots.ts";

/** What is desired of an agent's machine. */
interface MachineRequest {
  id: string;
  generation: number;
  /** A machine that was started for a smaller number is started again from its disk. */
  restarts: number;
  runtime: string;
  hostname: string;
  resources: Resources;
}

/** The machines, as far as an agent's life needs them. Each call may be made again after a crash at any point. */
interface MachinesOfAgents {
  /** Makes it run, with its runtime ready for a message: found, woken, booted or made. */
  ensure(request: MachineRequest, progress: Progress, signal: AbortSignal): Promise<void>;
  /** Keeps its memory and ends the run. Where it rejects, or `signal` is aborted in time, it goes on running. */
  suspend(id: string, signal?: AbortSignal): Promise<void>;
  /** Ends the run, with all that was written on the disk. */
  stop(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  /** Resolves when the run that goes on now has ended. */
  ended(id: string): Promise<void>;
  /** Of one that runs. `busy`: something that the agent has started computes. */
  guest(id: string): Promise<{ activity(request: object): Promise<{ busy: boolean }> }>;
  list(): Promise<{ id: string; phase: string }[]>;
}

export interface LifecycleOptions {
  rows: AgentRows;
  machines: MachinesOfAgents;
  slots: Slots;
  timers: AgentTimers;
  /** Whether something goes on for the agent outside of its machine: bytes from the web are on their way to it. */
  atWork: (id: string) => boolean;
  /** An agent that nobody needed for so long is suspended; 0: never. */
  idleMs: number;
  /** What was measured, in seconds. */
  measured: (what: "wake" | "suspend" | "create", seconds: number) => void;
  log: (message: string, fields: Record<string, unknown>) => void;
}

/** A machine that ends this often within `lossWindowMs` is not started again by itself. */
const maximumLosses = 3;
const lossWindowMs = 10 * 60_000;
/** How often a step is tried for which the host lacks something, over some minutes. */
const maximumShortages = 10;
/** Between two tries of a step that failed for a reason of the host's or the database's. */
const leastRetryMs = 500;
const mostRetryMs = 30_000;
/** How long the one who deletes an agent waits for it. */
const deletionMs = 60_000;

/** The work on one agent. One step at a time; `done` resolves when what is desired has come to be, or cannot. */
interface Work {
  /** Of what is being made true. A row of a later one interrupts it. */
  generation: number;
  again: boolean;
  /** Of how many tries in a row the host had too little. */
  shortages: number;
  step: AbortController;
  done: Promise<void>;
}

/**
 * The life of agents. A row says what is desired (`running`, `suspended`, `deleted`) and what is (the status); one step
 * at a time per agent moves the machine towards it. Every step may be made again after a crash at any point, and one of
 * an older generation writes nothing. ARCHITECTURE.md has the table of all states.
 */
export class Lifecycle {
  readonly #options: LifecycleOptions;
  readonly #work = new Map<string, Work>();
  readonly #losses = new Map<string, number[]>();
  /** Why the last wake came to nothing, for those who wait for it. */
  readonly #refused = new Map<string, BerthError>();
  readonly #changes = new EventEmitter<Record<string, []>>().setMaxListeners(0);
  readonly #queue = new EventEmitter<Record<string, [number]>>().setMaxListeners(0);
  readonly #stop = new AbortController();
  /** Before it is known which machines run, nothing is said or done of any. */
  readonly #recovered = Promise.withResolvers<void>();
  /** The agents whose machine's end is watched, as they were last made to run. */
  readonly #watched = new Map<string, AgentState>();
  /** Which agents nobody needs, and what follows from it. */
  readonly idleness: Idleness;

  constructor(options: LifecycleOptions) {
    this.#options = options;
    const { rows, timers, idleMs, log } = options;
    this.idleness = new Idleness({
      rows,
      timers,
      idleMs,
      log,
      waiting: () => options.slots.waiting,
      activity: async (id) => (await (await options.machines.guest(id)).activity({})).busy,
      isAtWork: (id) => this.#work.has(id) || options.atWork(id),
      suspend: (agent) => void this.#reconcile(agent),
      stopped: this.#stop.signal,
    });
  }

  /** Stores a new agent and begins to make its machine. Throws `agent_exists`, `no_capacity`. */
  async create(agent: AgentState): Promise<void> {
    this.#options.slots.requireQueue();
    await this.#options.rows.insert(agent);
    void this.#reconcile(agent);
  }

  /**
   * Wants the agent's machine to run, and resolves when it does. `queued` is told its position while it waits for a
   * place. Rejects with the fault of an agent that failed, with `no_capacity`, `agent_deleted`, `shutting_down`.
   */
  async ready(id: string, queued: (position: number) => void = () => {}): Promise<void> {
    this.#queue.on(id, queued);
    try {
      await this.#known();
      for (;;) {
        const agent = await this.#retryTransient(() => this.#options.rows.byId(id));
        if (!agent) throw new BerthError("agent_deleted", "The agent was deleted.");
        if (agent.desired === "deleted") throw new BerthError("agent_deleted", "The agent is being deleted.");
        if (agent.status === "failed") throw faultOf(agent);
        if (agent.desired === "suspended") await this.#retryTransient(() => this.#options.rows.wake(id));
        else if (agent.status === "ready" && !this.#work.has(id)) return;
        else {
          this.#refused.delete(id);
          await this.#reconcile(agent);
          const refusal = this.#refused.get(id);
          if (refusal) throw refusal;
        }
      }
    } finally {
      this.#queue.off(id, queued);
    }
  }

  /** Throws `no_capacity` when the agent's machine does not run and no more can wait for a place. */
  requireSlot({ status }: AgentState): void {
    if (status === "suspended") this.#options.slots.requireQueue();
  }

  /** The agent at once and after each change, until `signal` is aborted or it is gone. */
  async *watch(id: string, signal: AbortSignal): AsyncGenerator<AgentState> {
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
          const agent = await this.#options.rows.byId(id);
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
  async restart(id: string): Promise<AgentState | null> {
    const agent = await this.#options.rows.beginRestart(id);
    if (!agent) return null;
    this.#losses.delete(id);
    this.#changed(id);
    void this.#reconcile(agent);
    return agent;
  }

  /** Suspends the agent. Answers how it is when that is done or was overtaken; null when it may not be. */
  async suspend(id: string): Promise<AgentState | null> {
    const agent = await this.#options.rows.beginSuspension(id, null);
    if (!agent) return null;
    await this.#reconcile(agent);
    return this.#options.rows.byId(id);
  }

  /** Wants the agent to run, and begins to wake it. Answers the agent; null when it is gone. Throws `no_capacity`. */
  async resume(agent: AgentState): Promise<AgentState | null> {
    this.requireSlot(agent);
    await this.#options.rows.wake(agent.id);
    const resumed = await this.#options.rows.byId(agent.id);
    if (resumed?.desired === "running" && resumed.status !== "failed") void this.#reconcile(resumed);
    return resumed;
  }

  /** Removes the agent with its machine and every byte of it. Resolves when all is gone. */
  async delete(id: string): Promise<void> {
    await this.#options.rows.beginDeletion(id);
    this.#changed(id);
    const agent = await this.#options.rows.byId(id);
    if (agent) {
      const over = new AbortController();
      await Promise.race([this.#reconcile(agent), pause(deletionMs, over.signal)]);
      over.abort();
    }
    if (await this.#options.rows.byId(id)) {
      throw new BerthError("agent_deleting", "The agent is still being deleted; this goes on by itself.");
    }
    for (const known of [this.#losses, this.#refused]) known.delete(id);
    this.idleness.forget(id);
    this.#changed(id);
  }

  /**
   * After a start of the server: goes on where the one before it ended. Machines of nobody are removed. An agent whose
   * machine has ended meanwhile (the host was started again) is not booted before somebody needs it.
   */
  async recover(): Promise<void> {
    const { rows, machines, slots } = this.#options;
    // In this order: a row is always older than its machine.
    const found = await machines.list();
    const agents = await rows.all();
    const byId = new Map(agents.map((agent) => [agent.id, agent]));
    const running = new Set<string>();
    for (const { id, phase } of found) {
      const agent = byId.get(id);
      if (!agent) await machines.destroy(id);
      else if (phase !== "running") continue;
      // The server before this one did not come to it.
      else if (agent.status === "failed") await machines.stop(id);
      else {
        running.add(id);
        slots.hold(slotOf(agent));
      }
    }
    for (const agent of agents) {
      const settled =
        agent.desired === "running" && agent.status === "ready" && !running.has(agent.id)
          ? await this.#markAsleep(agent)
          : agent.desired === "suspended" && agent.status === "suspended" && !running.has(agent.id);
      if (!settled && !(agent.desired === "running" && agent.status === "failed")) void this.#reconcile(agent);
    }
    this.#recovered.resolve();
  }

  /** For the timer: sees to whatever was left undone. */
  async sweep(): Promise<void> {
    for (const agent of await this.#options.rows.unsettled()) {
      if (!this.#work.has(agent.id)) void this.#reconcile(agent);
    }
    await this.idleness.sweep();
    this.#options.slots.retry();
  }

  /** Begins no more steps. What waits is given up; steps under way come to an end by themselves and write nothing. */
  stop(): void {
    this.#stop.abort(new BerthError("shutting_down", "The service is being stopped."));
    this.#recovered.resolve();
  }

  /** Resolves once `recover` has found what there is. Throws `shutting_down`. */
  async #known(): Promise<void> {
    await this.#recovered.promise;
    this.#stop.signal.throwIfAborted();
  }

  /** Has the agent's work go on until its row is as desired; interrupts a step of an older generation. */
  #reconcile({ id, generation }: AgentState): Promise<void> {
    const work = this.#work.get(id);
    if (work) {
      work.again = true;
      if (work.generation < generation) work.step.abort(new Superseded());
      return work.done;
    }
    const begun: Work = {
      generation,
      again: true,
      shortages: 0,
      step: new AbortController(),
      done: Promise.resolve(),
    };
    this.#work.set(id, begun);
    begun.done = this.#until(id, begun).finally(() => {
      this.#work.delete(id);
      this.idleness.settled(id);
      // It may make room for another now.
      this.#options.slots.retry();
    });
    return begun.done;
  }

  async #until(id: string, work: Work): Promise<void> {
    await this.#known().catch(() => {});
    for (const backoff = new Backoff(leastRetryMs, mostRetryMs); work.again && !this.#stop.signal.aborted; ) {
      work.again = false;
      work.step = new AbortController();
      try {
        await this.#step(id, work);
        backoff.reset();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        work.again = true;
        if (error instanceof Superseded) continue;
        this.#options.log("a step of an agent's life failed; it is tried again", { agentId: id, error });
        await pause(backoff.next(), this.#stop.signal);
      }
    }
  }

  /** Moves the machine towards what the row wants. Rejects when that is to be tried again. */
  async #step(id: string, work: Work): Promise<void> {
    const { rows, machines, slots } = this.#options;
    const agent = await rows.byId(id);
    if (!agent) return slots.release(id);
    work.generation = agent.generation;
    const signal = AbortSignal.any([work.step.signal, this.#stop.signal]);
    if (agent.desired === "deleted") {
      await machines.destroy(id);
      slots.release(id);
      await rows.remove(id);
    } else if (agent.status === "failed") {
      return;
    } else if (agent.desired === "running") {
      await this.#provide(agent, work, signal);
    } else if (agent.status === "provisioning") {
      // What is asked of an agent that is still being made is done afterwards.
      await this.#provide(agent, work, signal);
      work.again = true;
    } else {
      await this.#suspend(agent, work, signal);
    }
  }

  /** Makes the machine run, and writes each step down as it begins. */
  async #provide(agent: AgentState, work: Work, signal: AbortSignal): Promise<void> {
    const { machines, slots, measured } = this.#options;
    const { id, generation } = agent;
    const begun = Date.now();
    const steps = new InstallWriter(agent, (change) => this.#write(id, generation, change));
    try {
      await slots.acquire(slotOf(agent), (position) => this.#queue.emit(id, position), signal);
      // A wake is no installation, and nobody waits for more than its end.
      const progress = agent.status === "suspended" ? silent : steps;
      await machines.ensure({ ...agent, hostname: agent.name }, progress, signal);
      await steps.end("done", { status: "ready", error: null });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // What the host lacks it has again soon; a machine that may run already is not given up for it at all.
      if (isShortage(error) && (agent.status === "ready" || ++work.shortages < maximumShortages)) throw error;
      // A machine may be killed while it is made as well as later.
      if (isOfMachine(error) && !isShortage(error) && this.#countLoss(id) < maximumLosses) throw error;
      return this.#fail(agent, steps, error);
    }
    if (agent.status !== "ready")
      measured(agent.status === "suspended" ? "wake" : "create", (Date.now() - begun) / 1000);
    this.idleness.lookLater(id);
    this.#watch(agent);
  }

  /** Sees to the end of the machine's run, once, for the agent as it was last made to run. */
  #watch(agent: AgentState): void {
    const { id, name } = agent;
    const isWatched = this.#watched.has(id);
    this.#watched.set(id, agent);
    if (isWatched) return;
    this.#options.machines
      .ended(id)
      .then(() => {
        const latest = this.#watched.get(id)!;
        this.#watched.delete(id);
        return this.#lost(latest);
      })
      .catch((error: unknown) => {
        this.#watched.delete(id);
        if (this.#stop.signal.aborted) return;
        this.#options.log("a machine's end could not be seen to", { agent: name, error });
      });
  }

  /** The machine cannot be had: the agent has failed, but one that only found no place sleeps on. */
  async #fail(agent: AgentState, steps: InstallWriter, error: unknown): Promise<void> {
    const { machines, slots, log } = this.#options;
    const failure = isShortage(error)
      ? new BerthError("no_capacity", "The host has too little left to start the agent's machine.", { cause: error })
      : asBerthError(error, "machine_failed", "The agent's machine could not be started.");
    log("an agent's machine could not be had", { agent: agent.name, code: failure.code, error });
    this.#refused.set(agent.id, failure);
    // One that was ready has lost its place to another. A machine that runs after all keeps its memory, if that can be.
    if (failure.code === "no_capacity" && agent.status !== "provisioning") {
      await machines
        .suspend(agent.id)
        .catch(() => machines.stop(agent.id))
        .catch((fault: unknown) => log("a machine that is not desired could not be stopped", { error: fault }));
      slots.release(agent.id);
      await this.#write(agent.id, agent.generation, { status: "suspended", desired: "suspended" });
      return;
    }
    await steps.end("failed", { status: "failed", error: { code: failure.code, message: failure.message } });
    // Its disk and the last words of its runtime stay; what does not work takes no memory.
    await machines
      .stop(agent.id)
      .catch((fault: unknown) => log("a failed machine could not be stopped", { error: fault }));
    slots.release(agent.id);
  }

  async #suspend(agent: AgentState, work: Work, signal: AbortSignal): Promise<void> {
    const { machines, slots, measured, log } = this.#options;
    const { id, generation } = agent;
    const begun = Date.now();
    try {
      await machines.suspend(id, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // It runs on; whoever desired it suspended may ask again.
      log("an agent could not be suspended", { agent: agent.name, error });
      await this.#write(id, generation, { desired: "running" });
      work.again = true;
      return;
    }
    slots.release(id);
    await this.#write(id, generation, { status: "suspended", error: null });
    if (agent.status === "ready") measured("suspend", (Date.now() - begun) / 1000);
  }

  /** The machine ended by itself: it is started again from its disk, unless it does so again and again. */
  async #lost(agent: AgentState): Promise<void> {
    const { rows, slots, log } = this.#options;
    const { id, generation } = agent;
    if (this.#stop.signal.aborted) return;
    const current = await this.#retryTransient(() => rows.byId(id));
    if (current?.desired !== "running" || current.status !== "ready" || current.generation !== generation) return;
    slots.release(id);
    const losses = this.#countLoss(id);
    log("an agent's machine was lost", { agent: agent.name, losses });
    if (losses >= maximumLosses) {
      const message = `The agent's machine ended ${maximumLosses} times in ten minutes.`;
      await this.#write(id, generation, { status: "failed", error: { code: "machine_lost", message } });
      return;
    }
    await this.#write(id, generation, { status: "provisioning", installSteps: [] });
    await this.#reconcile(current);
  }

  /** How many machines of the agent have ended by themselves of late, this one included. */
  #countLoss(id: string): number {
    const recent = (this.#losses.get(id) ?? []).filter((at) => Date.now() - at < lossWindowMs);
    this.#losses.set(id, [...recent, Date.now()]);
    return recent.length + 1;
  }

  /** An agent whose machine has ended while no server ran sleeps until it is needed. */
  async #markAsleep({ id, generation }: AgentState): Promise<boolean> {
    const change = { status: "suspended", desired: "suspended", endUnknown: true } as const;
    return this.#options.rows.change(id, generation, change);
  }

  /** After `stop` nothing is written: what the machines are is seen again at the next start. */
  async #write(id: string, generation: number, change: AgentChange): Promise<void> {
    await this.#retryTransient(() => this.#options.rows.change(id, generation, change));
    this.#changed(id);
  }

  /** Asks the rows until they answer: a database that is away for a while fails no agent. Throws `shutting_down`. */
  #retryTransient<T>(ask: () => Promise<T>): Promise<T> {
    return retryTransient(ask, this.#stop.signal, (error) =>
      this.#options.log("an agent's row cannot be reached; trying again", { error }),
    );
  }

  #changed(id: string): void {
    this.#changes.emit(id);
  }
}

const silent: Progress = { plan: () => {}, begin: () => {} };

/** A later change of what is desired has interrupted a step. */
class Superseded extends Error {}

function slotOf({ id, accountId, resources }: AgentState) {
  return { agentId: id, accountId, memoryMiB: resources.memoryMiB };
}

function isOfMachine(error: unknown): boolean {
  return error instanceof BerthError && (error.code === "machine_failed" || error.code === "machine_lost");
}

function faultOf({ error }: AgentState): BerthError {
  return new BerthError(error?.code ?? "agent_failed", error?.message ?? "The agent has failed.");
}
