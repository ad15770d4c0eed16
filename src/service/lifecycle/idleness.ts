import type { AgentState } from "../agent.ts";
import type { AgentRows } from "./agent-rows.ts";

/** Alarms that outlive the server. */
export interface AgentTimers {
  /** Has `Idleness.look` called for the agent after so many seconds; at most one waits per agent. */
  idleCheck(agentId: string, afterSeconds: number): Promise<void>;
}

interface IdlenessOptions {
  rows: Pick<AgentRows, "byId" | "idle" | "beginSuspension">;
  timers: AgentTimers;
  /** An agent that nobody needed for so long is suspended; 0: never. */
  idleMs: number;
  /** How many wait for a place of a machine. */
  waiting: () => number;
  /** Whether something that the agent has started computes. It takes a second. */
  activity: (id: string) => Promise<boolean>;
  /** Whether something else goes on for it: a step of its life, bytes from the web that are on their way to it. */
  isAtWork: (id: string) => boolean;
  /** Goes on with a suspension that has begun. */
  suspend: (agent: AgentState) => void;
  /** Aborted when the service is being stopped. */
  stopped: AbortSignal;
  log: (message: string, fields: Record<string, unknown>) => void;
}

/** How many idle agents are looked at in one go. */
const sweepLimit = 100;
/** How many of them are asked to make room in one go; whoever was needed is not asked again for a while. */
const evictionCandidates = 5;
const neededMs = 15_000;

/** Sees which agents nobody needs, and begins to suspend them: after a while, or at once to make room for others. */
export class Idleness {
  readonly #options: IdlenessOptions;
  /** How many have each agent open: it is not idle then. */
  readonly #open = new Map<string, number>();
  /** Until when an agent that was asked to make room is not asked again, in milliseconds since 1970. */
  readonly #needed = new Map<string, number>();
  /** Those that are being suspended to make room. */
  readonly #makingRoom = new Set<string>();

  constructor(options: IdlenessOptions) {
    this.#options = options;
  }

  /** Keeps the agent from being taken for idle until it is disposed. */
  keepOpen(id: string): Disposable {
    this.#open.set(id, (this.#open.get(id) ?? 0) + 1);
    return {
      [Symbol.dispose]: () => {
        const left = this.#open.get(id)! - 1;
        if (left > 0) this.#open.set(id, left);
        else this.#open.delete(id);
      },
    };
  }

  /** For the timer: suspends an agent that nobody has needed for long enough, or looks again later. */
  async look(id: string): Promise<void> {
    const { rows, idleMs, stopped } = this.#options;
    const agent = await rows.byId(id);
    if (agent?.desired !== "running" || agent.status !== "ready" || stopped.aborted || idleMs === 0) return;
    const since = Date.now() - agent.lastActiveAt.getTime();
    const suspended = since >= idleMs && (await this.#suspend(agent, new Date(Date.now() - idleMs)));
    if (!suspended) this.lookLater(id, since >= idleMs ? idleMs : idleMs - since);
  }

  /** Has the agent looked at when it may have been idle for long enough. */
  lookLater(id: string, ms = this.#options.idleMs): void {
    const { timers, idleMs, log } = this.#options;
    if (idleMs === 0) return;
    // Where the alarm cannot be set, the sweep finds the agent.
    timers
      .idleCheck(id, Math.max(1, Math.ceil(ms / 1000)))
      .catch((error: unknown) => log("an agent's idle check could not be set", { agentId: id, error }));
  }

  /** For the timer: looks at those whose alarm should have rung long ago. */
  async sweep(): Promise<void> {
    const { rows, idleMs } = this.#options;
    if (idleMs === 0) return;
    for (const { id, lastActiveAt } of await rows.idle(null, sweepLimit)) {
      if (Date.now() - lastActiveAt.getTime() > 2 * idleMs) await this.look(id);
    }
  }

  /** For the slots: suspends the machine that has been idle longest, of that account or of any. */
  async evictIdle(accountId: string | null): Promise<boolean> {
    // As many as wait are on their way already.
    if (this.#makingRoom.size >= this.#options.waiting()) return true;
    let asked = 0;
    for (const agent of await this.#options.rows.idle(accountId, sweepLimit)) {
      if ((this.#needed.get(agent.id) ?? 0) > Date.now()) continue;
      this.#needed.delete(agent.id);
      if (await this.#suspend(agent, agent.lastActiveAt)) {
        this.#makingRoom.add(agent.id);
        return true;
      }
      this.#needed.set(agent.id, Date.now() + neededMs);
      if (++asked >= evictionCandidates) return false;
    }
    return false;
  }

  /** What was going on for the agent has come to its end. */
  settled(id: string): void {
    this.#makingRoom.delete(id);
  }

  /** The agent is gone. */
  forget(id: string): void {
    this.#needed.delete(id);
  }

  /** Begins to suspend an agent that was not active after `idleSince`. False when it is needed. */
  async #suspend({ id }: AgentState, idleSince: Date): Promise<boolean> {
    const { rows, activity, isAtWork, suspend } = this.#options;
    const isNeeded = () => this.#open.has(id) || isAtWork(id);
    if (isNeeded()) return false;
    // One that cannot be asked is not taken for idle. It takes a second, in which somebody may come.
    if ((await activity(id).catch(() => true)) || isNeeded()) return false;
    const agent = await rows.beginSuspension(id, idleSince);
    if (agent) suspend(agent);
    return agent !== null;
  }
}
