import { z } from "zod";

/** What AG-UI's clients send for a run. Only the last message counts: the agent has its conversation. */
export const AguiRun = z
  .looseObject({
    threadId: z.string().min(1).max(200),
    runId: z.string().min(1).max(200),
    messages: z
      .array(z.looseObject({ role: z.string(), content: z.unknown().optional() }))
      .min(1)
      .max(10_000)
      .meta({ description: "The last one is the user's, and text." }),
    tools: z.array(z.unknown()).max(1_000).default([]).meta({ description: "None: an agent uses its own." }),
  })
  .meta({ id: "AguiRun" });
export type AguiRun = z.infer<typeof AguiRun>;
