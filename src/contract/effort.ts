import { z } from "zod";

/** How much a model reasons before it answers, from the least to the most. */
const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof efforts)[number];

export const Effort = z.enum(efforts);

/** The level among `levels` that is used for the effort: the same or the nearest lower one, else the lowest; null if there are none. */
export function nearestEffort<Level extends Effort>(effort: Effort, levels: readonly Level[]): Level | null {
  const sorted = levels.toSorted((a, b) => efforts.indexOf(a) - efforts.indexOf(b));
  return sorted.findLast((level) => efforts.indexOf(level) <= efforts.indexOf(effort)) ?? sorted[0] ?? null;
}
