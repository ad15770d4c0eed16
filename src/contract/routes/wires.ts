import { z } from "zod";
import { AgentParams } from "../agents.ts";
import { AguiRun } from "../agui.ts";
import { chatReading, chatting, route } from "../route.ts";
import { maximumChatBytes } from "../uploads.ts";

/** Third-party protocols, which carry this API's operations. */
export const wireRoutes = {
  mcp: route({
    method: "POST",
    path: "/mcp",
    summary: "Model Context Protocol",
    description:
      "JSON-RPC 2.0 by the revisions 2026-07-28 and 2025 of https://modelcontextprotocol.io. Each tool is an operation of this API, with its permission, limits and audit entry.",
    body: z.unknown(),
    responses: { 200: z.unknown(), 202: z.null() },
    permission: chatReading,
    errors: "json-rpc",
    stream: z.unknown(),
    carries: true,
    audience: "mcp",
    by: "own leader",
    agentIn: "calls",
    traced: true,
  }),
  a2a: route({
    method: "POST",
    path: "/agents/{name}/a2a",
    summary: "Agent2Agent protocol",
    description:
      "JSON-RPC 2.0 by version 1.0 of https://a2a-protocol.org: a task is a turn. Each method is an operation of this API, with its permission, limits and audit entry.",
    params: AgentParams,
    query: z.looseObject({
      "A2A-Version": z.string().max(20).optional().meta({ description: "Replaces the header: the version, `1.0`." }),
    }),
    body: z.unknown(),
    responses: { 200: z.unknown() },
    maximumBytes: maximumChatBytes,
    permission: chatReading,
    errors: "json-rpc",
    carries: true,
    stream: z.unknown(),
    traced: true,
  }),
  agui: route({
    method: "POST",
    path: "/agents/{name}/agui",
    summary: "Send a message and stream the reply as AG-UI's events",
    description: "For front ends of https://docs.ag-ui.com: a run is a turn.",
    params: AgentParams,
    body: AguiRun,
    maximumBytes: maximumChatBytes,
    responses: {},
    permission: chatting,
    stream: z.looseObject({ type: z.string() }),
    traced: true,
  }),
  getA2aCard: route({
    method: "GET",
    path: "/agents/{name}/a2a/.well-known/agent-card.json",
    summary: "An agent's card for the Agent2Agent protocol",
    params: AgentParams,
    responses: { 200: z.unknown(), 304: z.null() },
    permission: chatReading,
    by: "any",
  }),
};
