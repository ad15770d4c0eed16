import type { AgentHandle, CommandLine, RunningCommand } from "@berth/client";
import { outputBytes } from "@berth/client";
import { type Command, InvalidArgumentError, Option } from "commander";
import { attachTerminal, exitCodeOf, terminalSize } from "../attached-terminal.ts";
import { connect } from "../connect.ts";
import { readEnvironment } from "../environment.ts";
import { CliError } from "../errors.ts";
import { type CommonOptions, jsonOption, positiveNumber } from "../options.ts";
import { printable, withoutControls, writeJson } from "../terminal.ts";

interface ExecOptions extends CommonOptions {
  cwd?: string;
  env?: Record<string, string>;
  user: "agent" | "root";
  timeout?: number;
  detach?: true;
  stdin: boolean;
  tty?: true;
}

/** What a shell answers for a program that Ctrl-C has ended. */
const interruptedCode = 130;

/** `berth exec AGENT -- COMMAND…` */
export function register(program: Command): void {
  program
    .command("exec")
    .description("run a command in an agent's machine: a program and its arguments, or one line for bash")
    .argument("<agent>", "the agent's name")
    .argument("<command...>", "such as -- ls -l, or 'ls | wc -l'")
    .option("--cwd <folder>", "the folder to run in; the home folder by default")
    .option("-e, --env <name=value>", "a variable; can be given several times", variable)
    .addOption(new Option("-u, --user <user>", "the user to run as").choices(["agent", "root"]).default("agent"))
    .option("--timeout <seconds>", "end it after this time; an hour by default", positiveNumber)
    .option("-d, --detach", "leave it running, and print its id")
    .option("-t, --tty", "run it on a terminal, which is this one")
    .option("-n, --no-stdin", "give it no input")
    .addOption(jsonOption())
    .action(async (name: string, words: string[], options: ExecOptions) => {
      const agent = connect(readEnvironment()).agent(name);
      const line = lineOf(words, options);
      if (options.detach) return startDetached(agent, line, options);
      if (options.json) return writeJson(process.stdout, await agent.commands.run(line));
      process.exitCode = await (options.tty ? onTerminal(agent, line) : attached(agent, line, options));
    });
}

async function onTerminal(agent: AgentHandle, line: CommandLine): Promise<number> {
  const terminal = terminalSize(process.stdout);
  const { id } = await agent.commands.start({ ...line, terminal });
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
  const running = agent.commands.stream(line, { onBroken: () => console.error("The connection broke; trying again.") });
  using _ = new SignalRelay(agent, running);
  const over = new AbortController();
  if (stdin) void running.id.then((id) => sendInput(agent, id, over.signal)).catch(() => {});
  try {
    for await (const event of running) {
      if (event.type === "command.exited") return exitCodeOf(event);
      if (event.type === "command.output_dropped") console.error(`${event.bytes} bytes of older output are gone.`);
      else await print(event.type === "command.stderr" ? process.stderr : process.stdout, outputBytes(event));
    }
  } finally {
    over.abort();
    process.stdin.destroy();
  }
  throw new CliError("The command's output broke off.");
}

/** Passes standard input on, piece by piece, and its end. */
async function sendInput({ commands }: AgentHandle, id: string, over: AbortSignal): Promise<void> {
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    // A pipe of large pieces: what one request may carry is more than a stream's chunk, which is 64 KiB.
    await commands.write(id, new Uint8Array(chunk), { signal: over });
  }
  await commands.write(id, "", { end: true, signal: over });
}

/** Writes output as it is: on a terminal without what would command it. */
async function print(output: NodeJS.WriteStream, bytes: Uint8Array): Promise<void> {
  const shown = output.isTTY ? withoutControls(Buffer.from(bytes).toString("utf8")) : bytes;
  if (!output.write(shown)) await new Promise((resolve) => output.once("drain", resolve));
}

/** Passes Ctrl-C on to the command. The second kills it; the third ends this program alone. */
class SignalRelay implements Disposable {
  #pressed = 0;
  readonly #listener: () => void;

  constructor({ commands }: AgentHandle, running: RunningCommand) {
    const signals = ["SIGINT", "SIGKILL"] as const;
    this.#listener = () => {
      const signal = signals[this.#pressed++];
      if (signal === undefined) process.exit(interruptedCode);
      void running.id.then((id) => commands.signal(id, signal)).catch(() => {});
    };
    process.on("SIGINT", this.#listener);
  }

  [Symbol.dispose](): void {
    process.off("SIGINT", this.#listener);
  }
}

function variable(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError(`A variable is given as NAME=value, not as ${printable(text)}.`);
  return { ...before, [name]: value };
}
