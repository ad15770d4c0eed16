import { BerthError } from "../contract/errors.ts";

/** Who pays for what an agent uses. `turnId` and `keyId` are null outside of a turn, or where a token began it. */
export interface Spender {
  accountId: string;
  agentId: string;
  /** Kept in the entries as text: the agent may be deleted, and its name be another's. */
  agentName: string;
  turnId: string | null;
  keyId: string | null;
}

/** Credits that are kept back for a model call which is not over. */
export interface Hold {
  readonly id: string;
  /** Micro-credits held. */
  amount: number;
  /** How many more could be held right after it was made, by the balance and the limits. */
  readonly left: number;
  readonly spender: Spender;
  readonly model: string;
}

/** What a provider said that a call has used; absent is not said. `input` is all input, from a cache or not. */
export interface TokenCounts {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  /** Of `cacheWrite`, what the cache keeps for an hour, which costs more. */
  cacheWriteHour?: number;
  reasoning?: number;
  /** Searches of the web that the provider has made itself. */
  webSearches?: number;
}

/** Why credits are refused: the account has none left, or a limit of the account or of the key is used up. */
export type ShortOf = "balance" | "monthly_limit" | "key_limit";

/** Where model calls get their credits from. Two at once never hold more than there is. */
export interface Ledger {
  /**
   * Holds `micro` micro-credits before a model call. Throws `insufficient_credits` with `details.reason` (`ShortOf`),
   * and `database_unavailable`.
   */
  hold(spender: Spender, model: string, micro: number): Promise<Hold>;
  /** Holds `micro` more for a call that goes on. Throws as `hold` does; the hold is then as it was. */
  extend(hold: Hold, micro: number): Promise<void>;
  /**
   * Ends a hold: releases it and, where `micro` > 0, writes the entry of what was used. Only the first call for a hold
   * does anything. A database that is away is waited for in the background, so it does not throw.
   */
  settle(hold: Hold, micro: number, tokens: TokenCounts): Promise<void>;
}

const reasons: Record<ShortOf, string> = {
  balance: "The account has no credits left for this: it needs more (`berth billing` shows what there is).",
  monthly_limit:
    "The account's monthly limit is used up: raise it (`berth billing limit`), or wait for the next month (UTC).",
  key_limit: "The turns of this key have used its limit of credits: take another key, or make one with a higher limit.",
};

/** The refusal of what credits are short for. */
export function insufficientCredits(reason: ShortOf): BerthError {
  return new BerthError("insufficient_credits", reasons[reason], { details: { reason } });
}
