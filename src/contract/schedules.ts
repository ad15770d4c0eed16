import { z } from "zod";
import { Credits } from "./credits.ts";

/** The most schedules that an agent may have of its own. */
const maximumSchedules = 20;
/** Minutes. */
const shortestPause = 5;
const longestPause = 10_080;

/** The agent's own schedules; null: it may make none. */
export const Schedules = z
  .strictObject({
    max: z
      .int()
      .min(1)
      .max(maximumSchedules)
      .default(5)
      .meta({ description: `How many it may have at a time, 1 to ${maximumSchedules}.` }),
    everyMinutes: z
      .int()
      .min(shortestPause)
      .max(longestPause)
      .default(60)
      .meta({ description: `The minutes between two of its runs, at least ${shortestPause}.` }),
    maxCredits: Credits.refine((credits) => /[1-9]/.test(credits), "schedules.maxCredits must be more than 0.")
      .default("10")
      .meta({ description: "The credits that the model calls of one run may cost." }),
  })
  .nullable()
  .meta({
    description:
      "Whether the agent may schedule messages to itself, as a tool, and how many. Null, the default: it may not.",
  });
export type Schedules = NonNullable<z.infer<typeof Schedules>>;
