import { z } from "zod";
import { ClientFunction } from "./functions.ts";
import { hexOf, uuidOf } from "./ids.ts";
import { OutputSchema } from "./output.ts";
import { limitedRecord } from "./validation.ts";

// The supported requests of OpenAI's APIs: Responses, after the Open Responses specification
// (https://www.openresponses.org), and Chat Completions (https://platform.openai.com/docs/api-reference). A field that
// promises what an agent cannot do is rejected by name. Any other that has no effect is accepted, and named in a header
// of the response.

/** The largest request, in bytes: clients send the complete history of a conversation with it. */
export const maximumOpenAiBytes = 8 * 1024 * 1024;

/** A response's id as clients see it. */
export function responseId(id: string): string {
  return `resp_${hexOf(id)}`;
}

/** The id within a client's id; empty if it is not valid. */
export function fromResponseId(text: string): string {
  const [, hex = ""] = /^resp_([0-9a-f]{32})$/.exec(text) ?? [];
  return uuidOf(hex);
}

/** The header that begins a new conversation, with the value `new`. */
export const conversationHeader = "x-berth-conversation";

/** Headers with the id of a front end's chat: Berth's own, and the one that Open WebUI sends. */
export const chatHeaders = ["x-berth-chat", "x-openwebui-chat-id"] as const;
/** The header of a front end's own request about a chat, such as one for a title. */
export const taskHeader = "x-berth-task";

const ChatId = z.string().max(200, "A chat's id has up to 200 characters.").optional();

export const OpenAiHeaders = z.looseObject({
  [chatHeaders[0]]: ChatId.meta({
    description:
      "The id of a front end's chat, which has a conversation of its own. The turn ends if the client disconnects.",
  }),
  [chatHeaders[1]]: ChatId.meta({ description: "The same, as Open WebUI sends it." }),
  [taskHeader]: z.string().max(200, `${taskHeader} has up to 200 characters.`).optional().meta({
    description: "Not empty: the message is for a title or the like, and is answered outside the chat's conversation.",
  }),
  [conversationHeader]: z
    .literal("new", `${conversationHeader} can be "new", or absent.`)
    .optional()
    .meta({ description: "`new`: empties the agent's conversation first." }),
});

/** Metadata as OpenAI has it: up to 16 pairs. */
export const Metadata = limitedRecord(z.string().max(64), z.string().max(512), 16, "metadata is limited to 16 pairs.");

/** A field that accepts only its default. */
function onlyDefault<const Value extends string | number | boolean>(name: string, ...values: Value[]) {
  const allowed = values.map((value) => JSON.stringify(value)).join(" or ");
  const others = values.length === 0 ? "Leave it out." : `Allowed: ${allowed}, or leave it out.`;
  const reason = `${name} is not supported. ${others}`;
  return z
    .unknown()
    .refine((value) => value === undefined || value === null || values.includes(value as Value), reason)
    .optional()
    .meta({ description: values.length === 0 ? "Not supported." : `Only ${allowed}.` });
}

/** A field that accepts only an empty value. */
function onlyEmpty(name: string) {
  const reason = `${name} is not supported. Leave it out, or empty.`;
  const isEmpty = (value: unknown) => (typeof value === "object" ? Object.keys(value ?? {}).length === 0 : !value);
  return z.unknown().refine(isEmpty, reason).optional().meta({ description: "Only empty." });
}

/** The header that names the parameters of a request that have no effect. */
export const ignoredHeader = "x-berth-ignored-parameters";

/** A parameter that only tunes how a model answers, or advises its provider. */
const ignored = z
  .unknown()
  .optional()
  .meta({ description: `Accepted, without effect, and named in ${ignoredHeader}.` });

/** Accepted, and not named. */
const noEffect = z.unknown().optional().meta({ description: "Accepted, without effect." });

/** Model settings of both APIs that an agent's runtime chooses itself. */
const settings = {
  tool_choice: onlyDefault("tool_choice", "auto", "none"),
  top_logprobs: onlyDefault("top_logprobs", 0),
  temperature: ignored,
  top_p: ignored,
  presence_penalty: ignored,
  frequency_penalty: ignored,
  service_tier: ignored,
  parallel_tool_calls: ignored,
  prompt_cache_key: ignored,
  prompt_cache_retention: ignored,
  safety_identifier: ignored,
  user: ignored,
};

/** The most ignored parameters that the header names. */
const maximumIgnored = 50;

/**
 * The header that names a request's parameters without effect, also those that its schema does not know; none if there are
 * none. A name that a header cannot have is left out.
 */
export function ignoredHeaders({ shape }: Pick<z.ZodObject, "shape">, request: object): Record<string, string> {
  const isIgnored = (name: string) => !Object.hasOwn(shape, name) || shape[name] === ignored;
  const names = Object.entries(request)
    .filter(([name, value]) => value !== null && value !== undefined && isIgnored(name) && /^[\w.-]{1,64}$/.test(name))
    .slice(0, maximumIgnored)
    .map(([name]) => name);
  return names.length > 0 ? { [ignoredHeader]: names.join(", ") } : {};
}

/** The kinds of text that an answer can have. */
function formatType(field: string) {
  return z.enum(["text", "json_schema"], `${field} is not supported; allowed: "text", "json_schema", or leave it out.`);
}

const formatFields = {
  name: z
    .string()
    .regex(/^[\w-]{1,64}$/, "A schema's name has 1 to 64 letters, digits, underscores and hyphens.")
    .optional(),
  description: z.string().max(10_000).nullish(),
  schema: OutputSchema.optional(),
  strict: z.boolean().nullish().meta({ description: "Accepted, without effect: an answer always matches the schema." }),
};

const JsonSchemaFormat = z.looseObject(formatFields);
type JsonSchemaFormat = z.infer<typeof JsonSchemaFormat>;

/** The schema that a format has, with the format's description; null: the answer is a text. */
export function schemaOf(format: JsonSchemaFormat | null | undefined): OutputSchema | null {
  const { schema, description } = format ?? {};
  return schema ? { ...(description && { description }), ...schema } : null;
}

/** A tool of type function. Other types are rejected by name. */
const FunctionTool = ClientFunction.loose().extend({
  type: z.literal("function", {
    error: ({ input }) =>
      `The tool ${JSON.stringify(input) ?? "without a type"} is not supported; allowed: "function".`,
  }),
  strict: z.boolean().nullish().meta({ description: "Accepted, without effect." }),
});

const maximumTools = 128;

const Item = z.looseObject({ type: z.string().optional() });
/** An item of the input, or of a response that the client sends back. */
export type InputItem = z.infer<typeof Item> & Record<string, unknown>;

/** The tools that the agent may call: none by the choice `none`. The client cannot choose the agent's own tools. */
export function toolsOf<Tool>({
  tools,
  tool_choice: choice,
}: {
  tools?: Tool[] | null | undefined;
  tool_choice?: unknown;
}) {
  return choice === "none" ? [] : (tools ?? []);
}

const othersText = `Other parameters are accepted, without effect, and named in the header ${ignoredHeader}.`;

/** `POST /v1/responses` */
export const CreateResponse = z
  .looseObject({
    model: z.string("model is required: the agent's name").meta({ description: "The agent's name." }),
    input: z.union([z.string(), z.array(Item).max(10_000)]).meta({
      description:
        "A text, or items. The texts of the last user message become the agent's message, and its images and files are stored in the agent's machine; later function outputs go to the turn that is waiting for them.",
    }),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_obfuscation: z.boolean().optional() }).nullish(),
    background: z.boolean().nullish(),
    store: z.boolean().nullish().meta({
      description: "False: the response cannot be read by its id, nor continued, except on its own WebSocket.",
    }),
    previous_response_id: z.string().max(200).nullish(),
    conversation: z
      .union([z.string().max(100), z.strictObject({ id: z.string().max(100) })])
      .nullish()
      .meta({
        description:
          "A conversation: `conv_…` of `/v1/conversations`, or one of the agent's as `conversation-N`. Default: the one that has the messages before the last user message, or another. Not with `previous_response_id`.",
      }),
    instructions: z
      .string()
      .max(65_536)
      .nullish()
      .meta({ description: "For this turn, appended to the agent's own instructions." }),
    metadata: Metadata.nullish(),
    ...settings,
    tools: z.array(FunctionTool).max(maximumTools, `tools is limited to ${maximumTools}.`).nullish(),
    max_output_tokens: ignored,
    max_tool_calls: onlyDefault("max_tool_calls"),
    prompt: onlyDefault("prompt"),
    truncation: ignored,
    reasoning: z.unknown().optional().meta({
      description:
        "`effort`: how much the model reasons, where the agent's runtime can choose. The rest is accepted, without effect.",
    }),
    text: z
      .looseObject({
        format: z
          .looseObject({ type: formatType("text.format"), ...formatFields })
          .refine(({ type, schema }) => type === "text" || schema !== undefined, {
            path: ["schema"],
            message: "text.format.schema is required.",
          })
          .nullish(),
        verbosity: noEffect,
      })
      .nullish(),
    include: ignored,
    prompt_cache_options: ignored,
    client_metadata: ignored,
    generate: onlyDefault("generate", true),
  })
  .meta({ id: "CreateResponse", description: `A request of OpenAI's Responses API. ${othersText}` });
export type CreateResponse = z.infer<typeof CreateResponse>;

/** `POST /v1/responses/compact` */
export const CompactResponse = z
  .looseObject({
    model: z.string("model is required: the agent's name").meta({ description: "The agent's name." }),
    input: z
      .union([z.string(), z.array(Item).max(10_000)])
      .nullish()
      .meta({ description: "The messages to compact. Their texts are kept." }),
    previous_response_id: z.string().max(200).nullish().meta({
      description: "A stored response: its conversation up to it is compacted, before the input.",
    }),
    instructions: ignored,
    prompt_cache_key: ignored,
  })
  .meta({ id: "CompactResponse", description: `A request of OpenAI's Responses API. ${othersText}` });

export const ResponseParams = z.object({
  responseId: z.string().meta({ description: "The response's id, as `resp_…`." }),
});

/** A boolean query parameter, as clients write it. */
const flag = z.enum(["true", "false"]).optional();

export const ResponseQuery = z.strictObject({
  stream: flag.meta({ description: "`true`: stream the response's events." }),
  starting_after: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .meta({ description: "Only events after the event with this number." }),
  include_obfuscation: flag.meta({ description: "Accepted, without effect." }),
  "include[]": noEffect,
  include: noEffect,
});

export const InputItemsQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(["asc", "desc"]).default("desc"),
  after: z.string().max(200).optional().meta({ description: "The id of the previous page's last item." }),
  "include[]": noEffect,
  include: noEffect,
});

const ToolCall = z.looseObject({
  id: z.string().max(200),
  function: z.looseObject({ name: z.string(), arguments: z.string() }).optional(),
});

const ChatMessage = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(Item).max(10_000)]).nullish(),
  tool_calls: z.array(ToolCall).max(1_000).nullish(),
  tool_call_id: z.string().max(200).nullish(),
});
export type ChatMessage = z.infer<typeof ChatMessage>;

/** `POST /v1/chat/completions` */
export const CreateChatCompletion = z
  .looseObject({
    model: z.string("model is required: the agent's name").meta({ description: "The agent's name." }),
    messages: z.array(ChatMessage).min(1, "messages must not be empty.").max(10_000).meta({
      description:
        "The last user message becomes the agent's message. It continues the conversation that has the messages before it, or begins one with a record of them.",
    }),
    stream: z.boolean().nullish(),
    stream_options: z
      .looseObject({ include_usage: z.boolean().nullish(), include_obfuscation: z.boolean().nullish() })
      .nullish(),
    metadata: Metadata.nullish(),
    ...settings,
    tools: z
      .array(
        z.looseObject({
          type: z.literal("function", 'Allowed: "function".'),
          function: ClientFunction.loose(),
        }),
      )
      .max(maximumTools, `tools is limited to ${maximumTools}.`)
      .nullish(),
    n: onlyDefault("n", 1),
    max_tokens: ignored,
    max_completion_tokens: ignored,
    logprobs: onlyDefault("logprobs", false),
    logit_bias: ignored,
    stop: ignored,
    seed: ignored,
    modalities: z.array(z.literal("text", 'modalities: only "text" is supported.')).max(10).nullish(),
    audio: onlyDefault("audio"),
    functions: onlyEmpty("functions"),
    function_call: onlyDefault("function_call", "auto", "none"),
    web_search_options: onlyDefault("web_search_options"),
    response_format: z
      .looseObject({ type: formatType("response_format"), json_schema: JsonSchemaFormat.optional() })
      .refine(({ type, json_schema: format }) => type === "text" || format?.schema !== undefined, {
        path: ["json_schema"],
        message: "response_format.json_schema.schema is required.",
      })
      .nullish(),
    reasoning_effort: z.unknown().optional().meta({
      description: "How much the model reasons, where the agent's runtime can choose.",
    }),
    store: ignored,
    verbosity: ignored,
  })
  .meta({ id: "CreateChatCompletion", description: `A request of OpenAI's Chat Completions API. ${othersText}` });
export type CreateChatCompletion = z.infer<typeof CreateChatCompletion>;

/** An object of OpenAI's API, as documented in its reference. */
const open = (object: string) => z.looseObject({ object: z.literal(object) });

export const CompactedResponse = open("response.compaction")
  .extend({
    id: z.string(),
    created_at: z.int(),
    output: z.array(z.looseObject({ type: z.string() })),
    usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }),
  })
  .meta({ id: "CompactedResponse", description: "The compacted form of a conversation, to send as `input`." });
export const DeletedResponse = open("response").extend({ id: z.string(), deleted: z.literal(true) });
export const OpenAiList = open("list").extend({ data: z.array(z.looseObject({})) });
export const ChatCompletion = open("chat.completion").meta({
  id: "ChatCompletion",
  description: "A response of OpenAI's Chat Completions API.",
});
export const OpenAiModel = open("model").extend({ id: z.string(), created: z.int(), owned_by: z.string() });
