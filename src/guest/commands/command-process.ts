import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import type { IPty } from "@lydell/node-pty";
import type { CommandSignal, RunCommand, TerminalSize } from "../../contract/commands.ts";
import { loginEnvironment } from "../../runtimes/process.ts";
import type { RuntimeContext } from "../../runtimes/runtime.ts";
import type { PreparedShells, ShellStart } from "./prepared-shells.ts";

/** Input buffer for a command that does not read. */
const maximumPendingBytes = 1024 * 1024;
/** How long processes that a command left running may still write output after its exit. */
const lastWordsMs = 1_000;

type PtyModule = typeof import("@lydell/node-pty");

export interface ProcessListener {
  output(stream: "stdout" | "stderr", chunk: Buffer): void;
  /** Called once, after the last output. */
  exited(exitCode: number | null, signal: string | null): void;
}

/** A command's process: the leader of a session and group of its own. */
export interface CommandProcess {
  readonly pid: number;
  /** False if the command does not read its input and its buffer is full. */
  write(data: Buffer): boolean;
  end(): void;
  /** Pauses its output: a program whose pipe is full waits. */
  hold(waits: boolean): void;
  resize(size: TerminalSize): void;
}

/**
 * Sets the agent's variables. Bash reads `BASH_ENV` itself, except for a command whose input is a socket, as the runner's is:
 * it takes itself for a remote shell then.
 */
const programScript = '[ ! -r "$BASH_ENV" ] || . "$BASH_ENV"; exec -- "$@"';

/** The argument vector. A program is started through bash as well, for the agent's variables. */
function argumentsOf(command: RunCommand["command"]): string[] {
  return typeof command === "string" ? ["-lc", command] : ["-c", programScript, "bash", ...command];
}

export function folderOf({ cwd, user }: Pick<RunCommand, "cwd" | "user">, { home }: RuntimeContext): string {
  const base = user === "root" ? "/root" : home;
  if (cwd === undefined) return base;
  return cwd.startsWith("/") ? cwd : `${base}/${cwd}`;
}

/** The variables of all commands of the same kind. */
function environmentOf({ user, terminal }: RunCommand, context: RuntimeContext): Record<string, string> {
  return {
    ...loginEnvironment(context),
    ...(user === "root" ? { HOME: "/root", USER: "root", LOGNAME: "root" } : {}),
    ...(terminal ? { TERM: "xterm-256color", COLORTERM: "truecolor" } : {}),
  };
}

export async function startProcess(
  run: RunCommand,
  context: RuntimeContext,
  shells: PreparedShells,
  listener: ProcessListener,
): Promise<CommandProcess> {
  const isOther = run.user === "agent" && context.uid !== process.getuid!();
  const identity = isOther ? { uid: context.uid, gid: context.gid } : {};
  const start: ShellStart = { cwd: folderOf(run, context), base: environmentOf(run, context), identity };
  if (run.terminal) return onTerminal(run, start, context, listener);
  const shell = await shells.take(run, start);
  const child = shell?.child ?? (await started(run, start));
  const running = onPipes(child, run, listener);
  shell?.go();
  shells.prepare(run.user, start);
  return running;
}

async function started({ command, env }: RunCommand, { cwd, base, identity }: ShellStart): Promise<ChildProcess> {
  const options = { cwd, env: { ...base, ...env }, ...identity, detached: true } as const;
  const child = spawn("/bin/bash", argumentsOf(command), { ...options, stdio: "pipe" });
  await once(child, "spawn");
  return child;
}

function onPipes(child: ChildProcess, run: RunCommand, listener: ProcessListener): CommandProcess {
  const { stdin, stdout, stderr } = child;
  stdin!.on("error", () => {}); // It has closed stdin.
  stdout!.on("data", (chunk: Buffer) => listener.output("stdout", chunk));
  stderr!.on("data", (chunk: Buffer) => listener.output("stderr", chunk));
  let open = true;
  const hold = (waits: boolean) => {
    for (const stream of [stdout!, stderr!]) {
      if (waits) stream.pause();
      else stream.resume();
    }
  };
  const exited = () => {
    if (!open) return;
    open = false;
    stdout!.destroy();
    stderr!.destroy();
    listener.exited(child.exitCode, child.signalCode);
  };
  child.once("exit", () => {
    if (!run.detach) killGroup(child.pid!, "SIGKILL");
    hold(false); // The rest of the output is in the pipes, which hold little.
    setTimeout(exited, lastWordsMs).unref();
  });
  child.once("close", exited);
  if (run.stdin !== undefined) stdin!.write(run.stdin);
  if (!run.openStdin) stdin!.end();
  return {
    pid: child.pid!,
    write: (data) => {
      if (!stdin!.writable) return true; // Drop the input, as with a broken pipe.
      if (stdin!.writableLength + data.length > maximumPendingBytes) return false;
      stdin!.write(data);
      return true;
    },
    end: () => void stdin!.end(),
    hold: (waits) => hold(waits && child.exitCode === null && child.signalCode === null),
    resize: () => {},
  };
}

/** Ctrl-D. */
const endOfInput = "\x04";

function onTerminal(
  run: RunCommand,
  { cwd, base, identity: { uid, gid } }: ShellStart,
  { packages }: RuntimeContext,
  listener: ProcessListener,
): CommandProcess {
  // A native module, outside the runner's bundle.
  const { spawn: spawnTerminal } = createRequire(`${packages}/`)("@lydell/node-pty") as PtyModule;
  const as = uid === undefined || gid === undefined ? {} : { uid, gid };
  const size = run.terminal!;
  const pty: IPty = spawnTerminal("/bin/bash", argumentsOf(run.command), {
    name: "xterm-256color",
    ...size,
    ...as,
    cwd,
    env: { ...base, ...run.env },
    encoding: null,
  });
  // Its types know no encoding but UTF-8.
  pty.onData((chunk: unknown) => listener.output("stdout", chunk as Buffer));
  pty.onExit(({ exitCode, signal }) => {
    if (!run.detach) killGroup(pty.pid, "SIGKILL");
    listener.exited(signal ? null : exitCode, signal ? signalName(signal) : null);
  });
  if (run.stdin !== undefined) pty.write(run.stdin);
  return {
    pid: pty.pid,
    write: (data) => {
      pty.write(data);
      return true;
    },
    end: () => pty.write(endOfInput),
    // A terminal's viewer needs the newest output. node-pty drops the rest of a paused terminal at its exit.
    hold: () => {},
    resize: ({ cols, rows }) => pty.resize(cols, rows),
  };
}

/** Sends a signal to a process and all of its group. False if they have ended. */
export function killGroup(leader: number, signal: CommandSignal): boolean {
  try {
    process.kill(-leader, signal);
    return true;
  } catch {
    return false;
  }
}

/** Signals by number, as Linux has them on x86-64 (signal(7)). */
const signalNames: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  6: "SIGABRT",
  9: "SIGKILL",
  10: "SIGUSR1",
  11: "SIGSEGV",
  12: "SIGUSR2",
  13: "SIGPIPE",
  14: "SIGALRM",
  15: "SIGTERM",
};

function signalName(number: number): string {
  return signalNames[number] ?? `SIG${number}`;
}
