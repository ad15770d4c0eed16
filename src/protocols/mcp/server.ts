import {
  createMcpHandler,
  type McpHttpHandler,
  type McpRequestContext,
  McpServer,
  type McpServerFactory,
} from "@modelcontextprotocol/server";
import type { Agents } from "../../agents/agents.ts";
import type { Commands } from "../../commands/commands.ts";
import type { Files } from "../../files/files.ts";
import type { Turns } from "../../turns/turns.ts";
import type { CarriedOperations, Carrier } from "../carried-operations.ts";
import { agentTools } from "./agent-tools.ts";
import { commandTools, fileTools } from "./machine-tools.ts";
import type { Tool } from "./tool.ts";
import { addTranscripts } from "./transcripts.ts";
import { turnTools } from "./turn-tools.ts";

export interface McpParts {
  version: string;
  agents: Agents;
  turns: Turns;
  commands: Commands;
  files: Files;
  operations: CarriedOperations;
}

const instructions = `Agents hosted by Berth. Each has a virtual machine of its own, with files, programs and one conversation that goes on from message to message. ask_agent waits for a reply; for long work use start_turn and get_turn. An agent answers one message at a time: turn_in_progress says that it is answering another.`;

/** The server for one request: the tools that its caller may use. */
export function mcpServers(parts: McpParts): McpServerFactory {
  const { version, agents, turns, commands, files, operations } = parts;
  const tools: Tool[] = [...agentTools(agents), ...turnTools(turns), ...commandTools(commands), ...fileTools(files)];
  return (context) => {
    const carrier = carrierOf(context);
    const { credential } = carrier.request.caller;
    const info = { name: "berth", title: "Berth", version };
    const server = new McpServer(info, { instructions });
    for (const tool of tools) {
      const { permission } = tool.route;
      if (permission !== "public" && permission[credential] !== "no") tool.register(server, operations, carrier);
    }
    // Of an agent's turns, an external agent key sees its own alone.
    if (credential !== "agent") addTranscripts(server, { agents, turns, operations, carrier });
    return server;
  };
}

/** Serves requests by the current revision of the protocol and those before it, each with a server of its own. */
export function mcpHandler(factory: McpServerFactory, onerror: (error: Error) => void): McpHttpHandler {
  return createMcpHandler(factory, { onerror });
}

/** What the handler passes on for a request. */
export function authInfoOf<Extra extends { carrier: Carrier } | { agentId: string }>(extra: Extra) {
  return { token: "", clientId: "", scopes: [], extra };
}

function carrierOf({ authInfo }: McpRequestContext): Carrier {
  return authInfo!.extra!.carrier as Carrier;
}
