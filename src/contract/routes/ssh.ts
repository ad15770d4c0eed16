import { AgentParams } from "../agents.ts";
import { route, using } from "../route.ts";
import { SshAccess, SshRequest } from "../ssh.ts";
import { TicketOnly } from "../tickets.ts";

/** SSH into agents' machines. */
export const sshRoutes = {
  certifySsh: route({
    method: "POST",
    path: "/agents/{name}/ssh",
    summary: "Get an SSH certificate for an agent's machine",
    description: "Valid for five minutes, for your own key. The response includes the machine's host key.",
    params: AgentParams,
    body: SshRequest,
    responses: { 200: SshAccess },
    permission: using,
  }),
  connectSsh: route({
    method: "GET",
    path: "/agents/{name}/ssh/connection",
    summary: "Connect to an agent's machine for SSH",
    description: "A WebSocket of bytes, like a connection to a port, for ssh's ProxyCommand.",
    params: AgentParams,
    query: TicketOnly,
    responses: {},
    permission: using,
    socket: "ssh",
  }),
};
