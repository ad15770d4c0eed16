import type { AgentState } from "../agents/agent.ts";
import type { AgentRows } from "./agent-rows.ts";

/** Alarms that outlive the server. */
export interface AgentTimers {
  /** Calls `Idleness.look` for the agent after this many seconds. At most one check waits per agent. */
  idleCheck(agentId: string, afterSeconds: number): Promise<void>;
}

interface IdlenessOptions {
  rows: Pick<AgentRows, "byId" | "idle" | "beginSuspension" | "touch">;
  timers: AgentTimers;
  /** Suspend an agent after this many idle milliseconds; 0: never. */
  idleMs: number;
  /** How many machines wait for a slot. */
  waiting: () => number;
  /** Whether a process of the agent is busy. Takes a second. */
  activity: (id: string) => Promise<boolean>;
  /** Called when the agent's guest did not say whether a process is busy. */
  unanswered: (id: string) => void;
  /** Whether other work is in progress for the agent: a lifecycle step, or incoming bytes from the internet. */
  isAtWork: (id: string) => boolean;
  /** Called when the last use of an agent has ended, which may make room for another. */
  released: () => void;
  /** Continues a suspension that has begun. */
  suspend: (agent: AgentState) => void;
  /** Aborted when the service stops. */
  stopped: AbortSignal;
  log: (message: string, fields: Record<string, unknown>) => void;
}

/** How far in the future an activity may be: databases on other hosts have clocks of their own. */
const clockToleranceMs = 60_000;
/** Maximum idle agents checked per sweep. */
const sweepLimit = 100;
/** Maximum eviction candidates per pass. An agent that turned out to be needed is skipped for a while. */
const evictionCandidates = 5;
const neededMs = 15_000;

/** Finds idle agents and begins to suspend them: after the idle timeout, or at once to free a slot. */
export class Idleness {
  readonly #options: IdlenessOptions;
  /** The number of open uses per agent. An agent in use is not idle. */
  readonly #open = new Map<string, number>();
  /** When each needed agent may be an eviction candidate again, in milliseconds as `performance.now` has it. */
  readonly #needed = new Map<string, number>();
  /** Agents being evicted. */
  readonly #makingRoom = new Set<string>();

  constructor(options: IdlenessOptions) {
    this.#options = options;
  }

  /** Keeps the agent from counting as idle until disposed. */
  keepOpen(id: string): Disposable {
    this.#open.set(id, (this.#open.get(id) ?? 0) + 1);
    return {
      [Symbol.dispose]: () => {
        const left = this.#open.get(id)! - 1;
        if (left > 0) return void this.#open.set(id, left);
        this.#open.delete(id);
        // It may have been asked to make room in the moment before.
        this.#needed.delete(id);
        // The idle time counts from here. If the row cannot be written, it counts from an earlier use.
        this.#options.rows.touch(id).catch(() => {});
        this.#options.released();
      },
    };
  }

  /** Called by the timer: suspends the agent if it was idle long enough, else checks again later. */
  async look(id: string): Promise<void> {
    const { rows, idleMs, stopped } = this.#options;
    const agent = await rows.byId(id);
    if (agent?.desired !== "running" || agent.status !== "ready" || stopped.aborted || idleMs === 0) return;
    const since = Date.now() - agent.lastActiveAt.getTime();
    const isDue = since >= idleMs;
    if (isDue && (await this.#suspend(agent, new Date(Date.now() - idleMs)))) return;
    // Counted from now: a busy agent must not stay first in line and keep the sweep from all others, and after the
    // host's clock was set back, an agent would be kept awake until the old time comes again.
    if (isDue || since < -clockToleranceMs) await rows.touch(id);
    this.lookLater(id, since < 0 || isDue ? idleMs : idleMs - since);
  }

  /** Schedules a check for when the agent may have been idle long enough. */
  lookLater(id: string, ms = this.#options.idleMs): void {
    const { timers, idleMs, log } = this.#options;
    if (idleMs === 0) return;
    // If the timer cannot be set, the sweep finds the agent.
    timers
      .idleCheck(id, Math.max(1, Math.ceil(ms / 1000)))
      .catch((error: unknown) => log("an agent's idle check could not be set", { agentId: id, error }));
  }

  /** Called by the timer: checks agents whose own check is long overdue. */
  async sweep(): Promise<void> {
    const { rows, idleMs } = this.#options;
    if (idleMs === 0) return;
    for (const { id, lastActiveAt } of await rows.idle(null, sweepLimit)) {
      const since = Date.now() - lastActiveAt.getTime();
      if (since > 2 * idleMs || since < -clockToleranceMs) await this.look(id);
    }
  }

  /** Suspends the agents that nobody needs now, however short they have been idle. */
  async suspendUnneeded(): Promise<void> {
    for (const agent of await this.#options.rows.idle(null, sweepLimit)) await this.#suspend(agent, agent.lastActiveAt);
  }

  /** Called by the slots: evicts the machine that has been idle longest, of that account or of any. */
  async evictIdle(accountId: string | null): Promise<boolean> {
    // Enough evictions are already under way.
    if (this.#makingRoom.size >= this.#options.waiting()) return true;
    let asked = 0;
    for (const agent of await this.#options.rows.idle(accountId, sweepLimit)) {
      if ((this.#needed.get(agent.id) ?? 0) > performance.now()) continue;
      this.#needed.delete(agent.id);
      if (await this.#suspend(agent, agent.lastActiveAt)) {
        this.#makingRoom.add(agent.id);
        return true;
      }
      this.#needed.set(agent.id, performance.now() + neededMs);
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
    const { rows, activity, unanswered, isAtWork, suspend } = this.#options;
    const isNeeded = () => this.#open.has(id) || isAtWork(id);
    if (isNeeded()) return false;
    // It takes a second, in which somebody may come.
    const isBusy = await activity(id).catch(() => {
      unanswered(id);
      return true;
    });
    if (isBusy || isNeeded()) return false;
    const agent = await rows.beginSuspension(id, idleSince);
    if (agent) suspend(agent);
    return agent !== null;
  }
}
