import type { AppContext } from "../context.ts";
import { LookLoop } from "../core/look-loop.ts";
import type { RunningTurn } from "../turns/running-turn.ts";

/** How long a client has to answer a function while a message of its own waits. */
const graceMs = 10_000;
const lookEveryMs = 1_000;

/**
 * Cancels turns that wait for a function of their client while the same key's or person's message waits behind them: the
 * client has moved on, and the queue would stand still for half an hour.
 */
export class UnansweredFunctions {
  readonly #context: AppContext;
  /** The calls that are not answered, by their turn, and since when. */
  #seen = new Map<RunningTurn, { seq: number; since: number }>();
  readonly #loop: LookLoop;

  constructor(context: AppContext) {
    this.#context = context;
    this.#loop = new LookLoop(
      lookEveryMs,
      () => this.#look(),
      (error) => context.log("the turns that wait for a function could not be checked; it is tried again", { error }),
    );
  }

  begin(): void {
    this.#loop.begin();
  }

  /** Resolves when the last look has ended. */
  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #look(): Promise<void> {
    const { running, stores } = this.#context;
    const seen = this.#seen;
    this.#seen = new Map();
    for (const turn of running) {
      const { functionCall: call } = turn;
      // Any event after the call means that it was answered.
      if (!call || call.callId === turn.answeredCall || turn.nextSeq > call.seq + 1) continue;
      const before = seen.get(turn);
      const since = before?.seq === call.seq ? before.since : performance.now();
      this.#seen.set(turn, { seq: call.seq, since });
    }
    for (const [turn, { seq, since }] of [...this.#seen]) {
      if (performance.now() - since < graceMs) continue;
      const isBlocking = await stores.queues.hasOf(turn.turn.agentId, turn.turn);
      if (this.#loop.stopped.aborted) return;
      if (!isBlocking || turn.nextSeq > seq + 1) continue;
      turn.holdsQueue = false;
      turn.cancel();
    }
  }
}
