import type { Usage } from "@berth/client";

/** A turn's usage in one line: `tokens: 1,200 in (1,000 cached), 200 out; context: 1,400 of 200,000; credits: 0.6`. */
export function usageText(usage: Usage): string {
  const read = withParts(usage.inputTokens, "in", {
    cached: usage.cacheReadTokens,
    "to the cache": usage.cacheWriteTokens,
  });
  const written = withParts(usage.outputTokens, "out", { reasoning: usage.reasoningTokens });
  return `tokens: ${read}, ${written}; ${contextText(usage)}credits: ${usage.credits ?? "unknown"}`;
}

/** Empty where nothing is known. */
function contextText({ contextTokens, contextLimit }: Usage): string {
  if (contextTokens === null) return "";
  return `context: ${grouped(contextTokens)}${contextLimit === null ? "" : ` of ${grouped(contextLimit)}`}; `;
}

/** A number with its nonzero parts. */
function withParts(all: number, direction: string, parts: Record<string, number>): string {
  const shown = Object.entries(parts)
    .filter(([, tokens]) => tokens > 0)
    .map(([name, tokens]) => `${grouped(tokens)} ${name}`);
  return `${grouped(all)} ${direction}${shown.length > 0 ? ` (${shown.join(", ")})` : ""}`;
}

function grouped(tokens: number): string {
  return tokens.toLocaleString("en");
}
