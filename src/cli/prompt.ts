import { createInterface, type Interface, type ReadLineOptions } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { CliError } from "./errors.ts";

/** Node 20's interface cannot be disposed. */
function openTerminal(options: ReadLineOptions): Interface & Disposable {
  const terminal = createInterface(options);
  return Object.assign(terminal, { [Symbol.dispose]: () => terminal.close() });
}

/**
 * Reads a secret: one hidden line from a terminal, otherwise all of standard input. Ctrl-C and Ctrl-D return an empty
 * one.
 */
export async function readSecret(question: string): Promise<string> {
  const { stdin: input, stderr } = process;
  if (!input.isTTY) return text(input);
  stderr.write(question);
  // Discards readline's echo.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  using terminal = openTerminal({ input, output, terminal: true });
  const line = await new Promise<string>((resolve) => {
    terminal.on("line", resolve);
    terminal.on("SIGINT", () => resolve(""));
    terminal.on("close", () => resolve(""));
  });
  stderr.write("\n");
  return line;
}

/**
 * Asks for confirmation before an irreversible action. Throws `CliError` with `otherwise` unless the answer is yes, or
 * if there is no terminal to ask on.
 */
export async function requireConsent(question: string, otherwise: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CliError(`${otherwise} Without a terminal to ask on, add --yes.`, 2);
  }
  if (!(await confirm(question))) throw new CliError(otherwise);
}

/** Asks for a line on a terminal. Null: `signal` has aborted, or Ctrl-C or Ctrl-D was pressed. */
export async function readAnswer(question: string, signal: AbortSignal): Promise<string | null> {
  const { stdin: input, stderr: output } = process;
  using terminal = openTerminal({ input, output });
  return await new Promise((resolve) => {
    terminal.on("close", () => resolve(null));
    terminal.question(question, { signal }).then(resolve, () => resolve(null));
  });
}

/** Asks a yes-or-no question. Anything but yes is no. */
async function confirm(question: string): Promise<boolean> {
  const { stdin: input, stderr: output } = process;
  using terminal = openTerminal({ input, output });
  const answer = new Promise<string>((resolve) => {
    terminal.on("close", () => resolve(""));
    terminal.question(`${question} [y/N] `).then(resolve, () => resolve(""));
  });
  return /^y(es)?$/i.test((await answer).trim());
}
