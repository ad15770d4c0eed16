import { type McpRequestContext, McpServer, type McpServerFactory } from "@modelcontextprotocol/server";
import type { AppContext } from "../../context.ts";
import { allows } from "../../contract/workspaces.ts";
import type { Carrier } from "../carried-operations.ts";
import { agentTools } from "./agent-tools.ts";
import { commandTools, fileTools } from "./machine-tools.ts";
import type { Tool } from "./tool.ts";
import { addTranscripts } from "./transcripts.ts";
import { turnTools } from "./turn-tools.ts";

const instructions = `Agents hosted by Berth. Each has its own virtual machine, with files, programs and one conversation that continues from message to message. ask_agent waits for a reply; for long work use start_turn and get_turn. An agent answers one message at a time: turn_in_progress means that it is answering another.`;

/** The server for one request: the tools that its caller may use. */
export function mcpServers({ version, agents, turns, commands, files, operations }: AppContext): McpServerFactory {
  const tools: Tool[] = [...agentTools(agents), ...turnTools(turns), ...commandTools(commands), ...fileTools(files)];
  return (context) => {
    const carrier = carrierOf(context);
    const { credential, role } = carrier.request.caller;
    const info = { name: "berth", title: "Berth", version };
    // The list of tools depends on the key alone. Only subscriptions, of 2026-07-28, have notifications.
    const resources = credential === "agent" ? {} : { resources: { listChanged: context.era === "modern" } };
    const server = new McpServer(info, { instructions, capabilities: { tools: { listChanged: false }, ...resources } });
    for (const tool of tools) {
      const { permission } = tool.route;
      if (permission === "public" || permission[credential] === "no" || !allows(role, permission.needs)) continue;
      tool.register(server, operations, carrier);
    }
    // An external agent key sees only its own turns of an agent.
    if (credential !== "agent") addTranscripts(server, { agents, turns, operations, carrier });
    return server;
  };
}

/** The handler's data for a request. */
export function authInfoOf<Extra extends { carrier: Carrier } | { agentId: string }>(extra: Extra) {
  return { token: "", clientId: "", scopes: [], extra };
}

function carrierOf({ authInfo }: McpRequestContext): Carrier {
  return authInfo!.extra!.carrier as Carrier;
}
