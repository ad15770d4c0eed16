import { constants } from "node:os";
import type { AgentHandle, CommandLine } from "@berth/client";
import { ApiError, outputBytes } from "@berth/client";
import { InvalidArgumentError } from "commander";
import type { CommandSignal } from "../../contract/commands.ts";
import { attachTerminal, exitCodeOf, signalBase, terminalSize } from "../attached-terminal.ts";
import type { ToolCommand } from "../command.ts";
import { printOutput, sendInput } from "../command-streams.ts";
import { connect } from "../connect.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, jsonOption, positiveNumber, userOption } from "../options.ts";
import { printable, writeJson } from "../terminal.ts";

interface ExecOptions extends CommonOptions {
  cwd?: string;
  env?: Record<string, string>;
  user: "agent" | "root";
  timeout?: number;
  detach?: true;
  stdin: boolean;
  tty?: true;
}

export function register(program: ToolCommand): void {
  program
    .command("exec")
    .description("run a command in an agent's machine: a program and its arguments, or one line for bash")
    .argument("<agent>", "the agent's name")
    .argument("<command...>", "such as -- ls -l, or 'ls | wc -l'")
    .option("--cwd <folder>", "the working directory; default: the home folder")
    .option("-e, --env <name=value>", "a variable; can be repeated", variable)
    .addOption(userOption("the user to run as"))
    .option("--timeout <seconds>", "kill it after this time; default: an hour", positiveNumber)
    .option("-d, --detach", "leave it running, and print its id")
    .option("-t, --tty", "allocate a terminal (TTY)")
    .option("-n, --no-stdin", "close its input")
    .addOption(jsonOption())
    .action(async (name: string, words: string[], options: ExecOptions) => {
      const agent = connect().agent(name);
      const line = lineOf(words, options);
      if (options.detach) return startDetached(agent, line, options);
      if (options.json) return writeJson(process.stdout, await agent.commands.run(line));
      process.exitCode = await (options.tty ? onTerminal(agent, line) : attached(agent, line, options));
    });
}

async function onTerminal(agent: AgentHandle, line: CommandLine): Promise<number> {
  const terminal = terminalSize(process.stdout);
  const { id } = await agent.commands.start({ ...line, terminal });
  using _ = new SignalRelay(agent, Promise.resolve(id));
  return exitCodeOf(await attachTerminal(agent, { session: id }));
}

async function startDetached(agent: AgentHandle, line: CommandLine, { json }: CommonOptions): Promise<void> {
  const command = await agent.commands.start(line);
  if (json) writeJson(process.stdout, command);
  else console.log(command.id);
}

/** One word is a line for bash; several are a program and its arguments. */
function lineOf(words: readonly string[], options: ExecOptions): CommandLine {
  const { cwd, env, user, timeout, stdin, detach, json } = options;
  return {
    command: words.length === 1 ? words[0]! : [...words],
    cwd,
    env,
    user,
    timeoutSeconds: timeout,
    openStdin: stdin && !detach && !json,
  };
}

/** Runs the command with this terminal's or pipe's streams. Returns the exit code for the shell. */
async function attached(agent: AgentHandle, line: CommandLine, { stdin }: ExecOptions): Promise<number> {
  const over = new AbortController();
  const running = agent.commands.stream(line, {
    onBroken: () => console.error("The connection broke; trying again."),
    signal: over.signal,
  });
  using _ = new SignalRelay(agent, running.id);
  let inputFault: CliError | null = null;
  if (stdin) {
    running.id
      .then((id) => sendInput(agent, id, { end: true, signal: over.signal }))
      .catch(async (error: Error) => {
        if (over.signal.aborted || isExited(error)) return;
        inputFault = new CliError(`The command's input could not be sent: ${error.message}`);
        // It must not mistake a part of its input for all of it.
        await agent.commands.signal(await running.id, "SIGKILL");
      })
      .catch((error: Error) => {
        if (!isExited(error)) over.abort(inputFault);
      });
  }
  let dropped = 0;
  try {
    for await (const event of running) {
      if (event.type === "command.exited") {
        if (inputFault) throw inputFault;
        const code = exitCodeOf(event);
        if (code !== 0 || dropped === 0) return code;
        throw new CliError(`The command's output is incomplete: ${dropped} bytes are lost.`);
      }
      if (event.type === "command.output_dropped") {
        dropped += event.bytes;
        console.error(`${event.bytes} bytes of older output were dropped.`);
      } else await printOutput(event.type === "command.stderr" ? process.stderr : process.stdout, outputBytes(event));
    }
  } finally {
    over.abort();
    process.stdin.destroy();
  }
  throw new CliError("The command's output broke off.");
}

function isExited(error: Error): boolean {
  return error instanceof ApiError && error.code === "command_exited";
}

/**
 * Forwards signals to the command, whose end also ends this program. A second signal kills the command, and a third one
 * ends this program alone. When the reader of the output disconnects, the command is stopped like a local one.
 */
class SignalRelay implements Disposable {
  #received = 0;
  readonly #listeners: [NodeJS.Signals, () => void][];

  constructor({ commands }: AgentHandle, id: Promise<string>) {
    const send = (signal: CommandSignal) => id.then((id) => commands.signal(id, signal)).catch(() => {});
    const relayed = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal): [NodeJS.Signals, () => void] => [
      signal,
      () => {
        this.#received += 1;
        if (this.#received > 2) process.exit(signalBase + constants.signals[signal]);
        void send(this.#received === 1 ? signal : "SIGKILL");
      },
    ]);
    const readerGone = () => void send("SIGTERM").then(() => process.exit(0));
    this.#listeners = [...relayed, ["SIGPIPE", readerGone]];
    for (const [signal, listener] of this.#listeners) process.on(signal, listener);
  }

  [Symbol.dispose](): void {
    for (const [signal, listener] of this.#listeners) process.off(signal, listener);
  }
}

function variable(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError(`A variable must have the form NAME=value, not ${printable(text)}.`);
  return { ...before, [name]: value };
}
