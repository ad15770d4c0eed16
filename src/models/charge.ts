import { setTimeout as sleep } from "node:timers/promises";
import type { TokenCounts } from "../billing/ledger.ts";
import type { ContextUse } from "../billing/usage.ts";
import type { Fault } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { tokensIn } from "./estimate.ts";
import type { Meter } from "./meter.ts";
import type { PreparedRequest } from "./preparation.ts";
import type { PricedModel, Prices } from "./prices.ts";
import { faultOf } from "./refusal.ts";

/** Credits held for one model call. */
export interface Payment {
  /** Holds more micro-credits. Throws `insufficient_credits`, `database_unavailable`. */
  extend(micro: number): Promise<void>;
  /** Ends the hold and pays for the actual usage, which may be 0. */
  settle(micro: number, tokens: TokenCounts): Promise<void>;
}

/** Pays for model calls. */
export interface Payer {
  /**
   * Holds micro-credits for a call to a model. `isOwn`: the workspace pays the provider itself, so the call costs no credits,
   * but counts for limits. Throws `insufficient_credits`, `database_unavailable`.
   */
  hold(model: string, micro: number, isOwn: boolean): Promise<Payment>;
  /** Whether the balance was recently many times this: the provider is then called while the credits are being held. */
  hasPlenty(micro: number): boolean;
}

/** For free calls: the throwaway turns of a template. */
export const nobody: Payer = {
  hold: async () => ({ extend: async () => {}, settle: async () => {} }),
  hasPlenty: () => false,
};

/**
 * Receives each increment of a call's usage; `microCredits` is its price, null when unknown. `context` is the call's whole use
 * of the model's context so far.
 */
export type Tell = (tokens: TokenCounts, microCredits: number | null, context: ContextUse) => void;

/** How many tokens beyond the received part of a streamed answer are held for. */
const tokensAhead = 1_024;
/** A head start for the request to the provider before the credits are held. */
const aheadMs = 2;
/** Pause between attempts to hold credits while the database is unavailable. */
const databaseRetryMs = 500;

/**
 * The cost of one model call. Credits are held for the request and the start of the answer, and more as the answer
 * grows; the actual usage is paid at the end. An incomplete answer, or one without token counts, is charged by its
 * received part.
 */
export class Charge {
  readonly #prices: Prices;
  readonly #model: PricedModel;
  readonly #isOwn: boolean;
  readonly #payment: Promise<Payment>;
  readonly #refused = new AbortController();
  readonly #tell: Tell;
  /** Estimated tokens of the request. */
  readonly #input: number;
  /** Answer tokens that credits are held for. */
  #covered: number;
  #reported: TokenCounts = {};
  #reportedMicro = 0;
  readonly #contextLimit: number | null;

  private constructor(asked: ChargedCall, payment: Promise<Payment>, input: number, covered: number) {
    this.#prices = asked.prices;
    this.#model = asked.model;
    this.#isOwn = asked.isOwn;
    this.#tell = asked.tell;
    this.#payment = payment;
    payment.catch((error: unknown) => this.#refused.abort(error));
    this.#input = input;
    this.#contextLimit = asked.prices.contextOf(asked.model);
    this.#covered = covered;
  }

  /**
   * Holds credits for a call. Returns null for a model without a price, unless unpriced models are allowed. If the
   * payer has plenty, this resolves before the credits are held (see `held`). While the database is unavailable it
   * retries until `signal` is aborted. Throws `insufficient_credits`, or the reason of `signal`.
   */
  static async open(call: ChargedCall, signal: AbortSignal): Promise<Charge | null> {
    const { request, prices, model, payer, isOwn } = call;
    const { inputTokens: input, maximumOutput: most } = request;
    // An answer that is not streamed cannot be cut off midway.
    const covered = request.streamed ? Math.min(most, tokensAhead) : most;
    const micro = prices.priceOf(model, { input, output: covered });
    if (micro === null && !prices.allowUnpriced && !isOwn) return null;
    const hasPlenty = !isOwn && payer.hasPlenty(micro ?? 0);
    const hold = () => whenDatabaseAnswers(() => payer.hold(model.id, micro ?? 0, isOwn), signal);
    // The request to the provider leaves first.
    const payment = hasPlenty ? sleep(aheadMs, undefined, { signal }).then(hold) : hold();
    const charge = new Charge(call, payment, input, covered);
    if (!hasPlenty) await payment;
    return charge;
  }

  /** Resolves when the credits are held; no part of the answer is forwarded before. Throws as `open` does. */
  async held(): Promise<void> {
    await this.#payment;
  }

  /** Aborted when the credits cannot be held, with the error that `held` throws. */
  get refused(): AbortSignal {
    return this.#refused.signal;
  }

  /** The usage so far, and its price in micro-credits, 0 when unknown. */
  get used(): { tokens: TokenCounts; microCredits: number } {
    return { tokens: this.#reported, microCredits: this.#reportedMicro };
  }

  /** Reports the increment of the provider's counts since the last call. */
  count({ tokens }: Meter): void {
    if (tokens) this.#add(tokens);
  }

  /** Holds credits for the received part of a streamed answer. Returns why that failed, or null. */
  async cover({ written }: Meter): Promise<Fault | null> {
    while (tokensIn(written) > this.#covered) {
      try {
        const payment = await this.#payment;
        await payment.extend(this.#prices.priceOf(this.#model, { output: tokensAhead }) ?? 0);
      } catch (error) {
        if (isShort(error)) return faultOf(error);
        // The answer continues while the database is unavailable; its cost is recorded at the end.
        if (!isAway(error)) throw error;
      }
      this.#covered += tokensAhead;
    }
    return null;
  }

  /** Pays for the call. `meter` is null if no part of the answer was received. */
  async settle(meter: Meter | null): Promise<void> {
    const payment = await this.#payment.catch(() => null);
    if (!payment) return; // Nothing was forwarded.
    if (meter?.begun) this.#add(this.#counted(meter));
    await payment.settle(this.#reportedMicro, this.#reported);
  }

  /** The provider's counts; estimates from the received text where they are missing or not final. */
  #counted({ tokens, written, ended }: Meter): TokenCounts {
    const output = tokens?.output ?? 0;
    return {
      ...tokens,
      input: tokens?.input ?? this.#input,
      output: ended && tokens?.output !== undefined ? output : Math.max(output, tokensIn(written)),
    };
  }

  /** An answer's counts are growing totals; only the increments are reported. */
  #add(totals: TokenCounts): void {
    const added: TokenCounts = {};
    const next = { ...this.#reported };
    for (const [name, total] of Object.entries(totals) as [keyof TokenCounts, number][]) {
      const before = this.#reported[name] ?? 0;
      next[name] = Math.max(before, total);
      added[name] = next[name] - before;
    }
    if (Object.values(added).every((value) => value === 0)) return;
    const cost = this.#prices.priceOf(this.#model, next);
    const { input = 0, output = 0 } = next;
    const context = { contextTokens: input + output, contextLimit: this.#contextLimit };
    this.#tell(added, this.#isOwn ? 0 : cost === null ? null : cost - this.#reportedMicro, context);
    this.#reported = next;
    this.#reportedMicro = cost ?? this.#reportedMicro;
  }
}

/** The call that a charge is for. */
interface ChargedCall {
  request: PreparedRequest;
  model: PricedModel;
  isOwn: boolean;
  prices: Prices;
  payer: Payer;
  tell: Tell;
}

/** Whether the error means too few credits, and not a failure. */
export function isShort(error: unknown): error is BerthError {
  return error instanceof BerthError && error.code === "insufficient_credits";
}

function isAway(error: unknown): boolean {
  return error instanceof BerthError && error.code === "database_unavailable";
}

async function whenDatabaseAnswers<T>(step: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!isAway(error)) throw error;
      await sleep(databaseRetryMs, undefined, { signal });
    }
  }
}
