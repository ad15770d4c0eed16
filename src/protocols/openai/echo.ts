import { z } from "zod";
import { Effort } from "../../contract/effort.ts";

const Name = z.string().max(512).nullable().catch(null);
const Penalty = z.number().min(-2).max(2).catch(0);
const Reasoning = z.object({
  effort: Effort.nullable().catch(null),
  summary: z.enum(["auto", "concise", "detailed"]).nullable().catch(null),
});

/**
 * Parameters that a response repeats, with OpenAI's defaults. All but `reasoning.effort` have no effect. A value that OpenAI does not allow counts as
 * left out.
 */
const Echoed = z.object({
  frequency_penalty: Penalty,
  max_output_tokens: z.int().min(1).nullable().catch(null),
  parallel_tool_calls: z.boolean().catch(false), // Calls at once are a response each.
  presence_penalty: Penalty,
  prompt_cache_key: Name,
  reasoning: Reasoning.catch({ effort: null, summary: null }),
  safety_identifier: Name,
  temperature: z.number().min(0).max(2).catch(1),
  tool_choice: z.enum(["auto", "none"]).catch("auto"),
  top_p: z.number().min(0).max(1).catch(1),
  truncation: z.enum(["auto", "disabled"]).catch("disabled"),
});
export type Echoed = z.infer<typeof Echoed>;

export function echoed(body: object): Echoed {
  return Echoed.parse(body);
}

/** How long answers are to be, as the request says it; undefined: it does not. */
export function verbosityOf(text: { verbosity?: unknown } | null | undefined) {
  return z.enum(["low", "medium", "high"]).safeParse(text?.verbosity).data;
}

/** A tool as it was sent. */
export interface ToolRequest {
  [field: string]: unknown;
  type: "function";
  strict?: boolean | null | undefined;
}

/** A tool with all fields that strict clients require. */
export function presentTool(tool: ToolRequest) {
  const { description = null, parameters = null, strict = null } = tool;
  return { ...tool, description, parameters, strict };
}
