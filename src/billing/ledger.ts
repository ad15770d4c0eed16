import { BerthError } from "../contract/errors.ts";

/**
 * The account and key that pay for an agent's usage. Both ids are null outside turns; `keyId` also for turns started
 * with a token.
 */
export interface Spender {
  accountId: string;
  agentId: string;
  /** Stored as text, because the agent may be deleted and its name reused. */
  agentName: string;
  turnId: string | null;
  keyId: string | null;
}

/** Credits reserved for a model call in progress. */
export interface Hold {
  readonly id: string;
  /** Micro-credits held. */
  amount: number;
  /** How much more the balance and limits allowed right after the hold was made. */
  readonly left: number;
  readonly spender: Spender;
  readonly model: string;
}

/** A call's usage as reported by the provider; absent: not reported. `input` includes cached input. */
export interface TokenCounts {
  input?: number;
  output?: number;
  cacheRead?: number;
  cacheWrite?: number;
  /** The part of `cacheWrite` that is cached for an hour, which costs more. */
  cacheWriteHour?: number;
  reasoning?: number;
  /** The parts of `input` and `output` that are audio, which costs more. */
  inputAudio?: number;
  outputAudio?: number;
  /** Web searches made by the provider itself. */
  webSearches?: number;
}

/** Why credits are refused: the account has none left, or a limit of the account or key is used up. */
export type ShortOf = "balance" | "monthly_limit" | "key_limit";

const reasons: Record<ShortOf, string> = {
  balance: "The account does not have enough credits left for this (`berth billing` shows the balance).",
  monthly_limit:
    "The account's monthly limit is used up: raise it (`berth billing limit`), or wait for the next month (UTC).",
  key_limit: "The turns of this key have used up its credit limit: use another key, or create one with a higher limit.",
};

/** The error for a lack of credits. */
export function insufficientCredits(reason: ShortOf): BerthError {
  return new BerthError("insufficient_credits", reasons[reason], { details: { reason } });
}
