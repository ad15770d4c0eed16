import type { AgentHandle, Inclusion, Turn } from "@berth/client";
import { type Command, Option } from "commander";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError, faultText } from "../errors.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { type Cell, formatFields } from "../table.ts";
import { printable, writeJson, writeText } from "../terminal.ts";
import { localTime } from "../time.ts";
import { usageText } from "../usage-text.ts";
import { registerRecent, register as registerTurns, statusStyles } from "./agents-turns.ts";

interface EventsOptions extends CommonOptions {
  include?: Inclusion[];
  after: number;
}

const inclusions: Inclusion[] = ["status", "reasoning", "tools", "usage"];

/** `berth turns list|show|events|cancel AGENT [TURN]`, and `berth turns recent` */
export function register(turns: Command): void {
  registerTurns(turns, "list");
  registerRecent(turns);
  turnCommand(turns, "show", "show a turn: its message, its whole reply and what it cost")
    .addOption(jsonOption())
    .action(async (name: string, id: string | undefined, { json }: CommonOptions) => {
      const agent = connect(readEnvironment()).agent(name);
      const turn = await agent.turn(await idOf(agent, id));
      if (json) writeJson(process.stdout, turn);
      else await showTurn(agent, turn);
    });
  turnCommand(turns, "events", "print a turn's events as JSON lines, until it has ended")
    .addOption(new Option("-i, --include <kinds...>", "further kinds of events").choices(inclusions))
    .option("--after <number>", "only events after this one", Number, 0)
    .action(async (name: string, id: string | undefined, { include, after }: EventsOptions) => {
      const agent = connect(readEnvironment()).agent(name);
      const reply = agent.reply(await idOf(agent, id), { after, ...(include ? { include } : {}) });
      for await (const event of reply) writeText(process.stdout, `${JSON.stringify(event)}\n`);
    });
  turnCommand(turns, "cancel", "interrupt a turn")
    .addOption(jsonOption())
    .action(async (name: string, id: string | undefined, { json }: CommonOptions) => {
      const agent = connect(readEnvironment()).agent(name);
      await agent.cancel(await idOf(agent, id));
      if (json) writeJson(process.stdout, null);
      else console.log(`The turn of ${printable(name)} is being interrupted.`);
    });
}

function turnCommand(turns: Command, verb: string, description: string): Command {
  return turns
    .command(verb)
    .description(description)
    .argument("<agent>", "the agent's name")
    .argument("[turn]", "the turn's id; without it, the newest");
}

async function idOf(agent: AgentHandle, id: string | undefined): Promise<string> {
  if (id !== undefined) return id;
  const [newest] = (await agent.turns().take(1)).data;
  if (!newest) throw new CliError(`Nothing was said to ${printable(agent.name)} yet.`);
  return newest.id;
}

async function showTurn(agent: AgentHandle, turn: Turn): Promise<void> {
  const fields: Record<string, Cell> = {
    turn: turn.id,
    status: { text: turn.status, style: statusStyles[turn.status] ?? "reset" },
    ...(turn.error ? { error: faultText(turn.error) } : {}),
    model: turn.model ?? "default",
    begun: localTime(turn.createdAt),
    ended: turn.finishedAt === null ? "not yet" : localTime(turn.finishedAt),
    usage: usageText(turn.usage),
  };
  process.stdout.write(formatFields(process.stdout, fields));
  writeText(process.stdout, `\n> ${turn.message.replaceAll("\n", "\n> ")}\n\n`);
  if (!turn.replyTruncated) writeText(process.stdout, turn.reply);
  else {
    for await (const event of agent.reply(turn.id)) {
      if (event.type === "response.output_text.delta") writeText(process.stdout, event.delta);
    }
  }
  process.stdout.write("\n");
}
