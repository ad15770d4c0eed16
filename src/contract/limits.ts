import { z } from "zod";
import { Credits } from "./credits.ts";

const maximumMinutes = 10_080;
const maximumCalls = 100_000;

/** A limit of null is none. */
const limits = {
  maxCredits: Credits.refine((credits) => /[1-9]/.test(credits), "maxCredits must be more than 0.")
    .nullable()
    .meta({ description: "The credits that a turn's model calls may cost. Null: no limit." }),
  maxMinutes: z
    .int()
    .min(1)
    .max(maximumMinutes)
    .nullable()
    .meta({
      description: `How many minutes a turn may run, 1 to ${maximumMinutes}. The time that it waits for approvals does not count. Null: no limit.`,
    }),
  maxToolCalls: z
    .int()
    .min(1)
    .max(maximumCalls)
    .nullable()
    .meta({ description: `How many tool calls a turn may make, 1 to ${maximumCalls}. Null: no limit.` }),
};

/** The limits of a turn. An agent's apply to each of its turns. */
export type Limits = { [Name in keyof typeof limits]: z.infer<(typeof limits)[Name]> };

export const limitFields = limits;

/** The limits that a request may contain. */
export const askedLimits = {
  maxCredits: limits.maxCredits.optional(),
  maxMinutes: limits.maxMinutes.optional(),
  maxToolCalls: limits.maxToolCalls.optional(),
};
export type AskedLimits = { [Name in keyof Limits]?: Limits[Name] | undefined };

export const noLimits: Limits = { maxCredits: null, maxMinutes: null, maxToolCalls: null };

/** The lower limit of each kind. */
export function lowestOf(one: Limits, other: AskedLimits): Limits {
  return {
    maxCredits: lower(one.maxCredits, other.maxCredits),
    maxMinutes: lower(one.maxMinutes, other.maxMinutes),
    maxToolCalls: lower(one.maxToolCalls, other.maxToolCalls),
  };
}

function lower<Value extends string | number>(one: Value | null, other: Value | null | undefined): Value | null {
  if (one === null || other === null || other === undefined) return one ?? other ?? null;
  return Number(one) <= Number(other) ? one : other;
}

/**
 * Why a turn was stopped. `balance`: no credits left. `monthly_limit`: the account's. `key_limit`: the API key's.
 * `turn_limit`: `maxCredits`. `caused_limit`: the operator's, for all turns that one message causes. `minutes_limit`:
 * `maxMinutes`. `tool_calls_limit`: `maxToolCalls`.
 */
const limitReasons = [
  "balance",
  "monthly_limit",
  "key_limit",
  "turn_limit",
  "caused_limit",
  "minutes_limit",
  "tool_calls_limit",
] as const;
export type LimitReason = (typeof limitReasons)[number];

const limit = z.union([z.string(), z.int()]);

/** The limit that an error is about. */
export const LimitDetails = z.object({
  reason: z.enum(limitReasons),
  limit: limit.optional().meta({ description: "Credits as a decimal string, minutes, or tool calls." }),
});
export type LimitDetails = z.infer<typeof LimitDetails>;

/**
 * Sent once for each limit of a turn, when four fifths of it are used, each time that a tool call is repeated, and once for
 * each model that answers in place of another.
 */
export const Warning = z.object({
  reason: z.enum([...limitReasons, "repeated_tool_call", "model_fallback"]),
  limit: limit.optional().meta({ description: "Credits as a decimal string, minutes, or tool calls." }),
  used: limit.optional().meta({ description: "How much of the limit is used." }),
  message: z.string().max(1_000).meta({ description: "The warning as a sentence." }),
});
export type Warning = z.infer<typeof Warning>;
