import { z } from "zod";

/** A check of `berth doctor`, as one line of JSON. */
export const Finding = z.object({
  name: z.string(),
  ok: z.boolean(),
  found: z.string(),
  /** A note about a check that passed. */
  note: z.string().optional(),
  /** The problem, if the check failed. */
  problem: z.string().optional(),
  fix: z.string().optional(),
});
export type Finding = z.infer<typeof Finding>;
