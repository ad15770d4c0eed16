import type { AgentState } from "../../agents/agent.ts";
import type { AppContext } from "../../context.ts";
import { BerthError } from "../../contract/errors.ts";
import { type CreateResponse, fromResponseId, schemaOf, toolsOf } from "../../contract/openai.ts";
import { type Asking, beginAsked } from "./begin.ts";
import type { ConversationForResponse } from "./bound-conversations.ts";
import { openInput } from "./compaction.ts";
import { echoed, verbosityOf } from "./echo.ts";
import { askedOfInput } from "./input.ts";
import { type BegunResponse, type HeldResponse, noPrevious, type ResponseRequest } from "./stored-responses.ts";

/**
 * Starts the requested turn, or finds what an earlier attempt has started. `held`: the response that can be continued without
 * being stored.
 */
export async function createResponse(
  context: AppContext,
  request: Asking,
  agent: AgentState,
  body: CreateResponse,
  held: HeldResponse | null,
): Promise<BegunResponse> {
  const { previous_response_id: previous, conversation: named, store, instructions } = body;
  const { format } = body.text ?? {};
  const asked = askedOfInput(openInput(context, request.caller.accountId, body.input));
  const previousId = previous ? fromResponseId(previous) : null;
  if (previousId === "") throw noPrevious();
  if (previous && named) {
    throw new BerthError("request_invalid", "conversation: use it or previous_response_id, not both.");
  }
  const place = named ? await placeIn(context, request, agent, typeof named === "string" ? named : named.id) : null;
  return beginAsked(context, request, agent, {
    asked,
    instructions: [...(place?.instructions ?? []), ...(instructions ? [instructions] : [])],
    functions: toolsOf(body),
    outputSchema: format?.type === "json_schema" ? schemaOf(format) : null,
    effort: echoed(body).reasoning.effort,
    previousId,
    held,
    conversation: place?.number ?? null,
    request: requestOf(body, place),
    isStored: store !== false,
  });
}

/** The fields of a request that its response repeats. */
export function requestOf(body: CreateResponse, place: NamedConversation | null): ResponseRequest {
  const { instructions, metadata, background, tools } = body;
  const { format } = body.text ?? {};
  const verbosity = verbosityOf(body.text);
  return {
    instructions: instructions ?? null,
    metadata: metadata ?? {},
    background: background ?? false,
    tools: tools ?? [],
    echoed: echoed(body),
    ...(verbosity && { verbosity }),
    ...(format && { format }),
    ...(place && { conversation: place.number }),
    ...(place?.id && { conversationId: place.id }),
  };
}

/** A conversation that a request names. */
interface NamedConversation extends ConversationForResponse {
  /** Its id in OpenAI's Conversations API; null: it is named by its number. */
  id: string | null;
}

/** Throws `conversation_not_found`, and `request_invalid` for another agent's conversation. */
async function placeIn(
  { conversations, openAiConversations }: AppContext,
  { caller }: Asking,
  agent: AgentState,
  id: string,
): Promise<NamedConversation> {
  if (id.startsWith("conv_")) return { id, ...(await openAiConversations.bind(agent, id, caller)) };
  const [, digits] = /^conversation-([1-9]\d{0,8})$/.exec(id) ?? [];
  if (digits === undefined) {
    const message = "A conversation's id is conversation-N, with its number, or an id of /v1/conversations: conv_….";
    throw new BerthError("conversation_not_found", message);
  }
  const { number } = await conversations.find(agent, Number(digits), caller);
  return { id: null, number, instructions: [] };
}
