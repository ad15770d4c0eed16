import type { Command } from "commander";
import { agentsOption } from "../agents-option.ts";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { runInstallation } from "../installation.ts";
import { type McpServers, mcpServersOption } from "../mcp-servers-option.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { textOf } from "../standard-input.ts";

interface CreateOptions extends CommonOptions {
  runtime?: string;
  model?: string;
  instructions?: string;
  mcpServers?: McpServers;
  agents?: string[];
  wait: boolean;
}

/** `berth agents create NAME` */
export function register(agents: Command): void {
  agents
    .command("create")
    .description("create an agent and wait until it is ready")
    .argument("<name>", "3 to 30 characters: a-z, 0-9 and hyphens, starting with a letter")
    .option("-r, --runtime <runtime>", "the agent's runtime (see berth runtimes)")
    .option("-m, --model <model>", "the model's id (see berth models); default: the runtime's own")
    .option("-i, --instructions <text>", "instructions for every turn; - reads standard input")
    .addOption(mcpServersOption())
    .addOption(agentsOption())
    .option("--no-wait", "do not wait until the agent is ready")
    .addOption(jsonOption())
    .action(createAgent);
}

async function createAgent(name: string, { instructions, wait, json, ...fields }: CreateOptions): Promise<void> {
  const client = connect(readEnvironment());
  const told = instructions === undefined ? {} : { instructions: await textOf(instructions) };
  const begin = () => client.agents.create({ name, ...fields, ...told });
  await runInstallation(client, { name, doing: "created", begin, wait, json: json ?? false });
}
