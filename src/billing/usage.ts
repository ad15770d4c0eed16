import type { Usage } from "../contract/chat.ts";
import { toCredits } from "./credits.ts";
import type { TokenCounts } from "./ledger.ts";

/** A turn's usage, as counted and stored. */
export interface UsageState {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  reasoning: number;
  /** Null once any part had no price. */
  microCredits: number | null;
  /** Missing before the first model call, and in turns of earlier versions. */
  contextTokens?: number | null;
  contextLimit?: number | null;
}

/** How much of its model's context the last model call of a turn took. */
export type ContextUse = Required<Pick<UsageState, "contextTokens" | "contextLimit">>;

export const noUsage: UsageState = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0, microCredits: 0 };

export function add(sum: UsageState, tokens: TokenCounts, microCredits: number | null): UsageState {
  return {
    ...sum,
    input: sum.input + (tokens.input ?? 0),
    output: sum.output + (tokens.output ?? 0),
    cacheRead: sum.cacheRead + (tokens.cacheRead ?? 0),
    cacheWrite: sum.cacheWrite + (tokens.cacheWrite ?? 0),
    reasoning: sum.reasoning + (tokens.reasoning ?? 0),
    microCredits: sum.microCredits === null || microCredits === null ? null : sum.microCredits + microCredits,
  };
}

/** Usage as clients see it. */
export function toUsage({ microCredits, contextTokens = null, contextLimit = null, ...tokens }: UsageState): Usage {
  const credits = microCredits === null ? null : toCredits(microCredits);
  return { ...toTokens(tokens), contextTokens, contextLimit, credits };
}

/** Counts of tokens as clients see them. */
export function toTokens({
  input,
  output,
  cacheRead,
  cacheWrite,
  reasoning,
}: Omit<UsageState, "microCredits" | keyof ContextUse>): Omit<Usage, "credits" | keyof ContextUse> {
  return {
    inputTokens: input,
    outputTokens: output,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    reasoningTokens: reasoning,
  };
}
