import { z } from "zod";

// The objects and events of Open Responses (https://www.openresponses.org/reference) that agents' responses have. Fields
// that strict clients require are required.

const status = z.enum(["in_progress", "completed", "incomplete", "failed"]);
const text = z.looseObject({ type: z.literal("output_text"), text: z.string(), annotations: z.array(z.unknown()) });
const reasoningText = z.looseObject({ type: z.literal("reasoning_text"), text: z.string() });

const OutputItem = z
  .discriminatedUnion("type", [
    z.looseObject({
      type: z.literal("message"),
      id: z.string(),
      status,
      role: z.literal("assistant"),
      content: z.array(text),
    }),
    z.looseObject({
      type: z.literal("reasoning"),
      id: z.string(),
      summary: z.array(z.unknown()),
      content: z.array(reasoningText),
    }),
    z.looseObject({
      type: z.literal("function_call"),
      id: z.string(),
      status,
      call_id: z.string(),
      name: z.string(),
      arguments: z.string(),
    }),
    z.looseObject({
      type: z.literal("mcp_call"),
      id: z.string(),
      status,
      server_label: z.string(),
      name: z.string(),
      arguments: z.string(),
      output: z.string().nullable(),
      error: z.string().nullable(),
    }),
  ])
  .meta({ id: "OpenAiOutputItem", description: "An item of a response's output." });

export type OpenAiOutputItem = z.infer<typeof OutputItem>;

const Usage = z.looseObject({
  input_tokens: z.int(),
  input_tokens_details: z.looseObject({ cached_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.looseObject({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
});

export const OpenAiResponse = z
  .looseObject({
    id: z.string(),
    object: z.literal("response"),
    created_at: z.int(),
    completed_at: z.int().nullable(),
    status: z.enum(["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]),
    background: z.boolean(),
    error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
    incomplete_details: z.looseObject({ reason: z.string() }).nullable(),
    instructions: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
    model: z.string().meta({ description: "The agent's name." }),
    output: z.array(OutputItem),
    previous_response_id: z.string().nullable(),
    store: z.boolean(),
    tools: z.array(z.looseObject({ type: z.string(), strict: z.boolean().nullable() })),
    tool_choice: z.enum(["auto", "none"]),
    text: z.looseObject({ format: z.looseObject({ type: z.string() }) }),
    usage: Usage.nullable(),
    frequency_penalty: z.number(),
    max_output_tokens: z.int().nullable(),
    max_tool_calls: z.int().nullable(),
    parallel_tool_calls: z.boolean(),
    presence_penalty: z.number(),
    prompt_cache_key: z.string().nullable(),
    reasoning: z.looseObject({ effort: z.string().nullable(), summary: z.string().nullable() }),
    safety_identifier: z.string().nullable(),
    service_tier: z.string(),
    temperature: z.number(),
    top_logprobs: z.int(),
    top_p: z.number(),
    truncation: z.enum(["auto", "disabled"]),
  })
  .meta({ id: "OpenAiResponse", description: "A response of OpenAI's Responses API." });

function event<const Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  return z.looseObject({ type: z.literal(type), sequence_number: z.int(), ...fields });
}

const inItem = { item_id: z.string(), output_index: z.int() };
const inPart = { ...inItem, content_index: z.int() };
const whole = { response: OpenAiResponse };
const item = { output_index: z.int(), item: OutputItem };
const part = { ...inPart, part: z.union([text, reasoningText]) };

export const OpenAiResponseEvent = z
  .discriminatedUnion("type", [
    event("response.created", whole),
    event("response.in_progress", whole),
    event("response.completed", whole),
    event("response.failed", whole),
    event("response.incomplete", whole),
    event("response.output_item.added", item),
    event("response.output_item.done", item),
    event("response.content_part.added", part),
    event("response.content_part.done", part),
    event("response.output_text.delta", { ...inPart, delta: z.string() }),
    event("response.output_text.done", { ...inPart, text: z.string() }),
    event("response.reasoning_text.delta", { ...inPart, delta: z.string() }),
    event("response.reasoning_text.done", { ...inPart, text: z.string() }),
    event("response.function_call_arguments.delta", { ...inItem, delta: z.string() }),
    event("response.function_call_arguments.done", { ...inItem, arguments: z.string() }),
    event("response.mcp_call.in_progress", inItem),
    event("response.mcp_call_arguments.done", { ...inItem, arguments: z.string() }),
    event("response.mcp_call.completed", inItem),
    event("response.mcp_call.failed", inItem),
  ])
  .meta({ id: "OpenAiResponseEvent", description: "An event of a response's stream." });

const Chunk = z
  .looseObject({
    id: z.string(),
    object: z.literal("chat.completion.chunk"),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        delta: z.looseObject({
          role: z.string().optional(),
          content: z.string().nullish(),
          reasoning_content: z.string().optional(),
          tool_calls: z.array(z.looseObject({ index: z.int() })).optional(),
        }),
        finish_reason: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: "ChatCompletionChunk", description: "A chunk of a streamed answer of Chat Completions." });

const ErrorChunk = z.looseObject({ error: z.looseObject({ message: z.string(), type: z.string(), code: z.string() }) });

export const ChatCompletionEvent = z.union([Chunk, ErrorChunk]);
