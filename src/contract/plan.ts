import { z } from "zod";

/** The most steps of a plan, and the most characters of each. */
export const planLimits = { steps: 100, text: 1_000 } as const;

/** A step of the list that an agent makes of its work. */
export const PlanStep = z
  .object({
    text: z.string().max(planLimits.text),
    status: z.enum(["pending", "in_progress", "completed"]),
  })
  .meta({ id: "PlanStep" });
export type PlanStep = z.infer<typeof PlanStep>;
