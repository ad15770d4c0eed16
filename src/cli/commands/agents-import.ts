import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { pipeline, Readable } from "node:stream";
import type { Agent, Berth, Import } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { counted } from "../copy/ends.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { runInstallation } from "../installation.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { Progress } from "../progress.ts";
import { printable } from "../terminal.ts";
import { note } from "../verbosity.ts";

interface ImportOptions extends CommonOptions {
  name?: string;
  model?: string;
  wait: boolean;
}

/** `berth agents import FILE` */
export function register(agents: Command): void {
  agents
    .command("import")
    .description("create an agent from an archive of berth agents export")
    .argument("<file>", "the archive; - reads standard input")
    .option("--name <name>", "what it is called; default: as it was")
    .option("-m, --model <model>", "its model here (see berth models), or `default` for the runtime's own")
    .option("--no-wait", "do not wait until the agent is ready")
    .addOption(jsonOption())
    .action(importAgent);
}

async function importAgent(file: string, { wait, json, ...query }: ImportOptions): Promise<void> {
  const client = connect(readEnvironment());
  const made = await sent(client, file, query);
  const { name } = made.agent;
  const toJson = (agent: Agent) => ({ ...made, agent });
  const begin = async () => made.agent;
  await runInstallation(client, { name, doing: "created", begin, wait, json: json ?? false, toJson });
  if (!json) for (const line of remarks(made)) note(line);
}

async function sent(client: Berth, file: string, query: { name?: string; model?: string }): Promise<Import> {
  using progress = new Progress(process.stderr);
  const seen = counted((bytes) => {
    if (process.stderr.isTTY) progress.show(`${file}: ${(bytes / 1_000_000).toFixed(1)} MB`);
  });
  const bytes = pipeline(await opened(file), seen, () => {});
  return await client.agents.import(Readable.toWeb(bytes) as ReadableStream<Uint8Array>, query);
}

async function opened(file: string): Promise<Readable> {
  if (file === "-") return process.stdin;
  const found = await stat(file).catch(() => null);
  if (!found?.isFile()) throw new CliError(`There is no file ${file} here.`);
  return createReadStream(file, { highWaterMark: 1024 * 1024 });
}

/** What did not come along. */
function remarks({ agent, installed, secrets, agents, hadDisk }: Import): string[] {
  const name = printable(agent.name);
  return [
    ...secrets.map((secret) => {
      const hosts = secret.hosts.map((host) => ` --host ${printable(host)}`).join("");
      const own = printable(secret.name);
      return `It had a secret ${own}. To set it: berth agents secrets set ${name} ${own}${hosts}`;
    }),
    ...notInstalled(installed.apt, `berth exec ${name} -- sudo apt-get install -y`),
    ...notInstalled(installed.npm, `berth exec ${name} -- sudo npm install -g`),
    ...(agents.length > 0 ? [`It could ask agents that are not here: ${agents.map(printable).join(", ")}`] : []),
    ...(hadDisk ? ["The disk in the archive is not used."] : []),
  ];
}

function notInstalled(packages: { name: string }[], command: string): string[] {
  if (packages.length === 0) return [];
  return [`Not installed again: ${command} ${packages.map(({ name }) => printable(name)).join(" ")}`];
}
