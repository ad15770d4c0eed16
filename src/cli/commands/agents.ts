import type { Agent, AgentLog, InstallStatus, LogEvent } from "@berth/client";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { faultText } from "../errors.ts";
import { positiveNumber } from "../options.ts";
import { Progress } from "../progress.ts";
import { fieldsText, statusCell, tableText } from "../table.ts";
import { printable, type Style } from "../terminal.ts";
import { localTime } from "../time.ts";
import { addArchiveCommands } from "./agents-archives.ts";
import { addNetworkCommands } from "./agents-network.ts";
import { addSecretCommands } from "./agents-secrets.ts";
import { addCreate, addUpdate } from "./agents-settings.ts";
import { addStateCommands } from "./agents-states.ts";
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

/** `berth agents`. The commands that create, change and move agents are in the files next to this one. */
export function register(program: ToolCommand): void {
  const agents = program.command("agents").description("manage agents");
  agents
    .command("list")
    .description("list your agents")
    .lists({
      list: () => connect().agents.list().take(),
      empty: "There are no agents yet. To create one: berth agents create NAME",
      columns: {
        NAME: "name",
        RUNTIME: "runtime",
        MODEL: ({ model }) => model ?? "default",
        STATUS: ({ status }) => statusCell(statusStyles, status),
      },
    });
  addCreate(agents);
  agents
    .command("get")
    .description("show an agent")
    .argument("<name>", "the agent's name")
    .prints((name: string) => connect().agent(name).get(), agentText);
  addUpdate(agents);
  addStateCommands(agents);
  addArchiveCommands(agents);
  agents
    .command("reset")
    .description("start a new conversation; the agent's files stay")
    .argument("<name>", "the agent's name")
    .confirms(
      (name: string) => `Start a new conversation with ${printable(name)}, and forget this one?`,
      "Nothing was changed.",
    )
    .prints(
      (name: string) => connect().agent(name).reset(),
      (_, name) => `${printable(name)} starts a new conversation. Its files are kept.`,
    );
  addTurnList(agents, "turns");
  addReports(agents);
  agents
    .command("delete")
    .description("delete an agent, its machine and its disk permanently")
    .argument("<name>", "the agent's name")
    .confirms(
      (name: string) => `Delete ${printable(name)}, its machine and its disk permanently?`,
      "Nothing was deleted.",
    )
    .prints(deleteAgent, (_, name) => `${printable(name)} is deleted.`);
  addNetworkCommands(agents);
  addSecretCommands(agents);
}

/** Adds `install-status` and `logs`. */
function addReports(agents: ToolCommand): void {
  agents
    .command("install-status")
    .description("show the progress of an agent's installation")
    .argument("<name>", "the agent's name")
    .option("-f, --follow", "show each change until it has finished")
    .streams(installStatuses, (status) => console.log(installStatusText(status)));
  agents
    .command("logs")
    .description("show the output of an agent's runner and runtime")
    .argument("<name>", "the agent's name")
    .option("-n, --tail <lines>", "how many of the most recent lines to show, at most 1000", positiveNumber, 100)
    .option("-f, --follow", "print new lines until Ctrl-C or until the machine stops")
    .streams(logEvents, (event) => {
      if ("lines" in event) for (const line of event.lines) console.log(printable(line));
      else if ("line" in event) console.log(printable(event.line));
    });
}

async function* installStatuses(name: string, { follow }: { follow?: true }): AsyncGenerator<InstallStatus> {
  const agent = connect().agent(name);
  if (follow) yield* agent.followInstall();
  else yield await agent.installStatus();
}

async function* logEvents(name: string, { tail, follow }: LogOptions): AsyncGenerator<AgentLog | LogEvent> {
  const agent = connect().agent(name);
  if (follow) yield* agent.followLog({ tail });
  else yield await agent.log({ tail });
}

async function deleteAgent(name: string): Promise<void> {
  using progress = new Progress(process.stderr);
  if (process.stderr.isTTY) progress.show(`deleting ${name}`);
  await connect().agent(name).delete();
}

function agentText(agent: Agent): string {
  const { cpus, memoryMiB, diskGiB } = agent.resources;
  return fieldsText({
    name: agent.name,
    runtime: agent.runtime,
    model: agent.model ?? "default",
    status: statusCell(statusStyles, agent.status),
    ...(agent.error ? { error: faultText(agent.error) } : {}),
    instructions: agent.instructions ?? "none",
    "may ask": agent.agents.join(", ") || "no other agent",
    "MCP servers": Object.keys(agent.mcpServers).join(", ") || "none",
    "snapshots before turns": agent.autoSnapshot === 0 ? "none" : `the last ${agent.autoSnapshot}`,
    machine: `${cpus} CPUs, ${memoryMiB} MiB of memory, ${diskGiB} GiB of disk`,
    image: imageText(agent),
    created: agent.createdAt,
    "last active": agent.lastActiveAt,
  });
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
