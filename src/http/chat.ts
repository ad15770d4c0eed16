import type { FastifyReply, FastifyRequest } from "fastify";
import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { z } from "zod";
import { requireOwnTurn } from "../api/permissions.ts";
import { AgentParams, ListQuery } from "../contract/agents.ts";
import {
  ChatRequest,
  type Inclusion,
  inclusionOf,
  type SequencedEvent,
  statusAfter,
  type TurnEvent,
  TurnEventsQuery,
  TurnList,
  TurnParams,
} from "../contract/chat.ts";
import { uuidPattern } from "../contract/ids.ts";
import type { AgentState } from "../service/agent.ts";
import type { Agents } from "../service/agents.ts";
import { type TurnState, toTurnView } from "../service/turn.ts";
import type { Turns } from "../service/turns.ts";
import { findAgent } from "./agents.ts";
import { fromCursor, pageOf } from "./paging.ts";
import { type SseEvent, sendEvents } from "./sse.ts";
import type { Streams } from "./streams.ts";

/** `begun` is told of each chat whose turn is there, before it is answered. */
export function chatRoutes(
  agents: Agents,
  turns: Turns,
  streams: Streams,
  begun: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): FastifyPluginAsyncZod {
  return async (app) => {
    const chatSchema = {
      summary: "Send a message and stream the reply",
      description: "A server-sent event stream of TurnEvent objects. The turn goes on when the client goes away.",
      params: AgentParams,
      body: ChatRequest,
    };
    app.post("/agents/:name/chat", { schema: chatSchema }, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      using _ = streams.enter(request);
      const turn = (await earlierTurn(request, agent)) ?? (await beginTurn(request, agent));
      await begun(request, reply);
      await sendEvents(reply, { "x-turn-id": turn.id }, (gone) =>
        visible(turns.events(turn, 0, gone), request.body.include),
      );
      return reply;
    });

    const historySchema = {
      summary: "List an agent's turns, the newest first",
      params: AgentParams,
      querystring: ListQuery,
      response: { 200: TurnList },
    };
    app.get("/agents/:name/turns", { schema: historySchema }, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      const { limit, cursor } = request.query;
      const after = fromCursor(cursor, uuidPattern);
      const page = await turns.list(agent.id, limit + 1, after);
      return pageOf(page.map(toTurnView), limit, ({ id }) => id);
    });

    const eventsSchema = {
      summary: "Read a turn's events, again or from a cursor on",
      params: TurnParams,
      querystring: TurnEventsQuery,
    };
    app.get("/agents/:name/turns/:turnId/events", { schema: eventsSchema }, async (request, reply) => {
      const { turn } = await find(request);
      using _ = streams.enter(request);
      // What is no number is no cursor of ours: a proxy's or a library's own, which must not end the request.
      const last = /^\d{1,15}$/.exec(String(request.headers["last-event-id"]));
      const after = last ? Number(last[0]) : request.query.after;
      await sendEvents(reply, { "x-turn-id": turn.id }, (gone) =>
        visible(turns.events(turn, after, gone), request.query.include),
      );
      return reply;
    });

    const cancelSchema = { summary: "Interrupt a turn", params: TurnParams, response: { 202: z.object({}) } };
    app.post("/agents/:name/turns/:turnId/cancel", { schema: cancelSchema }, async (request, reply) => {
      const { agent, turn } = await find(request);
      await turns.cancel(agent, turn);
      return reply.code(202).send({});
    });
  };

  async function beginTurn(
    { attempt, body, caller, log }: FastifyRequest & { body: ChatRequest },
    agent: AgentState,
  ): Promise<TurnState> {
    const turn = await turns.begin(attempt.resourceId, agent, body.message, caller);
    log.info({ turnId: turn.id, agentId: agent.id }, "turn begun");
    return turn;
  }

  /** What an earlier attempt has begun. Throws `turn_not_found` where that went with its agent. */
  async function earlierTurn({ attempt }: FastifyRequest, agent: AgentState): Promise<TurnState | null> {
    if (attempt.earlier === "done") return turns.find(agent.id, attempt.resourceId);
    return attempt.earlier === "unknown" ? turns.begun(agent.id, attempt.resourceId) : null;
  }

  /** The turn of the path, where the caller may see it. */
  async function find(
    request: FastifyRequest & { params: TurnParams },
  ): Promise<{ agent: AgentState; turn: TurnState }> {
    const { name, turnId } = request.params;
    const agent = await findAgent(agents, request, name);
    const turn = await turns.find(agent.id, turnId);
    requireOwnTurn(request.caller, turn);
    return { agent, turn };
  }
}

/** The events that the reader asked for. */
async function* visible(
  batches: AsyncIterable<SequencedEvent[]>,
  include: readonly Inclusion[],
): AsyncGenerator<SseEvent[]> {
  for await (const batch of batches) {
    const events = batch.filter(({ event }) => {
      const inclusion = inclusionOf(event);
      return inclusion === null || include.includes(inclusion);
    });
    if (events.length > 0) yield events.map(({ seq, event }) => ({ id: seq, data: shown(event, include) }));
  }
}

/** A last event without its usage, where the reader did not ask for that. */
function shown(event: TurnEvent, include: readonly Inclusion[]): unknown {
  if (include.includes("usage") || statusAfter(event) === "running") return event;
  return { ...event, usage: undefined };
}
