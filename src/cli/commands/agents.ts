import { type Agent, type AgentLog, ApiError, type InstallStatus, type LogEvent } from "@berth/client";
import type { ToolCommand } from "../command.ts";
import { agentOf, connect } from "../connect.ts";
import { CliError, faultText } from "../errors.ts";
import { type InstallOptions, runInstallation, untilInstalled } from "../installation.ts";
import { noWaitOption, positiveNumber } from "../options.ts";
import { Progress } from "../progress.ts";
import { fieldsText, statusCell, tableText } from "../table.ts";
import { printable, type Style, writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";
import { addArchiveCommands } from "./agents-archives.ts";
import { addNetworkCommands } from "./agents-network.ts";
import { addSecretCommands } from "./agents-secrets.ts";
import { addCreate, addUpdate, limitsText, permissionsText, programText, visibilityText } from "./agents-settings.ts";
import { addTurnList } from "./turns.ts";

const statusStyles: Record<Agent["status"], Style> = {
  provisioning: "yellow",
  ready: "green",
  suspended: "blue",
  failed: "red",
  deleting: "dim",
};

interface LogOptions {
  tail: number;
  follow?: true;
}

interface UpgradeOptions extends InstallOptions {
  all?: true;
  dryRun?: true;
}

/** `berth agents`. Settings, archives, network and secrets have files of their own. */
export function register(program: ToolCommand): void {
  const agents = program.add("agents", "manage agents");
  agents.add("list", "list your agents").lists({
    list: () => connect().agents.list().take(),
    empty: "There are no agents yet. To create one: berth agents create NAME",
    columns: {
      NAME: "name",
      RUNTIME: "runtime",
      MODEL: ({ model }) => model ?? "default",
      STATUS: listedStatus,
    },
  });
  addCreate(agents);
  agents.add("get <name>", "show an agent").prints((name: string) => agentOf(name).get(), agentText);
  addUpdate(agents);
  addStateCommands(agents);
  addArchiveCommands(agents);
  agents
    .add("reset <name>", "start a new conversation; the agent's files stay")
    .confirms(
      (name: string) => `Start a new conversation with ${printable(name)}, and forget this one?`,
      "Nothing was changed.",
    )
    .prints(
      (name: string) => agentOf(name).reset(),
      (_, name) => `${printable(name)} starts a new conversation. Its files are kept.`,
    );
  addTurnList(agents, "turns");
  addReports(agents);
  agents
    .add("delete <name>", "delete an agent, its machine and its disk permanently")
    .confirms(
      (name: string) => `Delete ${printable(name)}, its machine and its disk permanently?`,
      "Nothing was deleted.",
    )
    .prints(deleteAgent, (_, name) => `${printable(name)} is deleted.`);
  addNetworkCommands(agents);
  addSecretCommands(agents);
}

/** Adds the commands that change the state of an agent's machine. */
function addStateCommands(agents: ToolCommand): void {
  agents
    .add("suspend <name>", "suspend an agent; its next message wakes it")
    .after("Idle agents are suspended automatically.")
    .prints(
      (name: string) => agentOf(name).suspend(),
      ({ status }, name) => `${printable(name)} is ${status}.`,
    );
  agents
    .add("resume <name>", "wake a suspended agent, or retry a failed one with its memory")
    .addOption(noWaitOption())
    .prints(
      (name: string, { wait }: InstallOptions) => agentOf(name).resume({ wait: wait ? "ready" : undefined }),
      ({ status }, name, { wait }) => `${printable(name)} is ${wait || status === "ready" ? status : "being woken"}.`,
    );
  agents
    .add("restart <name>", "reboot an agent's machine; its files and conversation stay")
    .addOption(noWaitOption())
    .option("--new-machine", "replace a lost machine with an empty one; its files are gone")
    .confirms((name: string, { newMachine }: { newMachine?: true }) => {
      const question = `Replace the machine of ${printable(name)} with an empty one? Its files are lost permanently.`;
      return newMachine ? question : null;
    }, "Nothing was changed.")
    .after("A running turn fails. A failed agent starts again.")
    .installs("restarted", (name: string, { newMachine }: { newMachine?: true }) =>
      agentOf(name).restart(newMachine ? { machine: "new" } : {}),
    );
  agents
    .add("upgrade [name]", "move agents to the runtimes of the newest image; files and conversation are kept")
    .option("--all", "upgrade every agent that has a newer image, one at a time")
    .option("--dry-run", "only list the agents that have a newer image")
    .addOption(noWaitOption())
    .after("A snapshot of each agent is created first. To undo an upgrade: berth agents rollback NAME SNAPSHOT")
    .runs(upgrade);
  const snapshot = "the snapshot's name or id (see berth snapshots list)";
  agents
    .add("rollback <name> <snapshot>", "restore an agent to a snapshot: files, running programs, conversation", {
      snapshot,
    })
    .addOption(noWaitOption())
    .confirms((name: string, to: string) => `Restore ${printable(name)} to ${printable(to)}?`, "Nothing was changed.")
    .after("A snapshot of the current state is created first, so that the rollback can be undone.")
    .installs("rolled back", (name: string, to: string) => agentOf(name).snapshots.rollBack(to));
}

/** Adds `install-status` and `logs`. */
function addReports(agents: ToolCommand): void {
  agents
    .add("install-status <name>", "show the progress of an agent's installation")
    .option("-f, --follow", "show each change until it has finished")
    .streams(
      async function* (name: string, { follow }: { follow?: true }) {
        if (follow) yield* agentOf(name).followInstall();
        else yield await agentOf(name).installStatus();
      },
      (status) => console.log(installStatusText(status)),
    );
  agents
    .add("logs <name>", "show the output of an agent's runner and runtime")
    .option("-n, --tail <lines>", "how many of the most recent lines to show, at most 1000", positiveNumber, 100)
    .option("-f, --follow", "print new lines until Ctrl-C or until the machine stops")
    .streams(
      async function* (name: string, { tail, follow }: LogOptions): AsyncGenerator<AgentLog | LogEvent> {
        if (follow) yield* agentOf(name).followLog({ tail });
        else yield await agentOf(name).log({ tail });
      },
      (event) => {
        const lines = "lines" in event ? event.lines : "line" in event ? [event.line] : [];
        for (const line of lines) console.log(printable(line));
      },
    );
}

async function deleteAgent(name: string): Promise<void> {
  using progress = new Progress(process.stderr);
  if (process.stderr.isTTY) progress.show(`deleting ${name}`);
  await agentOf(name).delete();
}

function listedStatus({ status, private: isPrivate }: Agent) {
  return { text: isPrivate ? `${status}, private` : status, style: statusStyles[status] ?? ("reset" as const) };
}

function agentText(agent: Agent): string {
  const { cpus, memoryMiB, diskGiB } = agent.resources;
  return fieldsText({
    name: agent.name,
    runtime: agent.runtime,
    ...(agent.acp ? { program: programText(agent.acp) } : {}),
    model: agent.model ?? "default",
    ...(agent.effort === null ? {} : { effort: agent.effort }),
    ...(agent.fallbackModels.length > 0 ? { fallbacks: agent.fallbackModels.join(", ") } : {}),
    status: statusCell(statusStyles, agent.status),
    ...(agent.queueLength > 0 ? { queue: queueText(agent) } : {}),
    visible: visibilityText(agent),
    ...(agent.maker ? { maker: agent.maker.name } : {}),
    ...(agent.error ? { error: faultText(agent.error) } : {}),
    instructions: agent.instructions ?? "none",
    "may ask": agent.agents.join(", ") || "no other agent",
    "MCP servers": Object.keys(agent.mcpServers).join(", ") || "none",
    permissions: permissionsText(agent.permissions),
    "limits of a turn": limitsText(agent),
    "snapshots before turns": agent.autoSnapshot === 0 ? "none" : `the last ${agent.autoSnapshot}`,
    machine: `${cpus} CPUs, ${memoryMiB} MiB of memory, ${diskGiB} GiB of disk`,
    image: imageText(agent),
    created: agent.createdAt,
    "last active": agent.lastActiveAt,
  });
}

function queueText({ name, queueLength, queue }: Agent): string {
  const length = queueLength === 1 ? "1 message waits" : `${queueLength} messages wait`;
  const why = queue.held === "failed" ? "a turn failed" : "a turn was cancelled";
  return queue.held === null ? length : `${length}; held, since ${why}: berth queue resume ${name}`;
}

function imageText({ name, image }: Agent): string {
  if (image === null) return "none yet";
  return image.upgradeAvailable ? `${image.id}; a newer one is available: berth agents upgrade ${name}` : image.id;
}

function installStatusText({ status, progress, steps, error }: InstallStatus): string {
  const table = tableText(
    {
      STEP: "name",
      STATUS: "status",
      BEGUN: ({ startedAt }) => localTime(startedAt),
      ENDED: ({ finishedAt }) => localTime(finishedAt),
    },
    steps,
  );
  return `${status}, ${Math.round(progress * 100)} %${error ? `: ${faultText(error)}` : ""}\n${table}`;
}

async function upgrade(name: string | undefined, options: UpgradeOptions): Promise<void> {
  if ((name === undefined) !== (options.all ?? false)) throw new CliError("Give an agent's name or --all.", 2);
  if (!options.dryRun) return name === undefined ? upgradeAll(options) : upgradeOne(name, options);
  const agents = await upgradable(name);
  if (options.json) return writeJson(process.stdout, { data: agents });
  if (agents.length === 0) return note("No newer image is available.");
  const columns = {
    NAME: "name",
    RUNTIME: "runtime",
    STATUS: "status",
    IMAGE: ({ image }: Agent) => image!.id,
  } as const;
  console.log(tableText(columns, agents));
}

/** This agent if it has a newer image to upgrade to; without a name, all such agents. */
async function upgradable(name: string | undefined): Promise<Agent[]> {
  const found = name === undefined ? await connect().agents.list().all() : [await agentOf(name).get()];
  return found.filter(({ image }) => image?.upgradeAvailable);
}

async function upgradeOne(name: string, options: UpgradeOptions): Promise<void> {
  const agent = await agentOf(name).upgrade();
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
    await agentOf(name).upgrade();
    if (wait) await untilInstalled(name, null);
    return null;
  } catch (error) {
    if (error instanceof ApiError || error instanceof CliError) return error.message;
    throw error;
  }
}
