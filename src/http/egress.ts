import type { FastifyPluginAsync } from "fastify";
import { routes } from "../api/routes.ts";
import type { Network } from "../contract/egress.ts";
import { type AgentState, requireAllowed } from "../service/agents.ts";
import { type ConnectionPosition, type ConnectionState, type EgressLists, toLogEntry } from "../service/egress.ts";
import { type AgentService, findAgent } from "./agents.ts";
import { handle } from "./handle.ts";
import { fromCursor, pageOf } from "./paging.ts";

/** What the routes of an agent's web need. */
export interface EgressService extends Pick<AgentService, "byName"> {
  /** The agent's lists, and the operator's. */
  egressRules(agent: AgentState): Promise<Network>;
  /** Sets the agent's lists, and cuts its connections that they do not allow. */
  setEgressRules(agent: AgentState, lists: EgressLists): Promise<void>;
  /** The newest first, after `after`. */
  listConnections(
    agentId: string,
    limit: number,
    after: ConnectionPosition | null,
    verdict: "allowed" | "refused" | null,
  ): Promise<ConnectionState[]>;
}

/** `/agents/{name}/network` and its log. */
export function egressRoutes(service: EgressService): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.getNetwork, async (request) =>
      service.egressRules(await findAgent(service, request, request.params.name)),
    );

    handle(app, routes.setNetwork, async (request) => {
      const agent = await findAgent(service, request, request.params.name);
      requireAllowed("change", agent);
      await service.setEgressRules(agent, request.body);
      return service.egressRules(agent);
    });

    handle(app, routes.listConnections, async (request) => {
      const agent = await findAgent(service, request, request.params.name);
      const { limit, cursor, verdict = null } = request.query;
      const connections = await service.listConnections(agent.id, limit + 1, slotOf(cursor), verdict);
      return pageOf(connections.map(toLogEntry), limit, ({ startedAt, id }) => `${Date.parse(startedAt)} ${id}`);
    });
  };
}

function slotOf(cursor: string | undefined): ConnectionPosition | null {
  const place = fromCursor(cursor, /^\d{1,13} [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  if (place === null) return null;
  const [startedAt, id] = place.split(" ") as [string, string];
  return { startedAt: new Date(Number(startedAt)), id };
}
