import type { FastifyPluginAsync } from "fastify";
import type { Agents } from "../agents/agents.ts";
import { findAgent } from "../agents/find.ts";
import { routes } from "../api/routes.ts";
import { handle } from "../core/http/handle.ts";
import { joinSocket } from "../core/http/socket-bytes.ts";
import { handleSocket, type SocketParts } from "../core/http/sockets.ts";
import type { Ssh } from "./ssh.ts";

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
