import type { Command } from "commander";
import type { Agent, InstallStatus } from "../../contract/agents.ts";
import { agentPath, Client } from "../client.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { followEvents } from "../follow.ts";
import { installText } from "../install-text.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { Progress } from "../progress.ts";
import { printable, writeJson } from "../terminal.ts";

interface CreateOptions extends CommonOptions {
  runtime?: string;
  model?: string;
  instructions?: string;
  wait: boolean;
}

/** `berth agents create NAME` */
export function registerCreate(agents: Command): void {
  agents
    .command("create")
    .description("create an agent and wait until it is ready")
    .argument("<name>", "3 to 30 characters: a-z, 0-9 and hyphens, starting with a letter")
    .option("-r, --runtime <runtime>", "what it is built on (berth runtimes lists them)")
    .option("-m, --model <model>", "the model's id (berth models lists them); else the runtime's own default")
    .option("-i, --instructions <text>", "what the agent is told in every turn; - reads standard input")
    .option("--no-wait", "return as soon as the agent is being created")
    .addOption(jsonOption())
    .action(createAgent);
}

async function createAgent(name: string, { wait, json, ...fields }: CreateOptions): Promise<void> {
  const client = await Client.connect(readEnvironment());
  using progress = new Progress(process.stderr);
  const created = await client.json<Agent>("POST", "/agents", { json: { name, ...fields } });
  if (wait) await followInstallation(client, name, json ? null : progress);
  const { seconds } = progress;
  progress[Symbol.dispose]();
  if (json) writeJson(process.stdout, wait ? await client.json("GET", agentPath(name)) : created);
  else if (wait)
    console.log(`${printable(name)} is ready (${seconds.toFixed(1)} s). To talk to it: berth chat ${name}`);
  else console.log(`${printable(name)} is being created. To look at it: berth agents get ${name}`);
}

/** Resolves when the agent is installed. Throws `CliError` when that has failed. */
async function followInstallation(client: Client, name: string, progress: Progress | null): Promise<void> {
  const headers = { accept: "text/event-stream" };
  const statuses = followEvents<InstallStatus>({
    open: () => client.request("GET", `${agentPath(name)}/install-status`, { headers }),
    isLast: ({ status }) => status === "installed" || status === "failed",
  });
  for await (const status of statuses) {
    if (status.status === "failed") throw new CliError(status.error?.message ?? `${name} could not be installed.`);
    if (status.status !== "installed") progress?.show(installText(status));
  }
}
