import { type Command as CommandRecord, type CommandResult, outputBytes } from "@berth/client";
import { Option } from "commander";
import { commandSignals } from "../../contract/commands.ts";
import type { ToolCommand } from "../command.ts";
import { agentOf } from "../connect.ts";
import type { CommonOptions } from "../options.ts";
import { printOutput, sendInput } from "../streams.ts";
import { fieldsText } from "../table.ts";
import { cut, printable, writeText } from "../terminal.ts";
import { localTime } from "../time.ts";

/** The columns of a command that a list shows. */
const shownColumns = 60;

interface SignalOptions {
  signal: (typeof commandSignals)[number];
}

export function register(program: ToolCommand): void {
  const commands = program.add("commands", "manage the commands that you run in agents' machines");
  commands.add("list <agent>", "list an agent's running commands, and the last finished ones").lists({
    list: async (name: string) => ({ data: await agentOf(name).commands.list(), nextCursor: null }),
    columns: {
      ID: "id",
      STARTED: ({ startedAt }) => localTime(startedAt),
      STATUS: statusOf,
      COMMAND: (command) => cut(printable(textOf(command)), shownColumns),
    },
  });
  const about = { command: "the command's id" };
  commands.add("show <agent> <command>", "show a command", about).prints(
    (name: string, id: string) => agentOf(name).commands.get(id),
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
  commands
    .add("logs <agent> <command>", "print a command's output from its beginning, until it ends", about)
    .option("--json", "print its events as JSON lines")
    .action(async (name: string, id: string, { json }: CommonOptions) => {
      for await (const event of agentOf(name).commands.events(id)) {
        if (json) writeText(process.stdout, `${JSON.stringify(event)}\n`);
        else if (event.type === "command.stdout") await printOutput(process.stdout, outputBytes(event));
        else if (event.type === "command.stderr") await printOutput(process.stderr, outputBytes(event));
        else if (event.type === "command.output_dropped")
          console.error(`${event.bytes} bytes of older output were dropped.`);
      }
    });
  commands
    .add("input <agent> <command>", "write standard input to a command that was started with an open input", about)
    .option("--end", "close the command's input afterwards")
    .action((name: string, id: string, { end = false }: { end?: boolean }) => sendInput(agentOf(name), id, { end }));
  commands
    .add("signal <agent> <command>", "send a signal to a command and its child processes", about)
    .addOption(new Option("-s, --signal <signal>", "the signal").choices(commandSignals).default("SIGTERM"))
    .prints(
      (name: string, id: string, { signal }: SignalOptions) => agentOf(name).commands.signal(id, signal),
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
