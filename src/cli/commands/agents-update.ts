import type { Agent, ChangeAgent } from "@berth/client";
import { type Command, Option } from "commander";
import { agentsOption } from "../agents-option.ts";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { runInstallation } from "../installation.ts";
import { type McpServers, mcpServersOption } from "../mcp-servers-option.ts";
import { autoSnapshotOption, type CommonOptions, jsonOption } from "../options.ts";
import { textOf } from "../standard-input.ts";
import { printable, writeJson } from "../terminal.ts";

interface UpdateOptions extends CommonOptions {
  runtime?: string;
  wait: boolean;
  model?: string;
  defaultModel?: true;
  instructions?: string;
  noInstructions?: true;
  mcpServers?: McpServers;
  agents?: string[];
  autoSnapshot?: number;
}

/** `berth agents update NAME` */
export function register(agents: Command): void {
  agents
    .command("update")
    .description("change an agent's settings from its next turn on")
    .argument("<name>", "the agent's name")
    .option("-r, --runtime <runtime>", "another runtime, which goes on with its files and its conversation")
    .option("-m, --model <model>", "the model's id (see berth models)")
    .addOption(new Option("--default-model", "the runtime's own default model").conflicts("model"))
    .option("-i, --instructions <text>", "instructions for every turn; - reads standard input")
    .addOption(noInstructionsOption())
    .addOption(mcpServersOption())
    .addOption(agentsOption())
    .addOption(autoSnapshotOption())
    .option("--no-wait", "with --runtime: do not wait until the agent is ready")
    .addOption(jsonOption())
    .action(updateAgent);
}

/** Not the negation of `--instructions`: then the last one given would win. Instead, the two conflict. */
function noInstructionsOption(): Option {
  const option = new Option("--no-instructions", "no instructions any more").conflicts("instructions");
  option.negate = false;
  return option;
}

async function updateAgent(name: string, { json, wait, ...options }: UpdateOptions): Promise<void> {
  const client = connect(readEnvironment());
  const change = await changeOf(options);
  if (Object.keys(change).length === 0) {
    throw new CliError(
      "Nothing is to be changed: give --runtime, --model, --default-model, --instructions, --no-instructions, --mcp-servers, --agents or --auto-snapshot.",
      2,
    );
  }
  if (change.runtime !== undefined) {
    const begin = () => client.agent(name).update(change);
    return runInstallation(client, { name, doing: "changed", begin, wait, json: json ?? false });
  }
  const agent = await client.agent(name).update(change);
  if (json) writeJson(process.stdout, agent);
  else console.log(`${printable(name)} has ${changedText(change, agent)} from its next turn on.`);
}

async function changeOf({
  runtime,
  model,
  defaultModel,
  instructions,
  noInstructions,
  mcpServers,
  agents,
  autoSnapshot,
}: Omit<UpdateOptions, "wait">): Promise<ChangeAgent> {
  const change: ChangeAgent = {};
  if (runtime !== undefined) change.runtime = runtime;
  if (model !== undefined) change.model = model;
  if (defaultModel) change.model = null;
  if (instructions !== undefined) change.instructions = await textOf(instructions);
  if (noInstructions) change.instructions = null;
  if (mcpServers) change.mcpServers = mcpServers;
  if (agents) change.agents = agents;
  if (autoSnapshot !== undefined) change.autoSnapshot = autoSnapshot;
  return change;
}

/** The changed fields with the agent's current values. */
function changedText(change: ChangeAgent, agent: Agent): string {
  const { model, instructions, mcpServers, agents, autoSnapshot } = agent;
  const parts: string[] = [];
  if ("model" in change) parts.push(model === null ? "its runtime's default model" : `the model ${printable(model)}`);
  if ("instructions" in change) parts.push(instructions === null ? "no instructions" : "the new instructions");
  if ("mcpServers" in change) parts.push(`the MCP servers ${Object.keys(mcpServers).join(", ") || "none"}`);
  if ("agents" in change)
    parts.push(agents.length === 0 ? "no agents to ask" : `the agents ${agents.join(" and ")} to ask`);
  if ("autoSnapshot" in change) {
    parts.push(
      autoSnapshot === 0 ? "no snapshots from before turns" : `snapshots from before its last ${autoSnapshot} turns`,
    );
  }
  return parts.join(" and ");
}
