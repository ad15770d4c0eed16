import type { AppContext } from "../context.ts";
import { Backoff, pause } from "../core/retry.ts";
import type { Waits } from "./due-store.ts";
import { EarlyWakes, earlyMs, maximumEarly } from "./early-wakes.ts";
import { RunningRuns } from "./running-runs.ts";

/** The shortest sleep: a time that has come may be locked by a change. */
const shortestMs = 5;
/** The longest sleep: after it, a host's clock that was set is noticed. */
const longestMs = 60_000;
/** The same where other servers change automations, too. */
const longestSharedMs = 1_000;
const leastRetryMs = 500;
const mostRetryMs = 30_000;
/** How many agents of runs are deleted at a time. */
const deletionBatch = 10;

/**
 * Runs the automations of this host's agents. It sleeps until the next time, and is woken by changes. All its knowledge is in
 * the database: a server that starts continues what another one left.
 */
export class Scheduler {
  readonly #context: AppContext;
  readonly #early: EarlyWakes;
  readonly #runs: RunningRuns;
  readonly #stopped = new AbortController();
  #wakes = new AbortController();
  #work: Promise<void> = Promise.resolve();
  #deletion: Promise<void> | null = null;

  constructor(context: AppContext) {
    this.#context = context;
    this.#early = new EarlyWakes(context);
    this.#runs = new RunningRuns(context, this.#early);
  }

  begin(): void {
    this.#work = this.#run();
  }

  /** Looks again at once. */
  wake(): void {
    this.#wakes.abort();
  }

  /** Computes times again that were computed with a wrong clock. Called periodically. */
  async sweep(): Promise<void> {
    await this.#context.stores.due.correct();
    this.wake();
  }

  /** Runs continue in their machines. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.wake();
    this.#early.stop();
    await Promise.all([this.#work, this.#runs.stop(), this.#deletion]);
  }

  async #run(): Promise<void> {
    const backoff = new Backoff(leastRetryMs, mostRetryMs);
    while (!this.#stopped.signal.aborted) {
      this.#wakes = new AbortController();
      const { signal } = this.#wakes;
      let waitMs: number;
      try {
        waitMs = await this.#look();
        backoff.reset();
      } catch (error) {
        if (this.#stopped.signal.aborted) return;
        this.#context.log("the automations could not be read; it is tried again", { error });
        waitMs = backoff.next();
      }
      if (!this.#stopped.signal.aborted) await pause(waitMs, signal);
    }
  }

  /** Does what is due. Returns the time until something else is, in milliseconds. */
  async #look(): Promise<number> {
    const { due } = this.#context.stores;
    while (await this.#isDue()) {
      const planned = await due.plan();
      this.#context.metrics.runEnded("skipped", planned.skipped);
      if (planned.due === 0) break;
    }
    await this.#runs.takeUp();
    await this.#deleteAgents();
    for (const wake of await due.early(earlyMs, maximumEarly)) this.#early.begin(wake);
    return this.#waitFor(await due.waits(earlyMs));
  }

  /** A look at which nothing is due needs no transaction. */
  async #isDue(): Promise<boolean> {
    if (this.#stopped.signal.aborted) return false;
    const { run } = await this.#context.stores.due.waits(earlyMs);
    return run !== null && run <= 0;
  }

  #waitFor({ run, laterRun, agentDeletion }: Waits): number {
    const longest = this.#context.leadership === null ? longestMs : longestSharedMs;
    // The end of a deletion wakes the scheduler.
    const times = [run, laterRun && laterRun - earlyMs, this.#deletion ? null : agentDeletion];
    return Math.max(shortestMs, Math.min(longest, ...times.filter((ms) => ms !== null)));
  }

  /** Begins to delete the agents of runs whose time to be kept has passed, unless others are being deleted. */
  async #deleteAgents(): Promise<void> {
    if (this.#deletion) return;
    const ids = await this.#context.stores.runs.agentsToDelete(deletionBatch);
    if (ids.length === 0 || this.#stopped.signal.aborted) return;
    this.#deletion = this.#delete(ids).finally(() => {
      this.#deletion = null;
      this.wake();
    });
  }

  async #delete(ids: readonly string[]): Promise<void> {
    const { stores, agents, log } = this.#context;
    try {
      for (const id of ids) {
        if (this.#stopped.signal.aborted) return;
        const agent = await stores.agents.byId(id);
        if (agent) await agents.delete(agent);
        await stores.runs.agentDeleted(id);
      }
      await stores.automations.purge();
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      log("the agent of an automation's run could not be deleted; trying again", { error });
      await pause(mostRetryMs, this.#stopped.signal);
    }
  }
}
