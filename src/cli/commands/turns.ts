import {
  type AgentChanges,
  type AgentHandle,
  authorText,
  type FileChange,
  type Inclusion,
  type Turn,
  type TurnChanges,
  type TurnChangesWithDiffs,
  type TurnSummary,
} from "@berth/client";
import { Option } from "commander";
import type { ToolCommand } from "../command.ts";
import { agentOf, connect } from "../connect.ts";
import { CliError, faultText } from "../errors.ts";
import { conversationOption, limitOption, noWaitOption } from "../options.ts";
import { type Cell, type Columns, fieldsText, statusCell } from "../table.ts";
import { columnsOf, cut, printable, type Style, writeText } from "../terminal.ts";
import { localTime } from "../time.ts";
import { usageText } from "../usage-text.ts";

const inclusions: Inclusion[] = ["status", "reasoning", "tools", "usage", "approvals"];

const statusStyles: Record<Turn["status"], Style> = {
  queued: "dim",
  running: "blue",
  waiting: "magenta",
  completed: "green",
  failed: "red",
  cancelled: "yellow",
};

interface EventsOptions {
  include?: Inclusion[];
  after: number;
}

const about = { turn: "the turn's id; without it, the newest" };

export function register(program: ToolCommand): void {
  const turns = program.add("turns", "show and cancel turns");
  addTurnList(turns, "list");
  turns
    .add("recent", "show the newest turns of all agents, newest last")
    .addOption(limitOption(20))
    .lists({
      list: ({ limit }: { limit: number }) => connect().turns().take(limit),
      empty: "No agent has received a message yet.",
      newestFirst: true,
      columns: recentColumns,
    });
  turns.add("show <agent> [turn]", "show a turn: its message, its complete reply and its cost", about).prints(
    async (name: string, id: string | undefined) => agentOf(name).turn(await idOf(agentOf(name), id)),
    (turn, name) => showTurn(agentOf(name), turn),
  );
  turns
    .add("events <agent> [turn]", "print a turn's events as JSON lines, until it has ended", about)
    .addOption(new Option("-i, --include <kinds...>", "further kinds of events").choices(inclusions))
    .option("--after <number>", "only events after the one with this id", Number, 0)
    .action(async (name: string, id: string | undefined, { include, after }: EventsOptions) => {
      const agent = agentOf(name);
      const reply = agent.reply(await idOf(agent, id), { after, ...(include ? { include } : {}) });
      for await (const event of reply) writeText(process.stdout, `${JSON.stringify(event)}\n`);
    });
  turns
    .add("changes <agent> [turn]", "show the files that a turn created, changed and deleted", about)
    .option("--names", "only the files, without their diffs")
    .option("--since <point>", "of all turns since a snapshot, or from a turn on, as one list")
    .prints(
      (name: string, id: string | undefined, { since }: ChangesOptions) => changesOf(agentOf(name), id, since),
      (changes, _, __, { names = false }) => writeText(process.stdout, changesText(changes, names)),
    );
  turns
    .add("revert <agent> <turn> <files...>", "take back what a turn changed in files", {
      files: "as turns changes lists them",
    })
    .option("--again", "make the turn's changes again, which undoes a revert")
    .after("Nothing is changed if a file has other changes at the same lines.")
    .prints(
      (name: string, id: string, files: string[], { again = false }: { again?: boolean }) =>
        agentOf(name).revert(id, { files, to: again ? "after" : "before" }),
      ({ files }) => writeText(process.stdout, files.map(fileLine).join("")),
    );
  turns
    .add("restore <agent> <turn>", "restore an agent to before a turn: files and conversations", about)
    .addOption(noWaitOption())
    .confirms(
      (name: string, id: string) => `Restore ${printable(name)} to before the turn ${printable(id)}?`,
      "Nothing was changed.",
    )
    .after("The agent keeps a snapshot from before each of its last turns: berth agents update NAME --auto-snapshot N.")
    .installs("rolled back", (name: string, id: string) => agentOf(name).restore(id));
  turns.add("cancel <agent> [turn]", "interrupt a turn", about).prints(
    async (name: string, id: string | undefined) => agentOf(name).cancel(await idOf(agentOf(name), id)),
    (_, name) => `Cancelling the turn of ${printable(name)}.`,
  );
}

/** Adds `berth turns list`, which is also `berth agents turns`. */
export function addTurnList(group: ToolCommand, verb: string): void {
  group
    .add(`${verb} <name>`, "show an agent's messages and replies, newest last")
    .addOption(limitOption(20))
    .addOption(conversationOption("only turns of this conversation"))
    .after("Long texts are truncated; --json has all of them, the newest first.")
    .lists({
      list: (name: string, { limit, conversation }: { limit: number; conversation?: number }) =>
        agentOf(name).turns({ conversation }).take(limit),
      empty: (name) => `${printable(name)} has received no messages yet.`,
      newestFirst: true,
      older: "There are older turns: --limit shows more.",
      columns: turnColumns,
    });
}

async function idOf(agent: AgentHandle, id: string | undefined): Promise<string> {
  if (id !== undefined) return id;
  const [newest] = (await agent.turns().take(1)).data;
  if (!newest) throw new CliError(`${printable(agent.name)} has received no messages yet.`);
  return newest.id;
}

const signs = { created: "+", changed: "~", deleted: "-" } as const;

interface ChangesOptions {
  names?: boolean;
  since?: string;
}

async function changesOf(
  agent: AgentHandle,
  id: string | undefined,
  since: string | undefined,
): Promise<TurnChangesWithDiffs | AgentChanges> {
  if (since === undefined) return agent.changes(await idOf(agent, id));
  if (id === undefined) return agent.changesSince({ since });
  throw new CliError("Pass a turn or --since, not both.");
}

function fileLine({ name, change }: Pick<FileChange, "name" | "change">): string {
  return `${signs[change]} ${printable(name)}\n`;
}

/** Each file with its diff, and a line with the counts. */
function changesText(changes: TurnChangesWithDiffs | AgentChanges, namesOnly: boolean): string {
  const files = changes.files.map((file) => {
    return file.diff === null || namesOnly ? fileLine(file) : `${fileLine(file)}${file.diff}\n`;
  });
  return `${files.join("")}${countsText(changes)}${changes.cut ? "; not all are listed" : ""}\n`;
}

function countsText({ created, changed, deleted }: Pick<TurnChanges, "created" | "changed" | "deleted">): string {
  return `${created} created, ${changed} changed, ${deleted} deleted`;
}

async function showTurn(agent: AgentHandle, turn: Turn): Promise<void> {
  const fields = fieldsText({
    turn: turn.id,
    status: statusCell(statusStyles, turn.status),
    ...(turn.error ? { error: faultText(turn.error) } : {}),
    model: turn.model ?? "default",
    by: turn.createdBy ? printable(authorText(turn.createdBy)) : "unknown",
    begun: localTime(turn.createdAt),
    ended: localTime(turn.finishedAt, "not yet"),
    usage: usageText(turn.usage),
    files: turn.changes ? countsText(turn.changes) : "not known",
  });
  console.log(fields);
  writeText(process.stdout, `\n> ${turn.message.replaceAll("\n", "\n> ")}\n\n`);
  if (!turn.replyTruncated) writeText(process.stdout, turn.reply);
  else {
    for await (const event of agent.reply(turn.id)) {
      if (event.type === "response.output_text.delta") writeText(process.stdout, event.delta);
    }
  }
  process.stdout.write("\n");
  if (turn.output) writeText(process.stdout, `${JSON.stringify(turn.output, null, 2)}\n`);
}

/** The columns of the terminal that the time, the longest status and the gaps leave. */
function freeColumns(): number {
  const taken = "2026-01-02 03:04".length + "completed".length + 3 * 2;
  return (process.stdout.columns || 80) - 1 - taken;
}

/** Fewer columns would be useless. On a narrower terminal, lines wrap. */
const leastColumns = 10;

const startColumns: Columns<Pick<TurnSummary, "createdAt" | "status">> = {
  TIME: ({ createdAt }) => localTime(createdAt),
  STATUS: ({ status }) => statusCell(statusStyles, status),
};

function recentColumns(turns: readonly TurnSummary[]): Columns<TurnSummary> {
  const widest = Math.max("AGENT".length, ...turns.map(({ agent }) => agent.length));
  const left = Math.max(leastColumns, freeColumns() - widest);
  return { ...startColumns, AGENT: "agent", MESSAGE: ({ message }) => cut(printable(message.trim()), left) };
}

/** One line per turn, as wide as the output. The reply gets the space the message leaves, at least half. */
function turnColumns(turns: readonly Turn[]): Columns<Turn> {
  const free = freeColumns();
  const half = Math.max(leastColumns, Math.floor(free / 2));
  const messageOf = ({ message }: Turn) => cut(printable(message.trim()), half);
  const widest = Math.max("MESSAGE".length, ...turns.map((turn) => columnsOf(messageOf(turn))));
  const left = Math.max(leastColumns, free - widest);
  return { ...startColumns, MESSAGE: messageOf, REPLY: (turn) => outcomeCell(turn, left) };
}

/** The reply or, for a failed turn, the reason. Its code comes first, so that it is not truncated. */
function outcomeCell({ reply, error }: Turn, columns: number): Cell {
  if (error) return { text: cut(printable(`${error.code}: ${error.message}`), columns), style: "red" };
  return cut(printable(reply.trim()), columns);
}
