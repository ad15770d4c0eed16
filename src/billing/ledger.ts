import { BerthError } from "../contract/errors.ts";
import type { LimitDetails, LimitReason, Warning } from "../contract/limits.ts";
import { toCredits } from "./credits.ts";

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
  limits: TurnSpending;
}

/** The limits of a turn's credits, in micro-credits; null: none. */
export interface TurnSpending {
  turn: number | null;
  /** The client's turn that caused this one, and the limit of all that it caused; null: a client began this one. */
  caused: { by: string; limit: number } | null;
}

export const unlimited: TurnSpending = { turn: null, caused: null };

/** A limit that is four fifths spent, in micro-credits. */
export interface NearLimit {
  reason: ShortOf;
  limit: number;
  used: number;
}

/** Credits reserved for a model call in progress. */
export interface Hold {
  readonly id: string;
  /** Micro-credits held. */
  amount: number;
  /** How much more the balance and limits allowed right after the hold was made. */
  readonly left: number;
  readonly near: NearLimit[];
  readonly spender: Spender;
  readonly model: string;
  /** The workspace pays the provider itself. */
  readonly isOwn: boolean;
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

/** Why credits are refused: the account has none left, or a limit is used up. */
export type ShortOf = Exclude<LimitReason, "minutes_limit" | "tool_calls_limit">;

const names: Record<Exclude<ShortOf, "balance">, string> = {
  monthly_limit: "the account's monthly limit",
  key_limit: "the key's credit limit",
  turn_limit: "the turn's limit (maxCredits)",
  caused_limit: "the limit of all turns that one message causes (BERTH_ASKED_CREDITS)",
};

const advice: Record<ShortOf, string> = {
  balance: "The account does not have enough credits left for this (`berth billing` shows the balance).",
  monthly_limit: "raise it (`berth billing limit`), or wait for the next month (UTC).",
  key_limit: "use another key, or create one with a higher limit.",
  turn_limit: "send another message to continue, with a higher limit if it needs one.",
  caused_limit: "send another message to continue.",
};

/** The error for a lack of credits; `limit`: the one that is used up, in micro-credits. */
export function insufficientCredits(reason: ShortOf, limit: number | null): BerthError {
  if (reason === "balance" || limit === null) {
    return new BerthError("insufficient_credits", advice.balance, { details: { reason } satisfies LimitDetails });
  }
  const credits = toCredits(limit);
  const message = `${capitalized(names[reason])} of ${credits} credits is used up: ${advice[reason]}`;
  return new BerthError("insufficient_credits", message, {
    details: { reason, limit: credits } satisfies LimitDetails,
  });
}

/** The warning about a limit that is four fifths spent. */
export function warningOf({ reason, limit, used }: NearLimit): Warning & { reason: ShortOf } {
  const [most, spent] = [toCredits(limit), toCredits(used)];
  const name = reason === "balance" ? "the balance" : names[reason];
  return { reason, limit: most, used: spent, message: `${spent} of ${most} credits of ${name} are spent.` };
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
