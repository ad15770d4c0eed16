import { setTimeout as sleep } from "node:timers/promises";
import type { Fault } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import type { TokenCounts } from "../service/ledger.ts";
import { tokensIn } from "./estimate.ts";
import type { Meter } from "./meter.ts";
import type { PreparedRequest } from "./preparation.ts";
import type { Prices } from "./prices.ts";

/** Credits that are held for one model call. */
export interface Payment {
  /** Holds so many micro-credits more. Throws `insufficient_credits`, `database_unavailable`. */
  extend(micro: number): Promise<void>;
  /** Ends the hold and pays what was used; nothing where that is 0. */
  settle(micro: number, tokens: TokenCounts): Promise<void>;
}

/** Who pays for calls. */
export interface Payer {
  /** Holds micro-credits for a call to that model. Throws `insufficient_credits`, `database_unavailable`. */
  hold(model: string, micro: number): Promise<Payment>;
  /** Whether there was many times that a moment ago: then the provider is asked while the credits are being held. */
  hasPlenty(micro: number): boolean;
}

/** Where nobody pays: the throwaway turns of a template. */
export const nobody: Payer = {
  hold: async () => ({ extend: async () => {}, settle: async () => {} }),
  hasPlenty: () => false,
};

/** Told what a call has used, each time what was added; `microCredits` is its price, null where it is not known. */
type Tell = (tokens: TokenCounts, microCredits: number | null) => void;

/** Of a streamed answer so many tokens are held ahead of what has come. */
const tokensAhead = 1_024;
/** For the provider's request to be on its way before the credits are asked for. */
const aheadMs = 2;
/** Between two tries to hold credits while the database is away. */
const databaseRetryMs = 500;

/**
 * What one model call costs: credits are held for its request and the beginning of its answer, more as the answer
 * grows, and what was used is paid at its end. An answer that is not whole, and one of a provider that does not
 * count, is paid by what has come of it.
 */
export class Charge {
  readonly #prices: Prices;
  readonly #model: string;
  readonly #payment: Promise<Payment>;
  readonly #refused = new AbortController();
  readonly #tell: Tell;
  /** Tokens of the request, as estimated. */
  readonly #input: number;
  /** Tokens of the answer that credits are held for. */
  #covered: number;
  #told: TokenCounts = {};
  #toldMicro = 0;

  private constructor(asked: ChargedCall, payment: Promise<Payment>, input: number, covered: number) {
    this.#prices = asked.prices;
    this.#model = asked.model;
    this.#tell = asked.tell;
    this.#payment = payment;
    payment.catch((error: unknown) => this.#refused.abort(error));
    this.#input = input;
    this.#covered = covered;
  }

  /**
   * Holds credits for a call; null for a model that has no price and may not be had for nothing. Where the payer has plenty
   * this resolves before they are held (`held`). A database that is away is waited for until `signal` is aborted. Throws
   * `insufficient_credits`, and what `signal` was aborted with.
   */
  static async open(call: ChargedCall, signal: AbortSignal): Promise<Charge | null> {
    const { request, prices, allowUnpriced, model, payer } = call;
    const { inputTokens: input, maximumOutput: most } = request;
    // What comes in one piece cannot be stopped on its way.
    const covered = request.streamed ? Math.min(most, tokensAhead) : most;
    const micro = prices.priceOf(model, { input, output: covered });
    if (micro === null && !allowUnpriced) return null;
    const hasPlenty = payer.hasPlenty(micro ?? 0);
    const hold = () => whenDatabaseAnswers(() => payer.hold(model, micro ?? 0), signal);
    // The provider's request leaves first.
    const payment = hasPlenty ? sleep(aheadMs, undefined, { signal }).then(hold) : hold();
    const charge = new Charge(call, payment, input, covered);
    if (!hasPlenty) await payment;
    return charge;
  }

  /** Resolves when the credits are held: nothing of an answer is passed on before. Throws as `open` does. */
  async held(): Promise<void> {
    await this.#payment;
  }

  /** Aborted, with what `held` throws, when the credits are not to be had. */
  get refused(): AbortSignal {
    return this.#refused.signal;
  }

  /** Tells what the provider has counted since the last time. */
  count({ tokens }: Meter): void {
    if (tokens) this.#add(tokens);
  }

  /** Has credits held for what has come of a streamed answer. Why they cannot be, or null. */
  async cover({ written }: Meter): Promise<Fault | null> {
    while (tokensIn(written) > this.#covered) {
      try {
        const payment = await this.#payment;
        await payment.extend(this.#prices.priceOf(this.#model, { output: tokensAhead }) ?? 0);
      } catch (error) {
        if (isShort(error)) return { code: error.code, message: error.message };
        // While the database is away an answer goes on: what it comes to is written down at its end.
        if (!isAway(error)) throw error;
      }
      this.#covered += tokensAhead;
    }
    return null;
  }

  /** Pays. `meter` is what has come of the answer; null where nothing has. */
  async settle(meter: Meter | null): Promise<void> {
    const payment = await this.#payment.catch(() => null);
    if (!payment) return; // Nothing was passed on.
    if (meter?.begun) this.#add(this.#used(meter));
    await payment.settle(this.#toldMicro, this.#told);
  }

  /** The provider's figures; of an answer that has none of them, or not the last, what was seen of it. */
  #used({ tokens, written, ended }: Meter): TokenCounts {
    const output = tokens?.output ?? 0;
    return {
      ...tokens,
      input: tokens?.input ?? this.#input,
      output: ended && tokens?.output !== undefined ? output : Math.max(output, tokensIn(written)),
    };
  }

  /** An answer's figures are totals that grow; what is told is what was added. */
  #add(totals: TokenCounts): void {
    const added: TokenCounts = {};
    const next = { ...this.#told };
    for (const [name, total] of Object.entries(totals) as [keyof TokenCounts, number][]) {
      const before = this.#told[name] ?? 0;
      next[name] = Math.max(before, total);
      added[name] = next[name] - before;
    }
    if (Object.values(added).every((value) => value === 0)) return;
    const cost = this.#prices.priceOf(this.#model, next);
    this.#tell(added, cost === null ? null : cost - this.#toldMicro);
    this.#told = next;
    this.#toldMicro = cost ?? this.#toldMicro;
  }
}

/** What a charge is made out for. */
interface ChargedCall {
  request: PreparedRequest;
  /** As prices know it. */
  model: string;
  prices: Prices;
  allowUnpriced: boolean;
  payer: Payer;
  tell: Tell;
}

/** Whether credits were refused, in contrast to anything that went wrong. */
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
