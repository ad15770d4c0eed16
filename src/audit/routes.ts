import type { FastifyPluginAsync } from "fastify";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOfSought } from "../core/http/paging.ts";
import { type AuditPosition, toAuditEntry } from "./audit.ts";

/** `GET /audit` */
export function auditRoutes(context: AppContext): FastifyPluginAsync {
  const { stores } = context;
  return async (app) => {
    handle(app, routes.listAuditEntries, async (request) => {
      const { limit, cursor, agent = null, outcome = null, search = null } = request.query;
      const filter = { agent, outcome, search };
      const sought = await stores.audit.list(request.caller, limit + 1, positionOf(cursor), filter);
      const page = pageOfSought(sought, limit, ({ at, id }) => `${at.getTime()} ${id}`);
      return { ...page, data: page.data.map(toAuditEntry) };
    });
  };
}

function positionOf(cursor: string | undefined): AuditPosition | null {
  const position = fromCursor(cursor, /^\d{1,13} [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  if (position === null) return null;
  const [at, id] = position.split(" ") as [string, string];
  return { at: new Date(Number(at)), id };
}
