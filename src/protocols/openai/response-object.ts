import type { Fault } from "../../contract/agents.ts";
import type { Usage } from "../../contract/chat.ts";
import { responseId } from "../../contract/openai.ts";
import type { OpenAiOutputItem } from "../../contract/openai-response.ts";
import { openAiCode } from "../../core/http/openai-errors.ts";
import { echoed, presentTool } from "./echo.ts";
import type { ResponseState } from "./stored-responses.ts";

/** A response's status, in OpenAI's terms. */
type ResponseStatus = "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";

/** An item of a response's output. */
export interface OutputItem {
  id: string;
  type: "message" | "reasoning" | "function_call" | "mcp_call";
  status: "in_progress" | "completed" | "incomplete" | "failed";
  [field: string]: unknown;
}

/** The current state of a response. */
export interface ResponseOutcome {
  status: ResponseStatus;
  output: OutputItem[];
  usage: Usage | null;
  error: Fault | null;
  /** When it completed, as ISO 8601; null: it has not, or the time is unknown. */
  completedAt: string | null;
}

/**
 * The response object (https://www.openresponses.org/reference). All fields are present, since strict clients require
 * them.
 */
export function responseObject(response: ResponseState, model: string, outcome: ResponseOutcome) {
  const { request, previousId, createdAt, isStored } = response;
  const { status, output, usage, error, completedAt } = outcome;
  return {
    id: responseId(response.id),
    object: "response" as const,
    created_at: secondsOf(createdAt),
    completed_at: completedAt === null ? null : secondsOf(new Date(completedAt)),
    status,
    background: request.background,
    error: error && { code: openAiCode(error.code), message: error.message },
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" as const } : null,
    instructions: request.instructions,
    metadata: request.metadata,
    model,
    output: output as unknown as OpenAiOutputItem[], // Its stream writes each field.
    previous_response_id: previousId && responseId(previousId),
    ...(request.conversation !== undefined && {
      conversation: { id: request.conversationId ?? `conversation-${request.conversation}` },
    }),
    store: isStored,
    tools: request.tools.map(presentTool),
    text: { format: request.format ?? { type: "text" }, ...(request.verbosity && { verbosity: request.verbosity }) },
    usage: usage && usageOf(usage),
    max_tool_calls: null,
    service_tier: "default",
    top_logprobs: 0,
    ...(request.echoed ?? echoed({})),
  };
}

export type ResponseObject = ReturnType<typeof responseObject>;

/** A time in OpenAI's form: whole seconds since 1970. */
function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

function usageOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens }: Usage) {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
