import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { routes } from "../api/routes.ts";
import {
  type ChatRequest,
  type Inclusion,
  inclusionOf,
  type SequencedEvent,
  statusAfter,
  type TurnEvent,
  type TurnParams,
} from "../contract/chat.ts";
import { uuidPattern } from "../contract/ids.ts";
import type { AgentState } from "../service/agents.ts";
import type { Caller } from "../service/caller.ts";
import { type PastTurn, type TurnState, toTurnView } from "../service/turn.ts";
import { type AgentService, findAgent } from "./agents.ts";
import { requireOwnTurn } from "./authorize.ts";
import { handle } from "./handle.ts";
import { fromCursor, pageOf } from "./paging.ts";
import { type SseEvent, sendEvents } from "./sse.ts";
import type { Streams } from "./streams.ts";

/** What the chat's routes need. */
export interface ChatService extends Pick<AgentService, "byName"> {
  /**
   * Throws what refuses a turn: `agent_failed`, `agent_deleting`, `model_not_available`, `turn_in_progress`,
   * `insufficient_credits`, `shutting_down`.
   */
  beginTurn(id: string, agent: AgentState, message: string, caller: Caller): Promise<TurnState>;
  /** The turn that an earlier attempt has begun; null where there is none. Throws `database_unavailable`. */
  begunTurn(agentId: string, turnId: string): Promise<TurnState | null>;
  /** The newest first, beginning after the turn of that id. */
  listTurns(agentId: string, limit: number, after: string | null): Promise<PastTurn[]>;
  /** Throws `turn_not_found`. */
  findTurn(agentId: string, turnId: string): Promise<TurnState>;
  turnEvents(turn: TurnState, after: number, gone: AbortSignal): AsyncIterable<SequencedEvent[]>;
  /** Throws `turn_finished`. */
  cancelTurn(turn: TurnState): Promise<void>;
}

/** `begun` is told of each chat whose turn is there, before it is answered. */
export function chatRoutes(
  service: ChatService,
  streams: Streams,
  begun: (request: FastifyRequest, reply: FastifyReply) => Promise<void>,
): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.chat, async (request, reply) => {
      const agent = await findAgent(service, request, request.params.name);
      using _ = streams.enter(request);
      const turn = (await earlierTurn(request, agent)) ?? (await beginTurn(request, agent));
      await begun(request, reply);
      await sendEvents(reply, { "x-turn-id": turn.id }, (gone) =>
        visible(service.turnEvents(turn, 0, gone), request.body.include),
      );
      return reply;
    });

    handle(app, routes.listTurns, async (request) => {
      const agent = await findAgent(service, request, request.params.name);
      const { limit, cursor } = request.query;
      const after = fromCursor(cursor, uuidPattern);
      const turns = await service.listTurns(agent.id, limit + 1, after);
      return pageOf(turns.map(toTurnView), limit, ({ id }) => id);
    });

    handle(app, routes.getTurnEvents, async (request, reply) => {
      const turn = await find(request);
      using _ = streams.enter(request);
      // What is no number is no cursor of ours: a proxy's or a library's own, which must not end the request.
      const last = /^\d{1,15}$/.exec(String(request.headers["last-event-id"]));
      const after = last ? Number(last[0]) : request.query.after;
      await sendEvents(reply, { "x-turn-id": turn.id }, (gone) =>
        visible(service.turnEvents(turn, after, gone), request.query.include),
      );
      return reply;
    });

    handle(app, routes.cancelTurn, async (request) => {
      await service.cancelTurn(await find(request));
      return {};
    });
  };

  async function beginTurn(
    { attempt, body, caller, log }: FastifyRequest & { body: ChatRequest },
    agent: AgentState,
  ): Promise<TurnState> {
    const turn = await service.beginTurn(attempt.resourceId, agent, body.message, caller);
    log.info({ turnId: turn.id, agentId: agent.id }, "turn begun");
    return turn;
  }

  /** What an earlier attempt has begun. Throws `turn_not_found` where that went with its agent. */
  async function earlierTurn({ attempt }: FastifyRequest, agent: AgentState): Promise<TurnState | null> {
    if (attempt.earlier === "done") return service.findTurn(agent.id, attempt.resourceId);
    return attempt.earlier === "unknown" ? service.begunTurn(agent.id, attempt.resourceId) : null;
  }

  /** The turn of the path, where the caller may see it. */
  async function find(request: FastifyRequest & { params: TurnParams }): Promise<TurnState> {
    const { name, turnId } = request.params;
    const turn = await service.findTurn((await findAgent(service, request, name)).id, turnId);
    requireOwnTurn(request.caller, turn);
    return turn;
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
