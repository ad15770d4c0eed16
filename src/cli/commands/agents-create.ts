import { type Command, Option } from "commander";
import { agentsOption } from "../agents-option.ts";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { runInstallation } from "../installation.ts";
import { type McpServers, mcpServersOption } from "../mcp-servers-option.ts";
import { autoSnapshotOption, type CommonOptions, jsonOption, positiveNumber } from "../options.ts";
import { textOf } from "../standard-input.ts";

interface CreateOptions extends CommonOptions {
  runtime?: string;
  model?: string;
  instructions?: string;
  mcpServers?: McpServers;
  agents?: string[];
  autoSnapshot?: number;
  from?: string;
  snapshot?: string;
  withSecrets?: true;
  count?: number;
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
    .addOption(autoSnapshotOption())
    .option("--from <agent>", "begin with another agent's files, running programs and conversation")
    .option("--snapshot <snapshot>", "with --from: as it was at this snapshot, by name or id")
    .option("--with-secrets", "with --from: give it the agent's secrets too")
    .addOption(new Option("--count <number>", "with --from: make so many, NAME-1, NAME-2, …").argParser(positiveNumber))
    .option("--no-wait", "do not wait until the agent is ready")
    .addOption(jsonOption())
    .action(createAgent);
}

async function createAgent(name: string, options: CreateOptions): Promise<void> {
  const { instructions, from: agent, snapshot, withSecrets, wait, json, ...fields } = options;
  if (agent === undefined && (snapshot !== undefined || withSecrets || fields.count !== undefined)) {
    throw new CliError("--snapshot, --with-secrets and --count need --from AGENT.");
  }
  const client = connect(readEnvironment());
  const told = instructions === undefined ? {} : { instructions: await textOf(instructions) };
  const source =
    agent === undefined ? {} : { from: { agent, ...(snapshot && { snapshot }), secrets: withSecrets ?? false } };
  const begin = () => client.agents.create({ name, ...fields, ...told, ...source });
  // All of them are made at once; the first stands for them.
  const first = fields.count === undefined ? name : `${name}-1`;
  await runInstallation(client, { name: first, doing: "created", begin, wait, json: json ?? false });
}
