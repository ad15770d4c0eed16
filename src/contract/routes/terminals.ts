import { AgentParams } from "../agents.ts";
import { reading, route, using } from "../route.ts";
import { TerminalQuery } from "../terminals.ts";
import { Ticket, TicketRequest } from "../tickets.ts";

/** Terminals in agents' machines. */
export const terminalRoutes = {
  createTicket: route({
    method: "POST",
    path: "/agents/{name}/tickets",
    summary: "Create a one-time ticket for a WebSocket, a download or a page",
    description: "For browsers, which cannot send a key there. Valid once, within 30 s.",
    params: AgentParams,
    body: TicketRequest,
    responses: { 201: Ticket },
    permission: reading,
    by: "any",
  }),
  openTerminal: route({
    method: "GET",
    path: "/agents/{name}/terminal",
    summary: "Open a terminal in an agent's machine",
    description:
      "A WebSocket whose frames are JSON. The service sends `{type: session, session}`, then the session's events (CommandEvent, with an `id`) up to `command.exited`; the client sends TerminalInput. Any number of viewers may share a session. An open terminal does not keep the machine awake; the next key wakes it.",
    params: AgentParams,
    query: TerminalQuery,
    responses: {},
    permission: using,
    socket: "terminal",
  }),
};
