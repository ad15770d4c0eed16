import type { FastifyRequest } from "fastify";
import type { AgentState } from "../../agents/agent.ts";
import type { AppContext } from "../../context.ts";
import type { Effort } from "../../contract/effort.ts";
import { BerthError } from "../../contract/errors.ts";
import type { ClientFunction } from "../../contract/functions.ts";
import { conversationHeader } from "../../contract/openai.ts";
import type { OutputSchema } from "../../contract/output.ts";
import { routes } from "../../contract/routes.ts";
import { requirePermission } from "../../core/http/authorize.ts";
import { storableValue } from "../../turns/storable.ts";
import { chatOf } from "./chats.ts";
import type { Asked } from "./input.ts";
import type { BegunResponse, HeldResponse, ResponseRequest } from "./stored-responses.ts";

export type Asking = Pick<FastifyRequest, "attempt" | "caller" | "headers" | "log" | "ip" | "id">;

/** A parsed request of either API. */
interface Beginning {
  asked: Asked;
  /** The request's own instructions, in addition to those among its messages. */
  instructions: readonly string[];
  functions: readonly ClientFunction[];
  /** The schema of the answer; null: it is a text. */
  outputSchema: OutputSchema | null;
  /** Without effect for a runtime that cannot choose one; null: the agent's. */
  effort: Effort | null;
  previousId: string | null;
  /** A response that can be continued without being stored. */
  held: HeldResponse | null;
  /** The conversation that the request names; null: none. */
  conversation: number | null;
  /** The request's fields that a response repeats; null for Chat Completions. */
  request: ResponseRequest | null;
  isStored: boolean;
}

/**
 * Starts a turn, or gives a waiting one its function's result. For a retry with the same idempotency key, finds what
 * the first attempt started.
 */
export async function beginAsked(
  { agents, responses, audit, chats, openAiFiles }: AppContext,
  request: Asking,
  agent: AgentState,
  {
    asked,
    instructions,
    functions,
    outputSchema,
    effort,
    previousId,
    held,
    conversation,
    request: repeated,
    isStored,
  }: Beginning,
): Promise<BegunResponse> {
  const { attempt, caller, headers, log } = request;
  const { resourceId: id } = attempt;
  const resets = headers[conversationHeader] === "new";
  if (resets && conversation !== null) {
    throw new BerthError("request_invalid", `conversation: use it or the header ${conversationHeader}, not both.`);
  }
  // The header is an operation of its own, whatever request contains it.
  if (resets) requirePermission(routes.resetConversation, caller);
  const kept = repeated && { request: storableValue(repeated), input: asked.items, isStored };
  if (attempt.earlier !== "none") {
    const earlier = await responses.begun(agent, id, kept);
    if (earlier) {
      if (asked.message === null) await responses.redeliver(agent, earlier, asked.outputs);
      return earlier;
    }
  }
  if (asked.message === null)
    return responses.resume(id, agent, asked.outputs, { previousId, conversation, kept }, caller);
  const given = await openAiFiles.named(caller, asked.files);
  const current = resets ? await agents.resetConversation(agent, attempt, caller) : agent;
  if (resets) {
    const about = { agent: agent.name, agentId: agent.id, resource: null, status: 200, code: null };
    await audit.logOperation(request, routes.resetConversation, about);
  }
  const names = conversation !== null || previousId !== null || resets;
  const placed = names ? null : await chats.place(current, caller, chatOf(headers), asked.messages);
  const all = [...instructions, ...asked.instructions].join("\n\n");
  const asking = {
    message: asked.message,
    files: given,
    instructions: all ? storableValue(all) : null,
    functions: functions.length > 0 ? storableValue(functions.map(definitionOf)) : null,
    outputSchema: outputSchema && storableValue(outputSchema),
    effort: agents.takesEffort(agent.runtime) ? effort : null,
    callIds: asked.callIds,
    previousId,
    held,
    conversation: conversation ?? placed?.conversation ?? null,
    kept,
  };
  const begun = await responses.begin(id, current, asking, caller).catch(async (error: unknown) => {
    if (placed) await chats.release(current, placed).catch(() => {}); // The next message begins a conversation.
    throw error;
  });
  if (previousId !== null) await chats.used(agent, begun.turn.conversation);
  log.info({ turnId: id, agentId: agent.id }, "turn begun");
  return begun;
}

function definitionOf({ name, description, parameters }: ClientFunction): ClientFunction {
  return { name, description, parameters };
}
