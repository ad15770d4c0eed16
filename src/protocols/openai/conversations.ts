import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { findAgent } from "../../agents/find.ts";
import type { AppContext } from "../../context.ts";
import { BerthError } from "../../contract/errors.ts";
import { ignoredHeaders } from "../../contract/openai.ts";
import {
  AddItems,
  ChangeOpenAiConversation,
  CreateOpenAiConversation,
  conversationId,
  type OpenAiConversation,
} from "../../contract/openai-conversations.ts";
import { routes } from "../../contract/routes.ts";
import { handle } from "../../core/http/handle.ts";
import { storableValue } from "../../turns/storable.ts";
import { noConversation, noItem } from "./bound-conversations.ts";
import { type PresentItem, presentKept, presentTurn, turnOfItem } from "./conversation-items.ts";
import type { BoundConversation } from "./conversation-store.ts";

/** `/v1/conversations`: conversations of OpenAI's API, each of one agent after its first response. */
export function openAiConversationRoutes(context: AppContext): FastifyPluginAsync {
  const { openAiConversations: conversations } = context;
  return async (app) => {
    handle(app, routes.createOpenAiConversation, async ({ attempt, body, caller }, reply) => {
      reply.headers(ignoredHeaders(CreateOpenAiConversation.unwrap().unwrap(), body ?? {}));
      const asked = { items: body?.items ?? [], metadata: storableValue(body?.metadata ?? {}) };
      return view(await conversations.create(attempt.resourceId, asked, caller));
    });

    handle(app, routes.getOpenAiConversation, async (request) => view(await find(context, request)));

    handle(app, routes.changeOpenAiConversation, async (request, reply) => {
      reply.headers(ignoredHeaders(ChangeOpenAiConversation, request.body));
      const found = await find(context, request);
      const metadata = storableValue(request.body.metadata ?? {});
      await conversations.setMetadata(found, metadata);
      return view({ ...found, metadata });
    });

    handle(app, routes.deleteOpenAiConversation, async (request) => {
      const found = await find(context, request);
      await conversations.remove(found);
      return { id: conversationId(found.id), object: "conversation.deleted", deleted: true } as const;
    });

    handle(app, routes.listOpenAiItems, async (request) => {
      const { data, hasMore } = await conversations.page(await find(context, request), request.query);
      return listOf(data, hasMore);
    });

    handle(app, routes.addOpenAiItems, async (request, reply) => {
      reply.headers(ignoredHeaders(AddItems, request.body));
      const added = await conversations.addItems(await find(context, request), request.body.items);
      return listOf(added.map(presentKept), false);
    });

    handle(app, routes.getOpenAiItem, async (request) => {
      const found = await find(context, request);
      const item = await itemOf(context, found, request.params.itemId);
      if (!item) throw noItem();
      return { ...item };
    });

    handle(app, routes.deleteOpenAiItem, async (request) => {
      const found = await find(context, request);
      await conversations.removeItem(found, request.params.itemId);
      return view(found);
    });
  };
}

/** The conversation in the path, if the caller may see it and its agent. */
async function find(
  { agents, openAiConversations }: AppContext,
  request: FastifyRequest & { params: { conversationId: string } },
): Promise<BoundConversation> {
  const found = await openAiConversations.find(request.params.conversationId, request.caller);
  if (found.place) {
    await findAgent(agents, request, found.place.agentName).catch((error: unknown) => {
      // A private agent's name is not for others.
      if (error instanceof BerthError && error.code === "agent_not_found") return noConversation();
      throw error;
    });
  }
  return found;
}

async function itemOf(
  { turns }: AppContext,
  { items, place }: BoundConversation,
  itemId: string,
): Promise<PresentItem | undefined> {
  const kept = items.find(({ id }) => id === itemId);
  if (kept) return presentKept(kept);
  const turnId = turnOfItem(itemId);
  if (turnId === null || !place) return undefined;
  const [turn] = await turns.past.remembered(place.agentId, place.conversation, {
    limit: 1,
    order: "asc",
    from: turnId,
  });
  return turn?.id === turnId ? presentTurn(turn).find(({ id }) => id === itemId) : undefined;
}

function view({ id, metadata, createdAt }: BoundConversation): OpenAiConversation {
  const created_at = Math.floor(createdAt.getTime() / 1000);
  return { id: conversationId(id), object: "conversation", created_at, metadata };
}

function listOf(items: readonly PresentItem[], hasMore: boolean) {
  return {
    object: "list" as const,
    data: items.map((item) => ({ ...item })),
    first_id: items[0]?.id ?? null,
    last_id: items.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}
