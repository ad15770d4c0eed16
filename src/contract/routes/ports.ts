import { z } from "zod";
import { AgentParams } from "../agents.ts";
import { PortList, PortParams } from "../ports.ts";
import { route, using } from "../route.ts";
import { CreateShare, Share, ShareList, ShareParams } from "../shares.ts";
import { TicketOnly } from "../tickets.ts";

/** Listening ports in agents' machines. */
export const portRoutes = {
  listPorts: route({
    method: "GET",
    path: "/agents/{name}/ports",
    summary: "List the listening TCP ports of an agent's machine",
    params: AgentParams,
    responses: { 200: PortList },
    permission: using,
  }),
  connectPort: route({
    method: "GET",
    path: "/agents/{name}/ports/{port}/connection",
    summary: "Connect to a TCP port in an agent's machine",
    description:
      'A WebSocket: one connection to the port. Binary frames are its bytes. The text frame `{"type":"end"}`, from either side, closes one direction. It keeps the machine awake while bytes move and for a minute after.',
    params: PortParams,
    query: TicketOnly,
    responses: {},
    permission: using,
    socket: "port",
  }),
  createShare: route({
    method: "POST",
    path: "/agents/{name}/ports/{port}/share",
    summary: "Make a public link to a port's pages",
    description: "Anyone with the link can see the pages on that port, at your cost, until the share ends.",
    params: PortParams,
    body: CreateShare,
    responses: { 201: Share },
    permission: using,
  }),
  listShares: route({
    method: "GET",
    path: "/agents/{name}/shares",
    summary: "List the public links to an agent's ports",
    params: AgentParams,
    responses: { 200: ShareList },
    permission: using,
    by: "any",
  }),
  removeShare: route({
    method: "DELETE",
    path: "/agents/{name}/shares/{shareId}",
    summary: "Remove a public link",
    params: ShareParams,
    responses: { 204: z.null() },
    permission: using,
  }),
};
