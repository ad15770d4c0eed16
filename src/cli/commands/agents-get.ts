import type { Agent } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { faultText } from "../errors.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { type Cell, formatFields } from "../table.ts";
import { writeJson } from "../terminal.ts";
import { statusStyles } from "./agents-list.ts";

/** `berth agents get NAME` */
export function register(agents: Command): void {
  agents
    .command("get")
    .description("show an agent")
    .argument("<name>", "the agent's name")
    .addOption(jsonOption())
    .action(async (name: string, { json }: CommonOptions) => {
      const client = connect(readEnvironment());
      const agent = await client.agent(name).get();
      if (json) return writeJson(process.stdout, agent);
      process.stdout.write(formatFields(process.stdout, fieldsOf(agent)));
    });
}

function imageText({ name, image }: Agent): string {
  if (image === null) return "none yet";
  return image.upgradeAvailable ? `${image.id}; a newer one waits: berth agents upgrade ${name}` : image.id;
}

function fieldsOf(agent: Agent): Record<string, Cell> {
  const { cpus, memoryMiB, diskGiB } = agent.resources;
  return {
    name: agent.name,
    runtime: agent.runtime,
    model: agent.model ?? "default",
    status: { text: agent.status, style: statusStyles[agent.status] ?? "reset" },
    ...(agent.error ? { error: faultText(agent.error) } : {}),
    instructions: agent.instructions ?? "none",
    "may ask": agent.agents.join(", ") || "no other agent",
    "MCP servers": Object.keys(agent.mcpServers).join(", ") || "none",
    "snapshots before turns": agent.autoSnapshot === 0 ? "none" : `the last ${agent.autoSnapshot}`,
    machine: `${cpus} CPUs, ${memoryMiB} MiB of memory, ${diskGiB} GiB of disk`,
    image: imageText(agent),
    created: agent.createdAt,
    "last active": agent.lastActiveAt,
  };
}
