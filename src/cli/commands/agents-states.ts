import { type Agent, ApiError } from "@berth/client";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { type InstallOptions, runInstallation, untilInstalled } from "../installation.ts";
import { jsonOption, noWaitOption } from "../options.ts";
import { Progress } from "../progress.ts";
import { type Columns, tableText } from "../table.ts";
import { printable, writeJson } from "../terminal.ts";
import { note } from "../verbosity.ts";

interface UpgradeOptions extends InstallOptions {
  all?: true;
  dryRun?: true;
}

/**
 * Adds the commands that change the state of an agent's machine: `suspend`, `resume`, `restart`, `upgrade`, `rollback`.
 */
export function addStateCommands(agents: ToolCommand): void {
  agents
    .command("suspend")
    .description("suspend an agent; its next message wakes it")
    .argument("<name>", "the agent's name")
    .addHelpText("after", "\nIdle agents are suspended automatically.")
    .prints(
      (name: string) => connect().agent(name).suspend(),
      ({ status }, name) => `${printable(name)} is ${status}.`,
    );
  agents
    .command("resume")
    .description("wake a suspended agent, or retry a failed one with its memory")
    .argument("<name>", "the agent's name")
    .addOption(noWaitOption())
    .prints(
      (name: string, { wait }: InstallOptions) =>
        connect()
          .agent(name)
          .resume({ wait: wait ? "ready" : undefined }),
      ({ status }, name, { wait }) => `${printable(name)} is ${wait || status === "ready" ? status : "being woken"}.`,
    );
  agents
    .command("restart")
    .description("reboot an agent's machine; its files and conversation stay")
    .argument("<name>", "the agent's name")
    .addOption(noWaitOption())
    .option("--new-machine", "replace a lost machine with an empty one; its files are gone")
    .confirms(
      (name: string, { newMachine }: { newMachine?: true }) =>
        newMachine
          ? `Replace the machine of ${printable(name)} with an empty one? Its files are lost permanently.`
          : null,
      "Nothing was changed.",
    )
    .addHelpText("after", "\nA running turn fails. A failed agent starts again.")
    .installs("restarted", (name: string, { newMachine }: { newMachine?: true }) =>
      connect()
        .agent(name)
        .restart(newMachine ? { machine: "new" } : {}),
    );
  addUpgrade(agents);
  agents
    .command("rollback")
    .description("restore an agent to a snapshot: files, running programs, conversation")
    .argument("<name>", "the agent's name")
    .argument("<snapshot>", "the snapshot's name or id (see berth snapshots list)")
    .addOption(noWaitOption())
    .confirms(
      (name: string, snapshot: string) => `Restore ${printable(name)} to ${printable(snapshot)}?`,
      "Nothing was changed.",
    )
    .addHelpText("after", "\nA snapshot of the current state is created first, so that the rollback can be undone.")
    .installs("rolled back", (name: string, snapshot: string) => connect().agent(name).snapshots.rollBack(snapshot));
}

function addUpgrade(agents: ToolCommand): void {
  agents
    .command("upgrade")
    .description("move agents to the runtimes of the newest image; files and conversation are kept")
    .argument("[name]", "the agent's name")
    .option("--all", "upgrade every agent that has a newer image, one at a time")
    .option("--dry-run", "only list the agents that have a newer image")
    .addOption(noWaitOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nA snapshot of each agent is created first. To undo an upgrade: berth agents rollback NAME SNAPSHOT",
    )
    .action(async (name: string | undefined, options: UpgradeOptions) => {
      if ((name === undefined) !== (options.all ?? false)) throw new CliError("Give an agent's name or --all.", 2);
      if (options.dryRun) return showUpgradable(await upgradable(name), options);
      return name === undefined ? upgradeAll(options) : upgradeOne(name, options);
    });
}

/** This agent if it has a newer image to upgrade to; without a name, all such agents. */
async function upgradable(name: string | undefined): Promise<Agent[]> {
  const found = name === undefined ? await connect().agents.list().all() : [await connect().agent(name).get()];
  return found.filter(({ image }) => image?.upgradeAvailable);
}

function showUpgradable(agents: readonly Agent[], { json }: UpgradeOptions): void {
  const columns: Columns<Agent> = {
    NAME: "name",
    RUNTIME: "runtime",
    STATUS: "status",
    IMAGE: ({ image }) => image!.id,
  };
  if (json) writeJson(process.stdout, { data: agents });
  else if (agents.length === 0) note("No newer image is available.");
  else console.log(tableText(columns, agents));
}

async function upgradeOne(name: string, options: UpgradeOptions): Promise<void> {
  const agent = await connect().agent(name).upgrade();
  if (agent.status === "provisioning" || options.json) {
    return runInstallation("upgraded", async () => agent, options);
  }
  console.log(`${printable(name)} has the newest image already.`);
}

async function upgradeAll({ wait, json }: UpgradeOptions): Promise<void> {
  const agents = await upgradable(undefined);
  const outcomes: { name: string; error: string | null }[] = [];
  using progress = new Progress(process.stderr);
  for (const [at, { name }] of agents.entries()) {
    progress.show(`upgrading ${name} (${at + 1} of ${agents.length})`);
    outcomes.push({ name, error: await upgradeError(name, wait) });
  }
  progress[Symbol.dispose]();
  const failed = outcomes.filter(({ error }) => error !== null);
  if (failed.length > 0) process.exitCode = 1;
  if (json) return writeJson(process.stdout, { data: outcomes });
  for (const { name, error } of failed) console.error(`${printable(name)} was not changed: ${printable(error!)}`);
  if (agents.length === 0) note("No newer image is available.");
  else console.log(`${outcomes.length - failed.length} of ${outcomes.length} agents were upgraded.`);
}

/** Upgrades one of many and returns why that failed, null if it did not. One failure does not stop the others. */
async function upgradeError(name: string, wait: boolean): Promise<string | null> {
  try {
    await connect().agent(name).upgrade();
    if (wait) await untilInstalled(name, null);
    return null;
  } catch (error) {
    if (error instanceof ApiError || error instanceof CliError) return error.message;
    throw error;
  }
}
