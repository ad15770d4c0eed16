import { constants } from "node:os";
import type { AgentHandle, CommandExited, TerminalOptions } from "@berth/client";
import { outputBytes } from "@berth/client";
import { CliError } from "./errors.ts";

/** A shell's exit code for a program killed by a signal: 128 plus the signal's number. */
export const signalBase = 128;
/** The exit code of timeout(1). */
const timedOutCode = 124;

/** The size of an output's terminal; a default if it is none. */
export function terminalSize({ columns = 80, rows = 24 }: { columns?: number; rows?: number }) {
  return { cols: columns, rows };
}

/** Connects this terminal to one in the agent's machine, until the session there ends. Returns how it ended. */
export async function attachTerminal(agent: AgentHandle, options: TerminalOptions): Promise<CommandExited> {
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
export function exitCodeOf({ exitCode, signal, timedOut, lost }: CommandExited): number {
  if (lost) throw new CliError("The agent's machine stopped before the command did.");
  if (timedOut) {
    console.error("The command timed out and was killed.");
    return timedOutCode;
  }
  if (exitCode !== null) return exitCode;
  const number = signal === null ? undefined : constants.signals[signal as NodeJS.Signals];
  return signalBase + (number ?? 0);
}
