import { randomUUID } from "node:crypto";
import type { FastifyPluginAsync } from "fastify";
import type { AgentState } from "../../agents/agent.ts";
import { findAgent } from "../../agents/find.ts";
import type { AppContext } from "../../context.ts";
import { hasEnded } from "../../contract/chat.ts";
import { BerthError } from "../../contract/errors.ts";
import { CompactResponse, fromResponseId, ignoredHeaders, responseId } from "../../contract/openai.ts";
import { routes } from "../../contract/routes.ts";
import { type Caller, mayUseTurn } from "../../core/http/caller.ts";
import { handle } from "../../core/http/handle.ts";
import { turnInProgress } from "../../turns/turn.ts";
import { compactedOf, compactionItem, openInput } from "./compaction.ts";
import { noPrevious } from "./stored-responses.ts";

/**
 * `/v1/responses/compact`: the texts of a conversation as one item, from which another conversation may begin. No model
 * is called: an agent compacts its own context while it works.
 */
export function compactionRoutes(context: AppContext): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.compactResponse, async (request, reply) => {
      const { model, input, previous_response_id: previous } = request.body;
      const { caller } = request;
      const agent = await findAgent(context.agents, request, model);
      const record = previous ? await recordOf(context, agent, caller, previous) : null;
      const compacted = compactedOf(openInput(context, caller.accountId, input ?? []), record);
      if (compacted.record === null && compacted.messages.length === 0)
        throw new BerthError(
          "request_invalid",
          "input: there is nothing to compact. Send messages, or previous_response_id.",
        );
      reply.headers(ignoredHeaders(CompactResponse, request.body));
      return {
        id: responseId(randomUUID()),
        object: "response.compaction" as const,
        created_at: Math.floor(Date.now() / 1000),
        output: [compactionItem(context, caller.accountId, compacted)],
        usage: {
          input_tokens: 0,
          input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
          output_tokens: 0,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 0,
        },
      };
    });
  };
}

/** The record of a response's conversation up to its turn. Throws `previous_response_not_found`, `turn_in_progress`. */
async function recordOf(
  { responses, turns, stores }: AppContext,
  agent: AgentState,
  caller: Caller,
  previous: string,
): Promise<string | null> {
  const found = await responses.find(caller.accountId, fromResponseId(previous)).catch((error: unknown) => {
    throw error instanceof BerthError && error.code === "response_not_found" ? noPrevious() : error;
  });
  if (found.response.agentId !== agent.id) throw noPrevious();
  const turn = await turns.find(agent.id, found.response.turnId);
  if (!mayUseTurn(caller, turn)) throw noPrevious();
  if (!hasEnded(turn.status)) throw turnInProgress(turn.id);
  return stores.conversations.recordUntil(agent.id, turn);
}
