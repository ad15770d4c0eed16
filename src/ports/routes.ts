import type { FastifyPluginAsync } from "fastify";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { joinSocket } from "../core/http/socket-bytes.ts";
import { handleSocket } from "../core/http/sockets.ts";
import { shareLink } from "../previews/preview-server.ts";
import { previewLabel } from "../previews/previews.ts";
import { toShareView } from "../previews/shares.ts";

/** `/agents/{name}/ports`: what listens in an agent's machine, connections to it, and links that share it. */
export function portRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, ports, shares, previewHosts: hosts } = context;
  return async (app) => {
    handle(app, routes.listPorts, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return { data: await ports.list(agent, request.caller) };
    });

    handleSocket(
      app,
      routes.connectPort,
      context,
      async (request) => {
        const agent = await findAgent(agents, request, request.params.name);
        return ports.connect(agent, request.caller, request.params.port);
      },
      joinSocket,
    );

    handle(app, routes.createShare, async (request, reply) => {
      const { name, port } = request.params;
      const agent = await findAgent(agents, request, name);
      const { share, secret } = await shares.create(agent, port, request.body, request.caller);
      reply.header("cache-control", "no-store");
      return { ...toShareView(share), url: hosts.url(previewLabel(agent, port), shareLink(secret)) };
    });

    handle(app, routes.listShares, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return { data: (await shares.list(agent)).map(toShareView) };
    });

    handle(app, routes.removeShare, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      await shares.remove(agent, request.params.shareId);
      return null;
    });
  };
}
