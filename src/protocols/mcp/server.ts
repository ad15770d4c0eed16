import {
  type McpRequestContext,
  McpServer,
  type McpServerFactory,
  type ServerCapabilities,
} from "@modelcontextprotocol/server";
import type { AppContext } from "../../context.ts";
import type { Credential } from "../../contract/keys.ts";
import { allows } from "../../contract/workspaces.ts";
import type { Carrier } from "../carried-operations.ts";
import { agentTools } from "./agent-tools.ts";
import { commandTools, fileTools } from "./machine-tools.ts";
import { clientOf, type McpClient, tasksExtension } from "./mcp-client.ts";
import { addTasks } from "./tasks.ts";
import type { Tool } from "./tool.ts";
import { addTranscripts } from "./transcripts.ts";
import { turnTools } from "./turn-tools.ts";

const instructions = `Agents hosted by Berth. Each has its own virtual machine, with files, programs and one conversation that continues from message to message. ask_agent waits for a reply; for long work use start_turn and get_turn. An agent answers one message at a time: turn_in_progress means that it is answering another.`;

/** The server for one request: the tools that its caller may use. */
export function mcpServers(app: AppContext): McpServerFactory {
  const { version, agents, turns, commands, files, operations } = app;
  const tools: Tool[] = [...agentTools(agents), ...turnTools(app), ...commandTools(commands), ...fileTools(files)];
  return (context) => {
    const carrier = carrierOf(context);
    const { credential, role } = carrier.request.caller;
    const info = { name: "berth", title: "Berth", version };
    const client = clientOf(context, carrier.request);
    const server = new McpServer(info, { instructions, capabilities: capabilitiesFor(credential, client) });
    for (const tool of tools) {
      const { permission } = tool.route;
      if (permission === "public" || permission[credential] === "no" || !allows(role, permission.needs)) continue;
      tool.register(server, operations, carrier, client);
    }
    // An external agent key sees only its own turns of an agent.
    if (credential !== "agent") addTranscripts(server, { agents, turns, operations, carrier });
    addTasks(server, { context: app, carrier, client });
    return server;
  };
}

/** The list of tools depends on the key alone. Only subscriptions, of 2026-07-28, have notifications. */
function capabilitiesFor(credential: Credential, { isModern }: McpClient): ServerCapabilities {
  const list = credential === "agent" ? {} : { list: {} };
  return {
    tools: { listChanged: false },
    ...(credential === "agent" ? {} : { resources: { listChanged: isModern } }),
    ...(isModern
      ? { extensions: { [tasksExtension]: {} } }
      : { tasks: { ...list, cancel: {}, requests: { tools: { call: {} } } } }),
  };
}

/** The handler's data for a request. */
export function authInfoOf<Extra extends { carrier: Carrier } | { agentId: string }>(extra: Extra) {
  return { token: "", clientId: "", scopes: [], extra };
}

function carrierOf({ authInfo }: McpRequestContext): Carrier {
  return authInfo!.extra!.carrier as Carrier;
}
