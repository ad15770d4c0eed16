import { z } from "zod";
import { chatting, route } from "../route.ts";

/** Protocols of other programs, which carry this API's operations. */
export const wireRoutes = {
  mcp: route({
    method: "POST",
    path: "/mcp",
    summary: "Model Context Protocol",
    description:
      "JSON-RPC 2.0 by the revisions 2026-07-28 and 2025 of https://modelcontextprotocol.io. Each tool is an operation of this API, with its permission, limits and audit entry.",
    body: z.unknown(),
    responses: { 200: z.unknown() },
    permission: chatting,
    carries: true,
    audience: "mcp",
  }),
};
