import type { Command as CommandRecord, CommandResult } from "@berth/client";
import { outputBytes } from "@berth/client";
import { type Command, Option } from "commander";
import { commandSignals } from "../../contract/commands.ts";
import { printOutput, sendInput } from "../command-streams.ts";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { type CommonOptions, jsonOption } from "../options.ts";
import { formatFields, formatTable } from "../table.ts";
import { cut, printable, writeJson, writeText } from "../terminal.ts";
import { localTime } from "../time.ts";

/** How many columns of a command are shown in a list. */
const shownColumns = 60;

/** `berth commands list|show|logs|input|signal AGENT [COMMAND]` */
export function register(commands: Command): void {
  commands
    .command("list")
    .description("list the commands that run in an agent's machine, and the last that ended")
    .argument("<agent>", "the agent's name")
    .addOption(jsonOption())
    .action(async (name: string, { json }: CommonOptions) => {
      const data = await connect(readEnvironment()).agent(name).commands.list();
      if (json) writeJson(process.stdout, { data, nextCursor: null });
      else process.stdout.write(formatTable(process.stdout, ["ID", "STARTED", "STATUS", "COMMAND"], data.map(rowOf)));
    });
  one(commands, "show", "show a command")
    .addOption(jsonOption())
    .action(async (name: string, id: string, { json }: CommonOptions) => {
      const command = await connect(readEnvironment()).agent(name).commands.get(id);
      if (json) writeJson(process.stdout, command);
      else process.stdout.write(formatFields(process.stdout, fieldsOf(command)));
    });
  one(commands, "logs", "print a command's output from its beginning, until it ends")
    .option("--json", "print its events as JSON lines")
    .action(async (name: string, id: string, { json }: CommonOptions) => {
      for await (const event of connect(readEnvironment()).agent(name).commands.events(id)) {
        if (json) writeText(process.stdout, `${JSON.stringify(event)}\n`);
        else if (event.type === "command.stdout") await printOutput(process.stdout, outputBytes(event));
        else if (event.type === "command.stderr") await printOutput(process.stderr, outputBytes(event));
        else if (event.type === "command.output_dropped")
          console.error(`${event.bytes} bytes of older output are gone.`);
      }
    });
  one(commands, "input", "write standard input to a command that was started with an open input")
    .option("--end", "close the command's input afterwards")
    .action(async (name: string, id: string, { end }: { end?: true }) => {
      const agent = connect(readEnvironment()).agent(name);
      await sendInput(agent, id, { end: end ?? false });
    });
  one(commands, "signal", "send a signal to a command and what it has started")
    .addOption(new Option("-s, --signal <signal>", "the signal").choices(commandSignals).default("SIGTERM"))
    .addOption(jsonOption())
    .action(async (name: string, id: string, { signal, json }: SignalOptions) => {
      await connect(readEnvironment()).agent(name).commands.signal(id, signal);
      if (json) writeJson(process.stdout, null);
      else console.log(`${signal} was sent.`);
    });
}

interface SignalOptions extends CommonOptions {
  signal: (typeof commandSignals)[number];
}

function one(commands: Command, verb: string, description: string): Command {
  return commands
    .command(verb)
    .description(description)
    .argument("<agent>", "the agent's name")
    .argument("<command>", "the command's id");
}

function rowOf(command: CommandRecord): string[] {
  return [command.id, localTime(command.startedAt), statusOf(command), cut(printable(textOf(command)), shownColumns)];
}

function fieldsOf(command: CommandRecord): Record<string, string> {
  const { id, cwd, user, startedAt, exitedAt, outputBytes: bytes } = command;
  return {
    command: textOf(command),
    id,
    status: statusOf(command),
    folder: cwd,
    user,
    started: localTime(startedAt),
    ended: exitedAt === null ? "not yet" : localTime(exitedAt),
    output: `${bytes} bytes`,
  };
}

function textOf({ command }: CommandRecord): string {
  return typeof command === "string" ? command : command.join(" ");
}

function statusOf({ status, exitCode, signal, timedOut, lost }: CommandRecord & Partial<CommandResult>): string {
  if (status === "running") return "running";
  if (lost) return "lost";
  if (timedOut) return "timed out";
  return signal ?? `exited ${exitCode}`;
}
