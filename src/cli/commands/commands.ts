import { type Command as CommandRecord, type CommandResult, outputBytes } from "@berth/client";
import { Option } from "commander";
import { commandSignals } from "../../contract/commands.ts";
import type { ToolCommand } from "../command.ts";
import { printOutput, sendInput } from "../command-streams.ts";
import { connect } from "../connect.ts";
import type { CommonOptions } from "../options.ts";
import { fieldsText } from "../table.ts";
import { cut, printable, writeText } from "../terminal.ts";
import { localTime } from "../time.ts";

/** The columns of a command that a list shows. */
const shownColumns = 60;

interface SignalOptions {
  signal: (typeof commandSignals)[number];
}

export function register(program: ToolCommand): void {
  const commands = program.command("commands").description("manage the commands that you run in agents' machines");
  commands
    .command("list")
    .description("list an agent's running commands, and the last finished ones")
    .argument("<agent>", "the agent's name")
    .lists({
      list: async (name: string) => ({ data: await connect().agent(name).commands.list(), nextCursor: null }),
      columns: {
        ID: "id",
        STARTED: ({ startedAt }) => localTime(startedAt),
        STATUS: statusOf,
        COMMAND: (command) => cut(printable(textOf(command)), shownColumns),
      },
    });
  const one = (verb: string, description: string) =>
    commands
      .command(verb)
      .description(description)
      .argument("<agent>", "the agent's name")
      .argument("<command>", "the command's id");

  one("show", "show a command").prints(
    (name: string, id: string) => connect().agent(name).commands.get(id),
    (command) =>
      fieldsText({
        command: textOf(command),
        id: command.id,
        status: statusOf(command),
        folder: command.cwd,
        user: command.user,
        started: localTime(command.startedAt),
        ended: localTime(command.exitedAt, "not yet"),
        output: `${command.outputBytes} bytes`,
      }),
  );
  one("logs", "print a command's output from its beginning, until it ends")
    .option("--json", "print its events as JSON lines")
    .action(async (name: string, id: string, { json }: CommonOptions) => {
      for await (const event of connect().agent(name).commands.events(id)) {
        if (json) writeText(process.stdout, `${JSON.stringify(event)}\n`);
        else if (event.type === "command.stdout") await printOutput(process.stdout, outputBytes(event));
        else if (event.type === "command.stderr") await printOutput(process.stderr, outputBytes(event));
        else if (event.type === "command.output_dropped")
          console.error(`${event.bytes} bytes of older output were dropped.`);
      }
    });
  one("input", "write standard input to a command that was started with an open input")
    .option("--end", "close the command's input afterwards")
    .action(async (name: string, id: string, { end = false }: { end?: boolean }) => {
      await sendInput(connect().agent(name), id, { end });
    });
  one("signal", "send a signal to a command and its child processes")
    .addOption(new Option("-s, --signal <signal>", "the signal").choices(commandSignals).default("SIGTERM"))
    .prints(
      (name: string, id: string, { signal }: SignalOptions) => connect().agent(name).commands.signal(id, signal),
      (_, _name, _id, { signal }) => `${signal} was sent.`,
    );
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
