import type { FastifyPluginAsync } from "fastify";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import { type Conversation, ConversationNumber } from "../contract/conversations.ts";
import { BerthError } from "../contract/errors.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf } from "../core/http/paging.ts";
import type { ConversationState } from "./store.ts";

const cursorPattern = /^[1-9]\d{0,9}@\d{1,18}$/;

/** `/agents/{name}/conversations` */
export function conversationRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, conversations } = context;
  return async (app) => {
    handle(app, routes.listConversations, async (request) => {
      const { caller, params, query } = request;
      const agent = await findAgent(agents, request, params.name);
      const { limit, cursor, since } = query;
      const after = fromCursor(cursor, cursorPattern);
      const from = since === undefined ? null : new Date(since);
      const found = await conversations.list(agent, caller, { after, since: from, limit: limit + 1 });
      const page = pageOf(found, limit, ({ number, activeAt }) => `${number}@${activeAt}`);
      return { ...page, data: page.data.map((each) => viewFor(each, caller)) };
    });

    handle(app, routes.createConversation, async (request, reply) => {
      const { body, caller, params } = request;
      const agent = await findAgent(agents, request, params.name);
      const created = await conversations.create(agent, body, caller, request.attempt);
      reply.header("location", `/agents/${agent.name}/conversations/${created.number}`);
      return viewFor(created, caller);
    });

    handle(app, routes.getConversation, async (request) => {
      const { caller, params } = request;
      const agent = await findAgent(agents, request, params.name);
      return viewFor(await conversations.find(agent, numberIn(params), caller), caller);
    });

    handle(app, routes.changeConversation, async (request) => {
      const { body, caller, params } = request;
      const agent = await findAgent(agents, request, params.name);
      return viewFor(await conversations.change(agent, numberIn(params), body, caller), caller);
    });

    handle(app, routes.deleteConversation, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      await conversations.remove(agent, numberIn(request.params));
      return null;
    });
  };
}

/** Throws `conversation_not_found` for a text that is no number of a conversation. */
function numberIn({ conversation }: { conversation: string }): number {
  const parsed = /^\d{1,10}$/.test(conversation) ? ConversationNumber.safeParse(Number(conversation)) : null;
  if (parsed?.success) return parsed.data;
  throw new BerthError("conversation_not_found", "A conversation's id is its number: 1, 2, ….");
}

/** The holder of an external key learns nothing of people and keys. */
function viewFor(
  { number, title, isCurrent, forkedFrom, createdBy, createdAt, lastTurnAt }: ConversationState,
  { agentIds }: { agentIds: readonly string[] | null },
): Conversation {
  return {
    id: number,
    title,
    current: isCurrent,
    forkedFrom,
    createdBy: agentIds === null ? createdBy : null,
    createdAt: createdAt.toISOString(),
    lastTurnAt: lastTurnAt?.toISOString() ?? null,
  };
}
