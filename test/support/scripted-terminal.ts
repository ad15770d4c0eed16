import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type IPty, spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";

// For tests: the real tool on a real pseudo-terminal, whose screen xterm keeps.

const launcher = fileURLToPath(new URL("../../berth", import.meta.url));

/** The codes that a terminal's keys send. */
export const keys = {
  enter: "\r",
  altEnter: "\x1b\r",
  up: "\x1b[A",
  down: "\x1b[B",
  left: "\x1b[D",
  home: "\x1b[H",
  tab: "\t",
  backspace: "\x7f",
  ctrlC: "\x03",
  ctrlD: "\x04",
  ctrlO: "\x0f",
  ctrlU: "\x15",
  ctrlW: "\x17",
} as const;

/** A terminal with the tool on it. */
export class ScriptedTerminal implements AsyncDisposable {
  readonly configFolder: string;
  /** Resolves with the tool's exit code, once the screen shows all that it has written. */
  readonly exited: Promise<number>;
  readonly #pty: IPty;
  readonly #screen: xterm.Terminal;
  /** All that the tool has written. */
  output = "";

  private constructor(
    program: string,
    args: string[],
    environment: Record<string, string>,
    configFolder: string,
    columns: number,
  ) {
    this.configFolder = configFolder;
    this.#screen = new xterm.Terminal({ cols: columns, rows: 24, scrollback: 5000, allowProposedApi: true });
    const env = { PATH: process.env.PATH ?? "", TZ: "UTC", XDG_CONFIG_HOME: configFolder, ...environment };
    this.#pty = spawn(program, args, { name: "xterm-256color", cols: columns, rows: 24, env });
    this.#pty.onData((data) => {
      this.output += data;
      this.#screen.write(data);
    });
    this.exited = new Promise((resolve) =>
      this.#pty.onExit(({ exitCode }) => this.#screen.write("", () => resolve(exitCode))),
    );
  }

  /** Runs the tool. A folder of an earlier terminal has its history. */
  static async run(
    args: string[],
    environment: Record<string, string>,
    { configFolder = "", columns = 80, program = launcher } = {},
  ): Promise<ScriptedTerminal> {
    const folder = configFolder || (await mkdtemp(join(tmpdir(), "berth-test-terminal-")));
    return new ScriptedTerminal(program, args, environment, folder, columns);
  }

  /** Types, or sends keys. */
  type(text: string): void {
    this.#pty.write(text);
  }

  /** Pastes as terminals do that mark a paste. */
  paste(text: string): void {
    this.type(`\x1b[200~${text}\x1b[201~`);
  }

  resize(columns: number, rows = 24): void {
    this.#screen.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  /** The visible screen, a line each, without trailing blanks. */
  screen(): string {
    const { active } = this.#screen.buffer;
    return this.#lines(active.baseY, active.baseY + this.#screen.rows);
  }

  /** The same with what has scrolled away. */
  all(): string {
    return this.#lines(0, this.#screen.buffer.active.length);
  }

  /** The column of the cursor, from 0. */
  get cursorColumn(): number {
    return this.#screen.buffer.active.cursorX;
  }

  /** Resolves when the screen shows the text. */
  async shows(expected: string | RegExp, timeoutMs = 30_000): Promise<void> {
    for (const deadline = performance.now() + timeoutMs; !matches(this.screen(), expected); await sleep(20)) {
      if (performance.now() > deadline) throw new Error(`The screen does not show ${expected}:\n${this.screen()}`);
    }
  }

  /** Resolves when the screen does not show the text any more. */
  async hides(unexpected: string | RegExp, timeoutMs = 30_000): Promise<void> {
    for (const deadline = performance.now() + timeoutMs; matches(this.screen(), unexpected); await sleep(20)) {
      if (performance.now() > deadline) throw new Error(`The screen still shows ${unexpected}:\n${this.screen()}`);
    }
  }

  /** Ends the tool if it runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#pty.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.exited;
    this.#screen.dispose();
    await rm(this.configFolder, { recursive: true, force: true });
  }

  #lines(start: number, end: number): string {
    const { active } = this.#screen.buffer;
    const lines: string[] = [];
    for (let row = start; row < end; row++) lines.push(active.getLine(row)?.translateToString(true) ?? "");
    return lines.join("\n").trimEnd();
  }
}

function matches(text: string, expected: string | RegExp): boolean {
  return typeof expected === "string" ? text.includes(expected) : expected.test(text);
}
