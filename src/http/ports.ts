import type { FastifyPluginAsync } from "fastify";
import { routes } from "../api/routes.ts";
import type { Agents } from "../service/agents.ts";
import type { Ports } from "../service/ports.ts";
import { previewLabel } from "../service/previews.ts";
import { type Shares, toShareView } from "../service/shares.ts";
import { findAgent } from "./agents.ts";
import { handle } from "./handle.ts";
import type { PreviewHosts } from "./previews/hosts.ts";
import { shareLink } from "./previews/preview-server.ts";
import { joinSocket } from "./socket-bytes.ts";
import { handleSocket, type SocketParts } from "./sockets.ts";

/** `/agents/{name}/ports`: what listens in an agent's machine, connections to it, and links that share it. */
export function portRoutes(
  agents: Agents,
  ports: Ports,
  shares: Shares,
  hosts: PreviewHosts,
  sockets: SocketParts,
): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.listPorts, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return { data: await ports.list(agent, request.caller) };
    });

    handleSocket(
      app,
      routes.connectPort,
      sockets,
      async (request) => {
        const agent = await findAgent(agents, request, request.params.name);
        return ports.connect(agent, request.caller, request.params.port);
      },
      joinSocket,
    );

    handle(app, routes.createShare, async (request, reply) => {
      const { name, port } = request.params;
      const agent = await findAgent(agents, request, name);
      const { share, secret } = await shares.create(agent, port, request.body);
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
