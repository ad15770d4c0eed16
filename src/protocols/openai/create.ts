import type { AgentState } from "../../agents/agent.ts";
import type { AppContext } from "../../context.ts";
import { BerthError } from "../../contract/errors.ts";
import { type CreateResponse, fromResponseId, schemaOf, toolsOf } from "../../contract/openai.ts";
import { type Asking, beginAsked } from "./begin.ts";
import { askedOfInput } from "./input.ts";
import type { BegunResponse, ResponseRequest } from "./stored-responses.ts";

/** Starts the requested turn, or finds what an earlier attempt has started. */
export async function createResponse(
  context: AppContext,
  request: Asking,
  agent: AgentState,
  body: CreateResponse,
): Promise<BegunResponse> {
  const { previous_response_id: previous, conversation: named, store, instructions, metadata, background } = body;
  const { format } = body.text ?? {};
  const asked = askedOfInput(body.input);
  const previousId = previous ? fromResponseId(previous) : null;
  if (previousId === "") throw new BerthError("response_not_found", "previous_response_id is not a valid response id.");
  if (previous && named) {
    throw new BerthError("request_invalid", "conversation: use it or previous_response_id, not both.");
  }
  const conversation = named ? numberIn(typeof named === "string" ? named : named.id) : null;
  if (conversation !== null) await context.conversations.find(agent, conversation, request.caller);
  const repeated: ResponseRequest = {
    instructions: instructions ?? null,
    metadata: metadata ?? {},
    background: background ?? false,
    tools: toolsOf(body),
    ...(format && { format }),
    ...(conversation !== null && { conversation }),
  };
  return beginAsked(context, request, agent, {
    asked,
    instructions: instructions ? [instructions] : [],
    functions: toolsOf(body),
    outputSchema: format?.type === "json_schema" ? schemaOf(format) : null,
    previousId,
    conversation,
    request: store === false ? null : repeated,
  });
}

/** Throws `conversation_not_found`. */
function numberIn(id: string): number {
  const [, number] = /^conversation-([1-9]\d{0,8})$/.exec(id) ?? [];
  if (number !== undefined) return Number(number);
  throw new BerthError("conversation_not_found", "A conversation's id is conversation-N, with its number.");
}
