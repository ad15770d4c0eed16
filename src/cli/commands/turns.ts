import type { AgentHandle, Inclusion, Turn, TurnSummary } from "@berth/client";
import { Option } from "commander";
import type { ToolCommand } from "../command.ts";
import { connect } from "../connect.ts";
import { CliError, faultText } from "../errors.ts";
import { limitOption } from "../options.ts";
import { type Cell, fieldsText, statusCell, tableText } from "../table.ts";
import { columnsOf, cut, printable, type Style, writeText } from "../terminal.ts";
import { localTime } from "../time.ts";
import { usageText } from "../usage-text.ts";
import { note } from "../verbosity.ts";

const inclusions: Inclusion[] = ["status", "reasoning", "tools", "usage"];

const statusStyles: Record<Turn["status"], Style> = {
  running: "blue",
  completed: "green",
  failed: "red",
  cancelled: "yellow",
};

interface EventsOptions {
  include?: Inclusion[];
  after: number;
}

export function register(program: ToolCommand): void {
  const turns = program.command("turns").description("show and cancel turns");
  addTurnList(turns, "list");
  turns
    .command("recent")
    .description("show the newest turns of all agents, newest last")
    .addOption(limitOption(20))
    .prints(
      ({ limit }: { limit: number }) => connect().turns().take(limit),
      ({ data }) => (data.length === 0 ? note("No agent has received a message yet.") : recentTable(data.toReversed())),
    );
  turnCommand(turns, "show", "show a turn: its message, its complete reply and its cost").prints(
    async (name: string, id: string | undefined) => {
      const agent = connect().agent(name);
      return agent.turn(await idOf(agent, id));
    },
    (turn, name) => showTurn(connect().agent(name), turn),
  );
  turnCommand(turns, "events", "print a turn's events as JSON lines, until it has ended")
    .addOption(new Option("-i, --include <kinds...>", "further kinds of events").choices(inclusions))
    .option("--after <number>", "only events after the one with this id", Number, 0)
    .action(async (name: string, id: string | undefined, { include, after }: EventsOptions) => {
      const agent = connect().agent(name);
      const reply = agent.reply(await idOf(agent, id), { after, ...(include ? { include } : {}) });
      for await (const event of reply) writeText(process.stdout, `${JSON.stringify(event)}\n`);
    });
  turnCommand(turns, "cancel", "interrupt a turn").prints(
    async (name: string, id: string | undefined) => {
      const agent = connect().agent(name);
      await agent.cancel(await idOf(agent, id));
    },
    (_, name) => `Cancelling the turn of ${printable(name)}.`,
  );
}

/** Adds `berth turns list`, which is also `berth agents turns`. */
export function addTurnList(group: ToolCommand, verb: string): void {
  group
    .command(verb)
    .description("show an agent's messages and replies, newest last")
    .argument("<name>", "the agent's name")
    .addOption(limitOption(20))
    .addHelpText("after", "\nLong texts are truncated; --json has all of them, the newest first.")
    .prints(
      (name: string, { limit }: { limit: number }) => connect().agent(name).turns().take(limit),
      ({ data, nextCursor }, name) => {
        if (data.length === 0) return note(`${printable(name)} has received no messages yet.`);
        if (nextCursor !== null) note("There are older turns: --limit shows more.");
        return turnTable(data.toReversed());
      },
    );
}

function turnCommand(turns: ToolCommand, verb: string, description: string): ToolCommand {
  return turns
    .command(verb)
    .description(description)
    .argument("<agent>", "the agent's name")
    .argument("[turn]", "the turn's id; without it, the newest");
}

async function idOf(agent: AgentHandle, id: string | undefined): Promise<string> {
  if (id !== undefined) return id;
  const [newest] = (await agent.turns().take(1)).data;
  if (!newest) throw new CliError(`${printable(agent.name)} has received no messages yet.`);
  return newest.id;
}

async function showTurn(agent: AgentHandle, turn: Turn): Promise<void> {
  const fields = fieldsText({
    turn: turn.id,
    status: statusCell(statusStyles, turn.status),
    ...(turn.error ? { error: faultText(turn.error) } : {}),
    model: turn.model ?? "default",
    begun: localTime(turn.createdAt),
    ended: localTime(turn.finishedAt, "not yet"),
    usage: usageText(turn.usage),
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
}

/** The columns of the terminal that the time, the longest status and the gaps leave. */
function freeColumns(): number {
  const taken = "2026-01-02 03:04".length + "completed".length + 3 * 2;
  return (process.stdout.columns || 80) - 1 - taken;
}

/** Fewer columns would be useless. On a narrower terminal, lines wrap. */
const leastColumns = 10;

function recentTable(turns: readonly TurnSummary[]): string {
  const widest = Math.max("AGENT".length, ...turns.map(({ agent }) => agent.length));
  const left = Math.max(leastColumns, freeColumns() - widest);
  return tableText(
    {
      TIME: ({ createdAt }) => localTime(createdAt),
      STATUS: ({ status }) => statusCell(statusStyles, status),
      AGENT: "agent",
      MESSAGE: ({ message }) => cut(printable(message.trim()), left),
    },
    turns,
  );
}

/** One line per turn, as wide as the output. The reply gets the space the message leaves, at least half. */
function turnTable(turns: readonly Turn[]): string {
  const free = freeColumns();
  const half = Math.max(leastColumns, Math.floor(free / 2));
  const messageOf = ({ message }: Turn) => cut(printable(message.trim()), half);
  const widest = Math.max("MESSAGE".length, ...turns.map((turn) => columnsOf(messageOf(turn))));
  const left = Math.max(leastColumns, free - widest);
  return tableText(
    {
      TIME: ({ createdAt }) => localTime(createdAt),
      STATUS: ({ status }) => statusCell(statusStyles, status),
      MESSAGE: messageOf,
      REPLY: (turn) => outcomeCell(turn, left),
    },
    turns,
  );
}

/** The reply or, for a failed turn, the reason. Its code comes first, so that it is not truncated. */
function outcomeCell({ reply, error }: Turn, columns: number): Cell {
  if (error) return { text: cut(printable(`${error.code}: ${error.message}`), columns), style: "red" };
  return cut(printable(reply.trim()), columns);
}
