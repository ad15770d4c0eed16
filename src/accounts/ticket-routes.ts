import type { FastifyPluginAsync } from "fastify";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { requireRole } from "../core/http/authorize.ts";
import { handle } from "../core/http/handle.ts";
import { enterLink } from "../previews/preview-server.ts";
import { previewLabel, previewPurpose } from "../previews/previews.ts";

/** `/agents/{name}/tickets`: tickets for WebSockets, downloads and pages in a browser. */
export function ticketRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, tickets, previewHosts: hosts } = context;
  return async (app) => {
    handle(app, routes.createTicket, async (request, reply) => {
      const agent = await findAgent(agents, request, request.params.name);
      reply.header("cache-control", "no-store");
      const { caller, body } = request;
      // A ticket for a file reads it; the others open what the agent's programs do.
      if (body.for !== "file") requireRole(caller, "use", routes.createTicket.operation);
      if (body.for === "file") {
        const given = await tickets.give({ caller, agentId: agent.id, purpose: body.for, path: body.path });
        return { ...given, url: null };
      }
      if (body.for !== "preview") {
        return { ...(await tickets.give({ caller, agentId: agent.id, purpose: body.for })), url: null };
      }
      const given = await tickets.give({ caller, agentId: agent.id, purpose: previewPurpose(body.port) });
      return { ...given, url: hosts.url(previewLabel(agent, body.port), enterLink(given.ticket, body.path)) };
    });
  };
}
