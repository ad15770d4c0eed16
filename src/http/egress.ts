import type { FastifyPluginAsyncZod } from "fastify-type-provider-zod";
import { AgentParams } from "../contract/agents.ts";
import { ChangeEgress, EgressLog, EgressLogQuery, EgressPolicy } from "../contract/egress.ts";
import { requireAllowed } from "../service/agent.ts";
import type { Agents } from "../service/agents.ts";
import { type AgentEgress, type ConnectionPosition, toLogEntry } from "../service/egress.ts";
import { findAgent } from "./agents.ts";
import { fromCursor, pageOf } from "./paging.ts";

/** `/agents/{name}/network` and its log. */
export function egressRoutes(agents: Agents, egress: AgentEgress): FastifyPluginAsyncZod {
  return async (app) => {
    const readSchema = {
      summary: "Read where an agent's programs may connect to",
      params: AgentParams,
      response: { 200: EgressPolicy },
    };
    app.get("/agents/:name/network", { schema: readSchema }, async (request) =>
      egress.policy((await findAgent(agents, request, request.params.name)).id),
    );

    const setSchema = {
      summary: "Set where an agent's programs may connect to",
      description:
        "Holds from the next connection on; what is open and not allowed any more is cut off. What is denied is not allowed, and the operator's own lists hold beside these.",
      params: AgentParams,
      body: ChangeEgress,
      response: { 200: EgressPolicy },
    };
    app.put("/agents/:name/network", { schema: setSchema }, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      requireAllowed("change", agent);
      await egress.setRules(agent.id, request.body);
      return egress.policy(agent.id);
    });

    const logSchema = {
      summary: "Read the log of an agent's connections",
      description:
        "Each connection that its programs asked for, once it has ended: what was decided and what came of it.",
      params: AgentParams,
      querystring: EgressLogQuery,
      response: { 200: EgressLog },
    };
    app.get("/agents/:name/network/log", { schema: logSchema }, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      const { limit, cursor, verdict = null } = request.query;
      const connections = await egress.connections(agent.id, limit + 1, slotOf(cursor), verdict);
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
