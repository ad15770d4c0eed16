import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { basename } from "node:path";

/** A program that runs until it is stopped. Its output is appended to a file. It dies with this process. */
export class Daemon implements AsyncDisposable {
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<unknown>;
  readonly #child: ChildProcess;
  readonly #log: string;

  private constructor(child: ChildProcess, log: string) {
    this.#child = child;
    this.#log = log;
    this.ended = once(child, "exit");
  }

  static async start(program: string, args: string[], log: string): Promise<Daemon> {
    const file = await open(log, "a");
    try {
      const command = ["--pdeathsig", "KILL", "--", program, ...args];
      const child = spawn("setpriv", command, { stdio: ["ignore", file.fd, file.fd] });
      await once(child, "spawn");
      return new Daemon(child, log);
    } finally {
      await file.close();
    }
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Throws when the program has ended, with the end of its output. */
  async check(): Promise<void> {
    if (this.isRunning) return;
    const { exitCode, signalCode } = this.#child;
    const output = await readFile(this.#log, "utf8");
    throw new Error(`${basename(this.#log)}: ended with ${exitCode ?? signalCode}:\n${output.slice(-4_000)}`);
  }

  /** Resolves when the program is gone. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
