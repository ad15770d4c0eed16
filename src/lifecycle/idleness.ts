import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";

/** How far in the future an activity may be: databases on other hosts have clocks of their own. */
const clockToleranceMs = 60_000;
/** Maximum idle agents checked per sweep. */
const sweepLimit = 100;
/** Maximum eviction candidates per pass. An agent that turned out to be needed is skipped for a while. */
const evictionCandidates = 5;
const neededMs = 15_000;

/** Finds idle agents and starts to suspend them: after the idle timeout, or at once to release a slot. */
export class Idleness {
  readonly #context: AppContext;
  readonly #open = new Map<string, number>();
  /** When each needed agent may be an eviction candidate again, on the clock of `performance.now`. */
  readonly #needed = new Map<string, number>();
  /** Agents that are being suspended to release a slot. */
  readonly #evicting = new Set<string>();

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** Keeps the agent from counting as idle until disposed. */
  keepOpen(id: string): Disposable {
    this.#open.set(id, (this.#open.get(id) ?? 0) + 1);
    return {
      [Symbol.dispose]: () => {
        const left = this.#open.get(id)! - 1;
        if (left > 0) return void this.#open.set(id, left);
        this.#open.delete(id);
        // It may have been chosen for eviction a moment before.
        this.#needed.delete(id);
        // The idle time counts from here. If the row cannot be written, it counts from an earlier use.
        this.#context.stores.lifecycle.touch(id).catch(() => {});
        this.#context.slots.retry();
      },
    };
  }

  /** Called by the timer: suspends the agent if it was idle long enough, else schedules the next check. */
  async check(id: string): Promise<void> {
    const { stores, config, reconciler } = this.#context;
    const agent = await stores.agents.byId(id);
    if (agent?.desired !== "running" || agent.status !== "ready" || reconciler.stopped.aborted || config.idleMs === 0)
      return;
    const since = Date.now() - agent.lastActiveAt.getTime();
    const isDue = since >= config.idleMs;
    if (isDue && (await this.#suspend(agent, new Date(Date.now() - config.idleMs)))) return;
    // Counts from now: a busy agent must not stay first in line and keep the sweep from all others, and after the
    // host's clock was set back, an agent would stay awake until the old time is reached again.
    if (isDue || since < -clockToleranceMs) await stores.lifecycle.touch(id);
    this.scheduleCheck(id, since < 0 || isDue ? config.idleMs : config.idleMs - since);
  }

  /** Schedules a check for when the agent may have been idle long enough. */
  scheduleCheck(id: string, ms = this.#context.config.idleMs): void {
    const { timers, config, log } = this.#context;
    if (config.idleMs === 0) return;
    // If the timer cannot be set, the sweep finds the agent.
    timers
      .idleCheck(id, Math.max(1, Math.ceil(ms / 1000)))
      .catch((error: unknown) => log("an agent's idle check could not be set", { agentId: id, error }));
  }

  /** Called by the timer: checks agents whose own check is long overdue. */
  async sweep(): Promise<void> {
    const { stores, config } = this.#context;
    if (config.idleMs === 0) return;
    for (const { id, lastActiveAt } of await stores.lifecycle.idle(null, sweepLimit)) {
      const since = Date.now() - lastActiveAt.getTime();
      if (since > 2 * config.idleMs || since < -clockToleranceMs) await this.check(id);
    }
  }

  /** Suspends all unused agents, however short they have been idle. */
  async suspendUnneeded(): Promise<void> {
    for (const agent of await this.#context.stores.lifecycle.idle(null, sweepLimit))
      await this.#suspend(agent, agent.lastActiveAt);
  }

  /** Called by the slots: evicts the machine that has been idle longest, of that account or of any. */
  async evictIdle(accountId: string | null): Promise<boolean> {
    // Enough evictions are already running.
    if (this.#evicting.size >= this.#context.slots.waiting) return true;
    let asked = 0;
    for (const agent of await this.#context.stores.lifecycle.idle(accountId, sweepLimit)) {
      if ((this.#needed.get(agent.id) ?? 0) > performance.now()) continue;
      this.#needed.delete(agent.id);
      if (await this.#suspend(agent, agent.lastActiveAt)) {
        this.#evicting.add(agent.id);
        return true;
      }
      this.#needed.set(agent.id, performance.now() + neededMs);
      if (++asked >= evictionCandidates) return false;
    }
    return false;
  }

  /** Call when the agent's eviction has ended, or the agent is to run again. */
  endEviction(id: string): void {
    this.#evicting.delete(id);
  }

  forget(id: string): void {
    this.#needed.delete(id);
  }

  /** Starts to suspend an agent that was not active after `idleSince`. False if it is needed. */
  async #suspend({ id }: AgentState, idleSince: Date): Promise<boolean> {
    const { stores, machines, egress, hungGuests, reconciler, running } = this.#context;
    const isNeeded = () =>
      this.#open.has(id) || reconciler.isAtWork(id) || egress.moves(id) || running.ofAgent(id)?.isCallingModel === true;
    if (isNeeded()) return false;
    // This takes a second, in which a request may arrive.
    let isBusy = true;
    try {
      isBusy = (await (await machines.guest(id)).activity({})).busy;
    } catch {
      void hungGuests.suspect(id);
    }
    if (isBusy || isNeeded()) return false;
    const agent = await stores.lifecycle.beginSuspension(id, idleSince);
    if (agent) void reconciler.reconcile(agent);
    return agent !== null;
  }
}
