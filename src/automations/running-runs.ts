import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import type { RunReason } from "../contract/automations.ts";
import { asBerthError, BerthError, type ErrorCode } from "../contract/errors.ts";
import { Backoff, pause, retryTransient } from "../core/retry.ts";
import type { TurnState } from "../turns/turn.ts";
import { AutomationTurns } from "./automation-turns.ts";
import type { EarlyWakes } from "./early-wakes.ts";
import type { OpenRun, RunEnd } from "./run-store.ts";

/** How many runs a server carries at once. Further ones wait in the database. */
const maximumRuns = 1_000;
/** How many of an account's begin at a time, in the order in which they are due. */
const maximumBeginning = 8;
const leastRetryMs = 250;
const mostRetryMs = 10_000;
/** The longest that a timer can wait. */
const longestTimerMs = 2 ** 31 - 1;

/** Refusals that pass: the run waits until its timeout. */
const passing: ReadonlySet<ErrorCode> = new Set(["no_capacity", "database_unavailable", "disk_full", "queue_full"]);

type Cause = "timeout" | "replaced";

/** A run that this server carries. */
interface Carried {
  run: OpenRun;
  /** Aborts with a cause when the run is to be cancelled. */
  ending: AbortController;
  /** The refusal that it waits for to pass; null: none. */
  refusal: BerthError | null;
}

/** Carries runs from their beginning to their end. A run's turn has the run's id, so that it begins once. */
export class RunningRuns {
  readonly #context: AppContext;
  readonly #early: EarlyWakes;
  readonly #turns: AutomationTurns;
  readonly #carried = new Map<string, Carried>();
  readonly #work = new Set<Promise<void>>();
  /** By account: how many begin, and those that wait for it. */
  readonly #beginning = new Map<string, { count: number; waiting: (() => void)[] }>();
  readonly #stopped = new AbortController();

  constructor(context: AppContext, early: EarlyWakes) {
    this.#context = context;
    this.#early = early;
    this.#turns = new AutomationTurns(context);
  }

  /** Begins the runs that can begin, and cancels those that are to be cancelled. */
  async takeUp(): Promise<void> {
    for (const run of await this.#context.stores.runs.open([...this.#carried.keys()], maximumRuns)) {
      const carried = this.#carried.get(run.id);
      if (carried) carried.ending.abort("replaced" satisfies Cause);
      else if (this.#carried.size < maximumRuns && !this.#stopped.signal.aborted) this.#carry(run);
    }
  }

  /** Resolves when nothing is written any more. The next server takes up the runs. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    for (const { ending } of this.#carried.values()) ending.abort();
    for (const { waiting } of this.#beginning.values()) for (const next of waiting.splice(0)) next();
    await Promise.all(this.#work);
  }

  #carry(run: OpenRun): void {
    const carried: Carried = { run, ending: new AbortController(), refusal: null };
    this.#carried.set(run.id, carried);
    if (run.replaced) carried.ending.abort("replaced" satisfies Cause);
    const work = this.#carryToEnd(carried).finally(() => {
      this.#work.delete(work);
      this.#carried.delete(run.id);
      this.#early.end(run.automationId);
      if (!this.#stopped.signal.aborted) this.#context.scheduler.wake();
    });
    this.#work.add(work);
  }

  async #carryToEnd(carried: Carried): Promise<void> {
    const { run, ending } = carried;
    const { stores, log, metrics } = this.#context;
    const timer = setTimeout(
      () => ending.abort("timeout" satisfies Cause),
      Math.min(Math.max(0, run.leftMs), longestTimerMs),
    );
    try {
      const end = await this.#endOf(carried);
      if (end === null) return;
      await retryTransient(
        () => stores.runs.end(run.id, end),
        this.#stopped.signal,
        (error) => log("an automation's run could not be stored; trying again", { runId: run.id, error }),
      );
      metrics.runEnded(end.status);
      this.#context.logger.info({ runId: run.id, automation: run.name, status: end.status }, "automation run ended");
      await stores.automations.purge();
    } catch (error) {
      if (!this.#stopped.signal.aborted) log("an automation's run was not stored", { runId: run.id, error });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Null: the server stops, and the next one takes up the run. */
  async #endOf(carried: Carried): Promise<RunEnd | null> {
    try {
      const begun = await this.#begin(carried);
      if (this.#stopped.signal.aborted) return null;
      return begun ? await this.#follow(carried, begun) : ended(carried);
    } catch (error) {
      if (this.#stopped.signal.aborted) return null;
      const { code, message } = asBerthError(error, "internal", "The run failed within the service.");
      if (code === "internal") this.#context.log("an automation's run failed", { runId: carried.run.id, error });
      return failed({ code, message });
    }
  }

  /** Begins the run's turn, or finds it. Null: it is to be cancelled before. */
  async #begin(carried: Carried): Promise<{ agent: AgentState; turn: TurnState } | null> {
    const { run, ending } = carried;
    for (const backoff = new Backoff(leastRetryMs, mostRetryMs); ; await pause(backoff.next(), ending.signal)) {
      await this.#enter(run.accountId);
      try {
        const found = await this.#turns.begun(run);
        if (found) return found;
        if (ending.signal.aborted) return null;
        return await this.#turns.begin(run, ending.signal);
      } catch (error) {
        if (!(error instanceof BerthError) || !passing.has(error.code)) throw error;
        carried.refusal = error;
      } finally {
        this.#leave(run.accountId);
      }
      if (this.#stopped.signal.aborted) return null;
    }
  }

  /** Waits until the account may begin another run, in the order of the calls. */
  async #enter(accountId: string): Promise<void> {
    const beginning = this.#beginning.get(accountId) ?? { count: 0, waiting: [] };
    this.#beginning.set(accountId, beginning);
    if (beginning.count >= maximumBeginning && !this.#stopped.signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      beginning.waiting.push(resolve);
      await promise;
    } else beginning.count++;
  }

  #leave(accountId: string): void {
    const beginning = this.#beginning.get(accountId)!;
    const next = beginning.waiting.shift();
    if (next) next();
    else if (--beginning.count === 0) this.#beginning.delete(accountId);
  }

  async #follow(carried: Carried, { agent, turn }: { agent: AgentState; turn: TurnState }): Promise<RunEnd | null> {
    const { ending } = carried;
    const cancel = () => void this.#turns.cancel(agent, turn, this.#stopped.signal);
    if (ending.signal.aborted) cancel();
    else ending.signal.addEventListener("abort", cancel);
    const past = await this.#turns.untilEnded(turn, this.#stopped.signal);
    if (past === null) return null;
    const { reply, replyTruncated, status, error, usage } = past;
    const end = { reply, replyTruncated, microCredits: usage.microCredits };
    if (status === "completed") return { ...end, status, reason: null };
    if (status === "failed") return { ...end, status, reason: reasonOf(error) };
    return { ...ended(carried), ...end };
  }
}

/** The end of a run that was cancelled. */
function ended({ run, ending, refusal }: Carried): RunEnd {
  const cause: unknown = ending.signal.reason;
  if (cause === ("replaced" satisfies Cause))
    return cancelled("replaced", "A later run replaced it, or its automation was deleted.");
  if (cause !== ("timeout" satisfies Cause)) return cancelled("cancelled", "Its turn was cancelled.");
  const waited = refusal === null ? "" : ` It waited: ${refusal.message}`;
  return failed({
    code: "timeout",
    message: `The run had not ended within its timeout of ${run.timeoutMinutes} min.${waited}`,
  });
}

function cancelled(status: "replaced" | "cancelled", message: string): RunEnd {
  return { ...nothing, status, reason: { code: status, message } };
}

function failed(reason: RunReason): RunEnd {
  return { ...nothing, status: "failed", reason };
}

function reasonOf(error: { code: string; message: string } | null): RunReason {
  return error ? { code: error.code, message: error.message } : { code: "internal", message: "The turn failed." };
}

const nothing = { reply: "", replyTruncated: false, microCredits: 0 };
