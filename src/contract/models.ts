import { z } from "zod";

const price = z.string().nullable().meta({ description: "Credits per million tokens; null if unknown." });

export const Model = z
  .object({
    id: z.string().meta({ description: "`provider/name`, the value of an agent's `model`." }),
    provider: z.string().meta({ description: "The name of its provider; `demo` is built in." }),
    runtimes: z.array(z.string()).meta({ description: "The runtimes that can use it." }),
    inputPrice: price,
    outputPrice: price,
  })
  .meta({ id: "Model" });
export type Model = z.infer<typeof Model>;

export const ModelList = z
  .object({ data: z.array(Model), nextCursor: z.string().nullable() })
  .meta({ id: "ModelList", description: "The available models, by id." });
export type ModelList = z.infer<typeof ModelList>;

/** A model's price in whole micro-credits per million tokens. */
export interface ModelPrice {
  input: number;
  output: number;
  /** For input tokens read from the provider's cache, and written to it for minutes or for an hour. */
  cacheRead: number;
  cacheWrite: number;
  cacheWriteHour: number;
  /** For audio input and output. */
  inputAudio: number;
  outputAudio: number;
  /** For one web search by the provider, in micro-credits; null if unknown. */
  webSearch: number | null;
}
