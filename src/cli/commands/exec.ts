import {
  type AgentHandle,
  ApiError,
  type CommandExited,
  type CommandLine,
  outputBytes,
  type TerminalOptions,
} from "@berth/client";
import { InvalidArgumentError } from "commander";
import type { CommandSignal } from "../../contract/commands.ts";
import type { ToolCommand } from "../command.ts";
import { agentOf } from "../connect.ts";
import { CliError, signalCode } from "../errors.ts";
import { type CommonOptions, positiveNumber, userOption } from "../options.ts";
import { printOutput, sendInput } from "../streams.ts";
import { printable, writeJson } from "../terminal.ts";

/** The exit code of timeout(1). */
const timedOutCode = 124;

interface ExecOptions extends CommonOptions {
  cwd?: string;
  env?: Record<string, string>;
  user: "agent" | "root";
  timeout?: number;
  detach?: true;
  stdin: boolean;
  tty?: true;
}

const execHelp = "run a command in an agent's machine: a program and its arguments, or one line for bash";

/** `berth exec` and `terminal` */
export function register(program: ToolCommand): void {
  program
    .add("exec <agent> <command...>", execHelp, { command: "such as -- ls -l, or 'ls | wc -l'" })
    .option("--cwd <folder>", "the working directory; default: the home folder")
    .option("-e, --env <name=value>", "a variable; can be repeated", variable)
    .addOption(userOption("the user to run as"))
    .option("--timeout <seconds>", "kill it after this time; default: an hour", positiveNumber)
    .option("-d, --detach", "leave it running, and print its id")
    .option("-t, --tty", "allocate a terminal (TTY)")
    .option("-n, --no-stdin", "close its input")
    .runs(execute);
  program
    .add("terminal <agent>", "open a terminal in an agent's machine")
    .option("--session <id>", "join a session: the id of a command on a terminal, see berth commands list")
    .addOption(userOption("the user of a new session"))
    .action(async (name: string, { session, user }: { session?: string; user: "agent" | "root" }) => {
      const joined = session === undefined ? { user } : { session };
      process.exitCode = exitCodeOf(await attachTerminal(agentOf(name), joined));
    });
}

async function execute(name: string, words: string[], options: ExecOptions): Promise<void> {
  const agent = agentOf(name);
  const line = lineOf(words, options);
  if (options.detach) {
    const command = await agent.commands.start(line);
    return options.json ? writeJson(process.stdout, command) : console.log(command.id);
  }
  if (options.json) return writeJson(process.stdout, await agent.commands.run(line));
  process.exitCode = await (options.tty ? onTerminal(agent, line) : attached(agent, line, options));
}

async function onTerminal(agent: AgentHandle, line: CommandLine): Promise<number> {
  const terminal = terminalSize(process.stdout);
  const { id } = await agent.commands.start({ ...line, terminal });
  using _ = new SignalRelay(agent, Promise.resolve(id));
  return exitCodeOf(await attachTerminal(agent, { session: id }));
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
        if (this.#received > 2) process.exit(signalCode(signal));
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

/** The size of an output's terminal; a default if it is none. */
function terminalSize({ columns = 80, rows = 24 }: { columns?: number; rows?: number }) {
  return { cols: columns, rows };
}

/** Connects this terminal to one in the agent's machine, until the session there ends. Returns how it ended. */
async function attachTerminal(agent: AgentHandle, options: TerminalOptions): Promise<CommandExited> {
  // Node 20 has none of its own.
  globalThis.WebSocket ??= (await import("ws")).WebSocket as unknown as typeof WebSocket;
  const { stdin, stdout } = process;
  const onBroken = () => process.stderr.write("\r\nThe connection broke; trying again.\r\n");
  const terminal = agent.terminal({ ...terminalSize(stdout), ...options, onBroken });
  const typed = (data: Buffer) => terminal.write(new Uint8Array(data));
  const resized = () => terminal.resize(stdout.columns, stdout.rows);
  // The machine's terminal controls this one: keys and output pass unchanged.
  if (stdin.isTTY) stdin.setRawMode(true);
  stdin.on("data", typed);
  stdout.on("resize", resized);
  try {
    for await (const event of terminal) {
      if (event.type === "command.exited") return event;
      stdout.write(outputBytes(event));
    }
  } finally {
    stdin.off("data", typed);
    stdout.off("resize", resized);
    if (stdin.isTTY) stdin.setRawMode(false);
    stdin.destroy();
  }
  throw new CliError("The connection to the terminal broke.");
}

/** The exit code that a shell would have for a command. Throws if it was lost. */
function exitCodeOf({ exitCode, signal, timedOut, lost }: CommandExited): number {
  if (lost) throw new CliError("The agent's machine stopped before the command did.");
  if (timedOut) {
    console.error("The command timed out and was killed.");
    return timedOutCode;
  }
  return exitCode ?? signalCode(signal as NodeJS.Signals | null);
}
