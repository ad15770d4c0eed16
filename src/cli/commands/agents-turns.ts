import type { Turn, TurnSummary } from "@berth/client";
import type { Command } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption, positiveNumber } from "../options.ts";
import { type Cell, formatTable } from "../table.ts";
import { columnsOf, cut, type Output, printable, type Style, writeJson } from "../terminal.ts";
import { localTime } from "../time.ts";
import { note } from "../verbosity.ts";

interface TurnsOptions extends CommonOptions {
  limit: number;
}

export const statusStyles: Record<Turn["status"], Style> = {
  running: "blue",
  completed: "green",
  failed: "red",
  cancelled: "yellow",
};

/** `berth agents turns NAME`, which is also `berth turns list NAME` */
export function register(agents: Command, verb = "turns"): void {
  agents
    .command(verb)
    .description("show an agent's messages and replies, newest last")
    .argument("<name>", "the agent's name")
    .option("-n, --limit <number>", "how many of the newest to show", positiveNumber, 20)
    .addOption(jsonOption())
    .addHelpText("after", "\nLong texts are cut; --json has all of them, the newest first.")
    .action(async (name: string, { limit, json }: TurnsOptions) => {
      const client = connect(readEnvironment());
      const turns = await client.agent(name).turns().take(limit);
      if (json) return writeJson(process.stdout, turns);
      const { data, nextCursor } = turns;
      if (data.length === 0) return note(`Nothing was said to ${printable(name)} yet.`);
      if (nextCursor !== null) note("There are older turns: --limit shows more.");
      process.stdout.write(turnTable(process.stdout, data.reverse()));
    });
}

/** `berth turns recent` */
export function registerRecent(turns: Command): void {
  turns
    .command("recent")
    .description("show the newest turns of all agents, newest last")
    .option("-n, --limit <number>", "how many of the newest to show", positiveNumber, 20)
    .addOption(jsonOption())
    .action(async ({ limit, json }: TurnsOptions) => {
      const client = connect(readEnvironment());
      const recent = await client.turns().take(limit);
      if (json) return writeJson(process.stdout, recent);
      if (recent.data.length === 0) return note("Nothing was said to any agent yet.");
      process.stdout.write(recentTable(process.stdout, recent.data.reverse()));
    });
}

function recentTable(output: Output, turns: readonly TurnSummary[]): string {
  const widest = Math.max("AGENT".length, ...turns.map(({ agent }) => agent.length));
  const left = Math.max(leastColumns, (output.columns || 80) - 1 - takenColumns - widest);
  const rows = turns.map(({ createdAt, status, agent, message }): Cell[] => [
    localTime(createdAt),
    { text: status, style: statusStyles[status] ?? "reset" },
    agent,
    cut(printable(message.trim()), left),
  ]);
  return formatTable(output, ["TIME", "STATUS", "AGENT", "MESSAGE"], rows);
}

const headings = ["TIME", "STATUS", "MESSAGE", "REPLY"];
/** The columns taken by the time, the longest status and the gaps between columns. */
const takenColumns = "2026-01-02 03:04".length + "completed".length + 3 * 2;
/** Fewer columns would be useless. On a narrower terminal, lines wrap. */
const leastColumns = 10;

/** One line per turn, as wide as the output. The reply gets the space the message leaves, at least half. */
function turnTable(output: Output, turns: readonly Turn[]): string {
  const free = (output.columns || 80) - 1 - takenColumns;
  const half = Math.max(leastColumns, Math.floor(free / 2));
  const messages = turns.map(({ message }) => cut(printable(message.trim()), half));
  const widest = Math.max("MESSAGE".length, ...messages.map(columnsOf));
  const left = Math.max(leastColumns, free - widest);
  const rows = turns.map((turn, index): Cell[] => [
    localTime(turn.createdAt),
    { text: turn.status, style: statusStyles[turn.status] ?? "reset" },
    messages[index]!,
    outcomeCell(turn, left),
  ]);
  return formatTable(output, headings, rows);
}

/** The reply or, for a failed turn, the reason. Its code comes first, so that it is not cut off. */
function outcomeCell({ reply, error }: Turn, columns: number): Cell {
  if (error) return { text: cut(printable(`${error.code}: ${error.message}`), columns), style: "red" };
  return cut(printable(reply.trim()), columns);
}
