import type { FastifyPluginAsync } from "fastify";
import { requireAllowed } from "../agents/agent.ts";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { fromCursor, pageOf } from "../core/http/paging.ts";
import { type ConnectionPosition, toAccountConnection, toLogEntry } from "./agent-egress.ts";

/** `/agents/{name}/network` and its log. */
export function egressRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, agentEgress: egress } = context;
  return async (app) => {
    handle(app, routes.getNetwork, async (request) =>
      egress.policy((await findAgent(agents, request, request.params.name)).id),
    );

    handle(app, routes.setNetwork, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      requireAllowed("change", agent);
      await egress.setRules(agent.id, request.body, request.caller);
      return egress.policy(agent.id);
    });

    handle(app, routes.listConnections, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      const { limit, cursor, verdict = null } = request.query;
      const connections = await egress.connections(agent.id, limit + 1, positionOf(cursor), verdict);
      return pageOf(connections.map(toLogEntry), limit, placeOf);
    });

    handle(app, routes.listAccountConnections, async ({ query, caller }) => {
      const { limit, cursor, verdict = null, since } = query;
      const filter = { verdict, since: since === undefined ? null : new Date(since) };
      const page = await egress.connectionsOfAccount(caller, limit + 1, positionOf(cursor), filter);
      return pageOf(page.map(toAccountConnection), limit, placeOf);
    });
  };
}

function placeOf({ startedAt, id }: { startedAt: string; id: string }): string {
  return `${Date.parse(startedAt)} ${id}`;
}

function positionOf(cursor: string | undefined): ConnectionPosition | null {
  const position = fromCursor(cursor, /^\d{1,13} [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  if (position === null) return null;
  const [startedAt, id] = position.split(" ") as [string, string];
  return { startedAt: new Date(Number(startedAt)), id };
}
