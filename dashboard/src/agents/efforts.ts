import type { Agent } from "@berth/client";

/** How much a model can reason, from the least to the most. */
export const efforts: readonly NonNullable<Agent["effort"]>[] = [
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
];
