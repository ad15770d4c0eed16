import { z } from "zod";
import { Fault, ListQuery } from "./agents.ts";
import { approvalFields, Decision } from "./approval-fields.ts";
import { CreatedBy } from "./authors.ts";
import { TurnChanges } from "./changes.ts";
import { Effort } from "./effort.ts";
import { flag } from "./flag.ts";
import { askedLimits, Warning } from "./limits.ts";
import { AskedOutput, OutputValue } from "./output.ts";
import { PlanStep, planLimits } from "./plan.ts";
import { Attachments, ContentPart } from "./uploads.ts";
import { safeParseValue, textOf } from "./validation.ts";

/** The maximum size of a message, in bytes of UTF-8. */
export const maximumMessageBytes = 256 * 1024;
/** The most parts of a message's content. */
const maximumParts = 100;

const inclusions = ["status", "reasoning", "tools", "usage", "approvals"] as const;
export type Inclusion = (typeof inclusions)[number];

const WhenBusy = z.enum(["reject", "queue", "steer", "interrupt"]);
export type WhenBusy = z.infer<typeof WhenBusy>;

const OnAsk = z.enum(["wait", "deny"]);
export type OnAsk = z.infer<typeof OnAsk>;

export const Message = z
  .string("message is required: the text for the agent")
  .min(1, "A message must not be empty.")
  .refine((text) => Buffer.byteLength(text) <= maximumMessageBytes, "A message is limited to 256 KiB of UTF-8.")
  .refine((text) => !text.includes("\0"), "A message must not contain null characters.");

export const ChatRequest = z
  .strictObject({
    message: Message.optional().meta({ description: "The text for the agent." }),
    content: z.array(ContentPart).min(1, "content must not be empty.").max(maximumParts).optional().meta({
      description: "The message as texts, images and files, instead of `message`. Up to 20 images and files.",
    }),
    include: z
      .array(z.enum(inclusions))
      .max(inclusions.length)
      .default([])
      .meta({ description: "Event types to add to the reply's text and its end." }),
    conversation: z.int().min(1).max(1_000_000_000).optional().meta({
      description:
        "The number of the conversation that the message is for. Default: the current one; for a queued message, the one that is current when it begins.",
    }),
    whenBusy: WhenBusy.default("reject").meta({
      description:
        "The treatment of the message while the agent answers another one. `reject`: 409. `queue`: wait behind the messages that wait. `interrupt`: cancel the running turn and begin next. `steer`: reach the running turn where the runtime can, otherwise as `queue`. The header `x-berth-placed` says what was done.",
    }),
    onAsk: OnAsk.default("wait").meta({
      description:
        "The treatment of tools that the agent's permissions ask about. `wait`: the turn waits for an approval. `deny`: the tool is denied.",
    }),
    output: AskedOutput.optional().meta({
      description: "Makes the turn end with a JSON object that matches a schema.",
    }),
    effort: Effort.optional().meta({
      description: "How much the model reasons before it answers this message. Default: the agent's `effort`.",
    }),
    ...askedLimits,
  })
  .refine(({ message, content }) => (message === undefined) !== (content === undefined), {
    message: "Exactly one of message, content is required: message is the text for the agent.",
  })
  .meta({ id: "ChatRequest" });
export type ChatRequest = z.infer<typeof ChatRequest>;

/** Checks a message as the chat request does. Returns null if it is valid, otherwise the error. */
export function problemOfMessage(text: string): string | null {
  const parsed = safeParseValue(Message, text);
  return parsed.success ? null : textOf(parsed.issues);
}

const tokens = z.int().min(0);

/** The provider's token counts for all model calls of a turn. */
export const Usage = z
  .object({
    inputTokens: tokens.meta({ description: "All input tokens, cached or not." }),
    outputTokens: tokens.meta({ description: "All output tokens, including reasoning." }),
    cacheReadTokens: tokens.meta({ description: "Input tokens read from the provider's cache." }),
    cacheWriteTokens: tokens.meta({ description: "Input tokens written to the provider's cache." }),
    reasoningTokens: tokens.meta({ description: "Reasoning tokens of the output, where the provider reports them." }),
    contextTokens: tokens.nullable().meta({
      description:
        "Input and output tokens of the turn's last model call: what the conversation takes of the model's context. Null: none yet, or not known.",
    }),
    contextLimit: tokens.nullable().meta({
      description: "The most tokens that the model of that call takes in its context. Null: not known.",
    }),
    credits: z
      .string()
      .nullable()
      .meta({ description: "The cost as a decimal number of credits; null where the price is unknown." }),
  })
  .meta({ id: "Usage" });
export type Usage = z.infer<typeof Usage>;

const time = z.iso.datetime();

/** Fields that the server adds to the last event of a response, as in OpenAI's API. */
const told = {
  usage: Usage.optional().meta({ description: "Usage of the turn so far. Sent when `include` has `usage`." }),
  at: time.optional().meta({ description: "The event's time. Sent when `include` has `usage`." }),
};

const changed = {
  changes: TurnChanges.optional().meta({
    description: "The files that changed during the turn. Missing if none did, or if it is not known.",
  }),
};

/**
 * An event of a turn, in the same shape from the runtime in the guest to the reader of the stream. The last event of a
 * turn, and no other, is `response.completed`, `response.failed` or `response.cancelled`.
 */
export const TurnEvent = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("response.created") }),
    z.object({
      type: z.literal("response.queued"),
      for: z.enum(["turn", "slot"]).optional().meta({
        description:
          "`turn`: until the agent has answered the messages before. `slot`: for a machine slot. Missing in events of earlier versions, which were for a slot.",
      }),
      position: z.int().meta({ description: "1: next. Sent again when it changes." }),
    }),
    z.object({
      type: z.literal("response.in_progress"),
      wakeMs: z.number().meta({ description: "How long the agent's machine took to become ready." }),
    }),
    z.object({ type: z.literal("response.output_text.delta"), delta: z.string() }),
    z.object({ type: z.literal("response.reasoning_text.delta"), delta: z.string() }),
    z.object({
      type: z.enum(["response.tool_call.started", "response.tool_call.updated", "response.tool_call.completed"]),
      id: z.string(),
      name: z.string().optional(),
      title: z.string().optional(),
      status: z.string().optional(),
      input: z.unknown().optional(),
      output: z.unknown().optional(),
      at: time.optional().meta({
        description: "When the server received it. Missing in updates, and in turns of earlier versions.",
      }),
    }),
    z.object({
      type: z.literal("response.plan.updated").meta({
        description: "The agent has made or changed the list of steps of its work. Each event has all steps.",
      }),
      steps: z.array(PlanStep).max(planLimits.steps),
    }),
    z.object({
      type: z
        .literal("response.function_call")
        .meta({ description: "The agent is waiting for a function of its client." }),
      callId: z.string(),
      name: z.string(),
      arguments: z.string().meta({ description: "JSON." }),
      ...told,
    }),
    z.object({
      type: z
        .literal("response.approval.requested")
        .meta({ description: "The turn waits until the use of a tool is allowed or denied." }),
      id: z.uuid(),
      toolCallId: z.string().max(1_000).nullable().meta({ description: "The id of the tool call's events." }),
      ...approvalFields,
    }),
    z.object({
      type: z.literal("response.approval.resolved").meta({ description: "The runtime has the answer." }),
      id: z.uuid(),
      decision: Decision.nullable().meta({ description: "Null: the turn or the tool was cancelled first." }),
    }),
    z.object({
      type: z.literal("response.steered").meta({ description: "A message has reached the running turn." }),
      id: z.uuid().meta({ description: "The id of the request that sent it." }),
      message: z.string(),
      createdBy: CreatedBy.optional().meta({ description: "Null: unknown. Missing for an external agent key." }),
    }),
    z.object({
      type: z.literal("response.warning").meta({
        description:
          "Four fifths of a limit are used, the agent repeats a tool call, or another model answers in place of the agent's.",
      }),
      ...Warning.shape,
    }),
    z.object({
      type: z.literal("response.completed"),
      output: OutputValue.optional().meta({ description: "The output that the request asked for." }),
      ...told,
      ...changed,
    }),
    z.object({ type: z.literal("response.failed"), error: Fault, ...told, ...changed }),
    z.object({ type: z.literal("response.cancelled"), ...told, ...changed }),
  ])
  .meta({ id: "TurnEvent" });
export type TurnEvent = z.infer<typeof TurnEvent>;

const TurnStatus = z.enum(["queued", "running", "waiting", "completed", "failed", "cancelled"]);
export type TurnStatus = z.infer<typeof TurnStatus>;
/** The status of a turn that has ended. */
export type Outcome = Exclude<TurnStatus, "queued" | "running" | "waiting">;

/** Whether a turn neither waits nor runs. */
export function hasEnded(status: TurnStatus): status is Outcome {
  return status !== "queued" && status !== "running" && status !== "waiting";
}

/** The status of a turn that runs, after an event; `running` for all but a last event. */
export function statusAfter(event: TurnEvent): Outcome | "running" {
  switch (event.type) {
    case "response.completed":
      return "completed";
    case "response.failed":
      return "failed";
    case "response.cancelled":
      return "cancelled";
    default:
      return "running";
  }
}

/** One of `response.completed`, `response.failed`, `response.cancelled`. */
export type LastEvent = Extract<TurnEvent, { type: "response.completed" | "response.failed" | "response.cancelled" }>;

export function isLast(event: TurnEvent): event is LastEvent {
  return statusAfter(event) !== "running";
}

/** An event of a tool call. */
export type ToolCallEvent = Extract<TurnEvent, { type: `response.tool_call.${string}` }>;

export function isToolCall(event: TurnEvent): event is ToolCallEvent {
  return event.type.startsWith("response.tool_call.");
}

/** The `include` word that a reader must request to receive the event; null if it is always sent. */
export function inclusionOf(event: TurnEvent): Inclusion | null {
  switch (event.type) {
    case "response.created":
    case "response.queued":
    case "response.in_progress":
    case "response.warning":
    case "response.steered":
      return "status";
    case "response.reasoning_text.delta":
      return "reasoning";
    case "response.tool_call.started":
    case "response.tool_call.updated":
    case "response.tool_call.completed":
    case "response.function_call":
    case "response.plan.updated":
      return "tools";
    case "response.approval.requested":
    case "response.approval.resolved":
      return "approvals";
    default:
      return null;
  }
}

/** A turn's event with its number in the turn: 1, 2, 3, … without gaps. */
export interface SequencedEvent {
  seq: number;
  event: TurnEvent;
}

export const TurnParams = z.object({
  name: z.string().meta({ description: "The agent's name." }),
  turnId: z.string().meta({ description: "The turn's id, as in the `x-turn-id` header." }),
});
export type TurnParams = z.infer<typeof TurnParams>;

export const TurnEventsQuery = z.strictObject({
  after: z.coerce.number().int().min(0).default(0).meta({ description: "Only events after the event with this id." }),
  include: z
    .preprocess((value) => (typeof value === "string" ? value.split(",") : value), ChatRequest.shape.include)
    .meta({ description: "As in the chat request, separated by commas." }),
});

export const TurnsQuery = ListQuery.extend({
  conversation: z.coerce
    .number("conversation is the number of a conversation.")
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .meta({ description: "Only turns of this conversation." }),
  events: flag.meta({ description: "`true`: with the events of turns that have ended." }),
});

export const TurnRecord = z
  .object({
    id: z.string(),
    conversation: z.int().meta({ description: "The number of its conversation: 1, 2, …." }),
    message: z.string(),
    attachments: Attachments.meta({ description: "The images and files of the message." }),
    reply: z.string().meta({ description: "The reply's text so far, up to 65,536 characters." }),
    replyTruncated: z.boolean().meta({ description: "The reply was truncated; the turn's events have all of it." }),
    output: OutputValue.nullable().meta({ description: "The output that the request asked for; null: none." }),
    status: TurnStatus,
    reason: z.enum(["approval"]).nullable().meta({ description: "Why the turn is `waiting`." }),
    error: Fault.nullable(),
    model: z.string().nullable().meta({ description: "The requested model; null: the runtime's default." }),
    effort: Effort.nullable().meta({ description: "The effort that the message asked for; null: the agent's." }),
    usage: Usage,
    askedBy: z
      .object({ agent: z.string(), turnId: z.string() })
      .nullable()
      .meta({ description: "The turn of another agent that started this one; null: a client did." }),
    createdBy: CreatedBy,
    changes: TurnChanges.nullable().meta({
      description: "The files that changed during the turn. Null: the turn has not ended, or it is not known.",
    }),
    queuedAt: time.nullable().meta({ description: "When it was queued; null: it began at once." }),
    undone: z.boolean().meta({
      description:
        "Whether the agent was rolled back to a point before the turn's end, so that it does not remember the turn.",
    }),
    createdAt: time.meta({ description: "When it began; of a turn that has not begun, when it was queued." }),
    finishedAt: time.nullable(),
    events: z.array(TurnEvent).nullable().optional().meta({
      description:
        "All of the turn's events, with neighbouring pieces of text joined; in lists that ask for them. Null: the turn has not ended, or they are too large for the list: read its stream.",
    }),
  })
  .meta({ id: "Turn" });
export type TurnRecord = z.infer<typeof TurnRecord>;

/** The lengths of the message and the reply in a summary, in characters. */
export const summaryCharacters = { message: 200, reply: 400 };

export const AccountTurnsQuery = ListQuery.extend({
  since: z.iso
    .datetime({ offset: true, message: "A time is ISO 8601, such as 2030-01-31T12:00:00Z." })
    .optional()
    .meta({ description: "Only turns that are running, or that ended after this time." }),
});

export const TurnSummary = TurnRecord.pick({
  id: true,
  message: true,
  reply: true,
  status: true,
  error: true,
  createdBy: true,
  createdAt: true,
  finishedAt: true,
})
  .extend({
    agent: z.string().meta({ description: "The agent's name." }),
    message: z.string().meta({ description: "Its first 200 characters." }),
    reply: z.string().meta({ description: "The first 400 characters of the reply so far." }),
  })
  .meta({ id: "TurnSummary" });
export type TurnSummary = z.infer<typeof TurnSummary>;

export const AccountTurnList = z
  .object({ data: z.array(TurnSummary), nextCursor: z.string().nullable() })
  .meta({ id: "AccountTurnList", description: "Turns of all the account's agents, newest first." });

export const TurnList = z
  .object({ data: z.array(TurnRecord), nextCursor: z.string().nullable() })
  .meta({ id: "TurnList", description: "The agent's turns, newest first." });
export type TurnList = z.infer<typeof TurnList>;
