import { z } from "zod";

/** One thing that Berth needs, as a line of JSON of the programs behind `berth doctor`. */
export const Finding = z.object({
  name: z.string(),
  ok: z.boolean(),
  found: z.string(),
  /** What to know of it, although it works. */
  note: z.string().optional(),
  /** What is wrong, if the check failed. */
  problem: z.string().optional(),
  /** What mends it. */
  fix: z.string().optional(),
});
export type Finding = z.infer<typeof Finding>;
