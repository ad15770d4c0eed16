import type { FastifyPluginAsync } from "fastify";
import { findAgent } from "../agents/find.ts";
import type { AppContext } from "../context.ts";
import { routes } from "../contract/routes.ts";
import { handle } from "../core/http/handle.ts";
import { joinSocket } from "../core/http/socket-bytes.ts";
import { handleSocket } from "../core/http/sockets.ts";

/** `/agents/{name}/ssh`: certificates and connections for SSH. */
export function sshRoutes(context: AppContext): FastifyPluginAsync {
  const { agents, ssh } = context;
  return async (app) => {
    handle(app, routes.certifySsh, async (request) => {
      const agent = await findAgent(agents, request, request.params.name);
      return ssh.certify(agent, request.caller, request.body);
    });

    handleSocket(
      app,
      routes.connectSsh,
      context,
      async (request) => {
        const agent = await findAgent(agents, request, request.params.name);
        return ssh.connect(agent, request.caller);
      },
      joinSocket,
    );
  };
}
