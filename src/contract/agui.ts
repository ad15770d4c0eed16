import { z } from "zod";

/** The run request that AG-UI clients send. Only the last message counts: the agent has its own conversation. */
export const AguiRun = z
  .looseObject({
    threadId: z.string().min(1).max(200),
    runId: z.string().min(1).max(200),
    messages: z
      .array(z.looseObject({ role: z.string(), content: z.unknown().optional() }))
      .min(1)
      .max(10_000)
      .meta({ description: "The last message must be the user's: a text, or parts with texts and bytes." }),
    tools: z.array(z.unknown()).max(1_000).default([]).meta({ description: "Must be empty: an agent uses its own." }),
  })
  .meta({ id: "AguiRun" });
export type AguiRun = z.infer<typeof AguiRun>;
