import type { Agent } from "@berth/client";
import { InvalidArgumentError, Option } from "commander";

export type McpServers = Agent["mcpServers"];

/** `--mcp-servers JSON`, in the form in which clients of MCP write them, with or without the key `mcpServers`. */
export function mcpServersOption(): Option {
  return new Option(
    "--mcp-servers <json>",
    'MCP servers by name, as JSON: {"github": {"url": "https://…", "headers": {…}}, "files": {"command": "npx", "args": […]}}',
  ).argParser(parse);
}

function parse(text: string): McpServers {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new InvalidArgumentError("It is not JSON.");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new InvalidArgumentError("It is not an object of servers by their names.");
  const { mcpServers } = value as { mcpServers?: unknown };
  return (typeof mcpServers === "object" && mcpServers !== null ? mcpServers : value) as McpServers;
}
