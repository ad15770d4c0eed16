import { createInterface, type Interface, type ReadLineOptions } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { CliError } from "./errors.ts";
import { styled } from "./terminal.ts";

/** Node 20's interface cannot be disposed. */
function openTerminal(options: ReadLineOptions): Interface & Disposable {
  const terminal = createInterface(options);
  return Object.assign(terminal, { [Symbol.dispose]: () => terminal.close() });
}

/**
 * Reads a message from the terminal. Lines pasted together form one message. Returns null at Ctrl-D and an empty
 * message at Ctrl-C. The arrow keys offer `history`, newest first; the message is added to it.
 */
export async function readMessage(history: string[]): Promise<string | null> {
  const { stdin: input, stdout: output } = process;
  using terminal = openTerminal({ input, output, history, prompt: styled(output, "bold", "> ") });
  terminal.on("history", (lines: string[]) => history.splice(0, history.length, ...lines));
  const lines: string[] = [];
  const message = await new Promise<string | null>((resolve) => {
    terminal.on("line", (line) => {
      lines.push(line);
      // The rest of a paste arrives in the same tick, and may end with an unfinished line.
      setImmediate(() => terminal.line === "" && resolve(lines.join("\n")));
    });
    terminal.on("SIGINT", () => {
      const hint = terminal.line === "" ? "(Ctrl-D ends the chat)" : "";
      output.write(`${styled(output, "dim", hint)}\n`);
      resolve("");
    });
    terminal.on("close", () => resolve(lines.length > 0 ? lines.join("\n") : null));
    terminal.prompt();
  });
  if (message === null) output.write("\n");
  return message;
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
 * Asks for confirmation before an irreversible action. Throws `CliError` with `otherwise` unless the answer is yes, and
 * where nobody can be asked.
 */
export async function requireConsent(question: string, otherwise: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new CliError(`${otherwise} Without a terminal to ask on, add --yes.`, 2);
  }
  if (!(await confirm(question))) throw new CliError(otherwise);
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
