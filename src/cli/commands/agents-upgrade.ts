import { type Agent, ApiError, type Berth } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { runInstallation, untilInstalled } from "../installation.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { Progress } from "../progress.ts";
import { formatTable } from "../table.ts";
import { printable, writeJson } from "../terminal.ts";
import { note } from "../verbosity.ts";

interface UpgradeOptions extends CommonOptions {
  all?: true;
  dryRun?: true;
  wait: boolean;
}

/** What became of one of all agents: `error` says why it was left as it is. */
interface Outcome {
  name: string;
  error: string | null;
}

/** `berth agents upgrade NAME|--all` */
export function register(agents: Command): void {
  agents
    .command("upgrade")
    .description("give agents the runtimes of the newest image; files and conversation stay")
    .argument("[name]", "the agent's name")
    .option("--all", "all agents that a newer image waits for, one after the other")
    .option("--dry-run", "only show which agents those are")
    .option("--no-wait", "do not wait until the agent is ready")
    .addOption(jsonOption())
    .addHelpText("after", "\nEach is kept as a snapshot first: berth agents rollback NAME SNAPSHOT undoes its upgrade.")
    .action(async (name: string | undefined, options: UpgradeOptions) => {
      if ((name === undefined) !== (options.all ?? false)) throw new CliError("Give an agent's name or --all.", 2);
      const client = connect(readEnvironment());
      if (options.dryRun) return show(await waiting(client, name), options);
      return name === undefined ? upgradeAll(client, options) : upgradeOne(client, name, options);
    });
}

/** The agents that a newer image waits for: this one, or all. */
async function waiting(client: Berth, name: string | undefined): Promise<Agent[]> {
  const found = name === undefined ? (await client.agents.list().take()).data : [await client.agent(name).get()];
  return found.filter(({ image }) => image?.upgradeAvailable);
}

function show(agents: readonly Agent[], { json }: UpgradeOptions): void {
  const rows = agents.map(({ name, runtime, status, image }) => [name, runtime, status, image!.id]);
  if (json) writeJson(process.stdout, { data: agents });
  else if (rows.length === 0) note("No newer image waits.");
  else process.stdout.write(formatTable(process.stdout, ["NAME", "RUNTIME", "STATUS", "IMAGE"], rows));
}

async function upgradeOne(client: Berth, name: string, { wait, json }: UpgradeOptions): Promise<void> {
  const agent = await client.agent(name).upgrade();
  if (agent.status === "provisioning" || json) {
    const begin = async () => agent;
    return runInstallation(client, { name, doing: "upgraded", begin, wait, json: json ?? false });
  }
  console.log(`${printable(name)} has the newest image already.`);
}

async function upgradeAll(client: Berth, { wait, json }: UpgradeOptions): Promise<void> {
  const agents = await waiting(client, undefined);
  const outcomes: Outcome[] = [];
  using progress = new Progress(process.stderr);
  for (const [at, { name }] of agents.entries()) {
    progress.show(`upgrading ${name} (${at + 1} of ${agents.length})`);
    outcomes.push({ name, error: await refusal(client, name, wait) });
  }
  progress[Symbol.dispose]();
  const left = outcomes.filter(({ error }) => error !== null);
  if (left.length > 0) process.exitCode = 1;
  if (json) return writeJson(process.stdout, { data: outcomes });
  for (const { name, error } of left) console.error(`${printable(name)} is as it was: ${printable(error!)}`);
  if (agents.length === 0) note("No newer image waits.");
  else console.log(`${outcomes.length - left.length} of ${outcomes.length} agents were upgraded.`);
}

/** Upgrades one of many. Why it was not; null if it was. An agent that answers a message keeps no other one waiting. */
async function refusal(client: Berth, name: string, wait: boolean): Promise<string | null> {
  try {
    await client.agent(name).upgrade();
    if (wait) await untilInstalled(client, name, null);
    return null;
  } catch (error) {
    if (error instanceof ApiError || error instanceof CliError) return error.message;
    throw error;
  }
}
