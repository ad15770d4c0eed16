import type { FastifyPluginAsync } from "fastify";
import { routes } from "../api/routes.ts";
import type { Agents } from "../service/agents.ts";
import type { Ssh } from "../service/ssh.ts";
import { findAgent } from "./agents.ts";
import { handle } from "./handle.ts";
import { joinSocket } from "./socket-bytes.ts";
import { handleSocket, type SocketParts } from "./sockets.ts";

/** `/agents/{name}/ssh`: certificates and connections for SSH. */
export function sshRoutes(agents: Agents, ssh: Ssh, sockets: SocketParts): FastifyPluginAsync {
  return async (app) => {
    handle(app, routes.certifySsh, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return ssh.certify(agent, request.caller, request.body);
    });

    handleSocket(
      app,
      routes.connectSsh,
      sockets,
      async (request) => {
        const agent = await findAgent(agents, request, request.params.name);
        return ssh.connect(agent, request.caller);
      },
      joinSocket,
    );
  };
}
