import type { FastifyPluginAsync } from "fastify";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import { uuidPattern } from "../contract/ids.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOfSought } from "../core/http/paging.ts";
import { toView } from "./search.ts";
import type { SearchPlace } from "./store.ts";

const cursorPattern = new RegExp(`${uuidPattern.source.slice(0, -1)}@\\d{1,15}@(message|reply)$`);

/** `/search` */
export function searchRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, search } = context;
  return async (app) => {
    handle(app, routes.search, async (request) => {
      const { query, caller } = request;
      const { q, limit, cursor } = query;
      const agent = query.agent === undefined ? null : await findAgent(agents, request, query.agent);
      const after = placeOf(fromCursor(cursor, cursorPattern));
      const sought = await search.find({ search: q, agent, caller, after, limit: limit + 1 });
      const page = pageOfSought(sought, limit, keyOf);
      return { ...page, data: page.data.map(toView) };
    });
  };
}

function keyOf({ turnId, createdAt, kind }: SearchPlace): string {
  return `${turnId}@${createdAt.getTime()}@${kind}`;
}

function placeOf(cursor: string | null): SearchPlace | null {
  if (cursor === null) return null;
  const [turnId, milliseconds, kind] = cursor.split("@") as [string, string, SearchPlace["kind"]];
  return { turnId, createdAt: new Date(Number(milliseconds)), kind };
}
