import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import type { AgentState } from "../agents/agent.ts";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import {
  type ChatRequest,
  hasEnded,
  type Inclusion,
  inclusionOf,
  type SequencedEvent,
  type TurnParams,
} from "../contract/chat.ts";
import { BerthError } from "../contract/errors.ts";
import { routes } from "../contract/routes.ts";
import { requireOwnTurn } from "../core/http/authorize.ts";
import { begun } from "../core/http/begun.ts";
import type { Caller } from "../core/http/caller.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf, timedKey, timedPattern } from "../core/http/paging.ts";
import { hasSeenEnd, lastEventId, type SseEvent, sendEvents, sendLastEvents } from "../core/http/sse.ts";
import { contentOf, type MessageContent } from "../uploads/content.ts";
import { beginContent } from "./begin-content.ts";
import { Changes } from "./changes.ts";
import { withEvents } from "./listed-events.ts";
import { shown } from "./shown-event.ts";
import type { Steered } from "./steering.ts";
import { type TurnState, toTurnSummary, toTurnView } from "./turn.ts";
import type { Turns } from "./turns.ts";

/** `begun` is called for each chat once its turn exists, before the response. */
export function chatRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, conversations, turns, steering, streams, running } = context;
  return async (app) => {
    handle(app, routes.chat, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      using _ = streams.enter(request);
      const { turn, placed, after } = (await earlierChat(request, agent)) ?? (await send(request, agent));
      await begun(context, request, reply);
      await sendEvents(reply, { "x-turn-id": turn.id, "x-berth-placed": placed }, (gone) =>
        visible(turns.events.follow(turn, after, gone), request.body.include, request.caller),
      );
      return reply;
    });
  };

  /** The place of the message that an earlier attempt of the request sent; null if it sent none. */
  async function earlierChat(request: FastifyRequest & { body: ChatRequest }, agent: AgentState): Promise<Sent | null> {
    const { earlier, resourceId: id } = request.attempt;
    if (earlier === "none") return null;
    const turn = await turns.begun(agent.id, id);
    if (turn) return placedTurn(turn);
    const steered = (await steering.steered(agent.id, id)) ?? (await steer(request, agent));
    if (steered) return { ...steered, placed: "steered" };
    const found = await earlierTurn(turns, request, agent);
    return found && placedTurn(found);
  }

  /** May be called again for the same request: the machine knows the messages that have reached its turn. */
  async function steer(
    { attempt, body, caller }: FastifyRequest & { body: ChatRequest },
    agent: AgentState,
  ): Promise<Steered | null> {
    const { whenBusy, conversation = agent.conversation } = body;
    if (whenBusy !== "steer" || running.ofAgent(agent.id)?.turn.conversation !== conversation) return null;
    const { text, files } = contentIn(body);
    // The runtimes take only text while they work.
    return files.length === 0 && !body.output && !body.effort
      ? steering.steer(attempt.resourceId, agent, text, caller)
      : null;
  }

  async function send(request: FastifyRequest & { body: ChatRequest }, agent: AgentState): Promise<Sent> {
    const { attempt, body, caller, log } = request;
    const { conversation, whenBusy, onAsk, output, effort = null, maxCredits, maxMinutes, maxToolCalls } = body;
    agents.requireEffort(effort, agent.runtime);
    if (whenBusy === "interrupt" && caller.agentIds !== null) {
      throw new BerthError("forbidden", "An external agent key cannot interrupt turns. It may cancel its own.");
    }
    if (conversation !== undefined) await conversations.find(agent, conversation, caller);
    const steered = await steer(request, agent);
    if (steered) {
      log.info({ turnId: steered.turn.id, agentId: agent.id }, "turn steered");
      return { ...steered, placed: "steered" };
    }
    const limits = { maxCredits, maxMinutes, maxToolCalls };
    const outputSchema = output?.schema ?? null;
    const additions = { conversation, whenBusy, onAsk, limits, outputSchema, effort };
    const turn = await beginContent(context, attempt.resourceId, agent, contentIn(body), caller, additions);
    log.info({ turnId: turn.id, agentId: agent.id }, turn.status === "queued" ? "turn queued" : "turn begun");
    return placedTurn(turn);
  }
}

function contentIn({ message, content }: ChatRequest): MessageContent {
  return content === undefined ? { text: message!, files: [] } : contentOf(content);
}

/** The turn that has a message, and where its reader begins. */
interface Sent extends Steered {
  placed: "started" | "queued" | "steered";
}

function placedTurn(turn: TurnState): Sent {
  return { turn, placed: turn.queuedAt === null ? "started" : "queued", after: 0 };
}

/**
 * The turn that an earlier attempt of the request started; null if there is none. Throws `turn_not_found` if it was
 * deleted with its agent.
 */
export async function earlierTurn(
  turns: Turns,
  { attempt }: FastifyRequest,
  agent: AgentState,
): Promise<TurnState | null> {
  if (attempt.earlier === "done") return turns.find(agent.id, attempt.resourceId);
  return attempt.earlier === "unknown" ? turns.begun(agent.id, attempt.resourceId) : null;
}

export function turnRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, turns, streams } = context;
  const changes = new Changes(context);
  return async (app) => {
    handle(app, routes.listTurns, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      const { limit, cursor, conversation = null } = request.query;
      const after = fromCursor(cursor, timedPattern);
      const page = await turns.past.list(agent.id, limit + 1, after, { conversation });
      const list = pageOf(page.map(toTurnView), limit, timedKey);
      return request.query.events === "true" ? { ...list, data: await withEvents(list.data, context) } : list;
    });

    handle(app, routes.listAccountTurns, async ({ query, caller }) => {
      const { limit, cursor, since } = query;
      const after = fromCursor(cursor, timedPattern);
      const from = since === undefined ? null : new Date(since);
      const page = await turns.past.ofAccount(caller, limit + 1, after, from);
      return pageOf(page.map(toTurnSummary), limit, timedKey);
    });

    handle(app, routes.getTurn, async (request) => {
      const { agent, turn } = await find(request);
      const view = toTurnView(await turns.past.read(agent.id, turn.id));
      // The holder of an external key learns nothing of people, keys and other files.
      return request.caller.agentIds === null ? view : { ...view, createdBy: null, changes: null };
    });

    handle(app, routes.getTurnEvents, async (request, reply) => {
      const { turn } = await find(request);
      using _ = streams.enter(request);
      const after = lastEventId(request) ?? request.query.after;
      const isOver = hasEnded(turn.status);
      if (isOver && hasSeenEnd(request)) return reply.code(204).header("x-turn-id", turn.id).send(null);
      const send = isOver ? sendLastEvents : sendEvents;
      await send(reply, { "x-turn-id": turn.id }, (gone) =>
        visible(turns.events.follow(turn, after, gone), request.query.include, request.caller),
      );
      return reply;
    });

    handle(app, routes.getTurnChanges, async (request) => changes.of((await find(request)).turn));

    handle(app, routes.revertFiles, async (request) => {
      const { agent, turn } = await find(request);
      return changes.revert(agent, turn, request.body, request.caller);
    });

    handle(app, routes.getChanges, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return changes.since(agent, request.query.since);
    });

    handle(app, routes.restoreTurn, async (request) => {
      const { agent, turn } = await find(request);
      const restored = await changes.restore(agent, turn, request.attempt, request.caller);
      return agents.view(request.query.wait ? await agents.settled(restored) : restored, request.caller);
    });

    handle(app, routes.cancelTurn, async (request) => {
      const { agent, turn } = await find(request);
      await turns.cancel(agent, turn);
      return {};
    });
  };

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

async function* visible(
  batches: AsyncIterable<SequencedEvent[]>,
  include: readonly Inclusion[],
  { agentIds }: Caller,
): AsyncGenerator<SseEvent[]> {
  const isInside = agentIds === null;
  for await (const batch of batches) {
    const events = batch.filter(({ event }) => {
      const inclusion = inclusionOf(event);
      return inclusion === null || include.includes(inclusion);
    });
    if (events.length > 0) yield events.map((each) => toSse(each, shown(each.event, include, isInside)));
  }
}

/** The end of a turn that failed or was cancelled may have the number of an event that was sent and lost. */
function toSse({ seq, event }: SequencedEvent, data: unknown): SseEvent {
  return { id: seq, isEnd: event.type === "response.failed" || event.type === "response.cancelled", data };
}
