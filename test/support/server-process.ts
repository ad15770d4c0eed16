import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { accelerator } from "./config.ts";

/** The server's program as a separate process, for tests that kill it. */
export class ServerProcess implements AsyncDisposable {
  readonly child: ChildProcess;
  /** Its standard output and error so far, line by line. */
  readonly lines: string[] = [];
  readonly #watchers = new Set<() => void>();

  /** `program` is a file followed by its arguments. */
  constructor(dataFolder: string, environment: Record<string, string> = {}, program = ["src/main.ts"]) {
    this.child = spawn(process.execPath, program, {
      env: {
        PATH: process.env.PATH!,
        BERTH_DATA_DIR: dataFolder,
        BERTH_PORT: "0",
        BERTH_ACCEL: accelerator,
        BERTH_KVM_PROBE_SECONDS: "120",
        BERTH_SPARES: "0",
        ...environment,
      },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      createInterface({ input: stream }).on("line", (line) => {
        this.lines.push(line);
        for (const watcher of this.#watchers) watcher();
      });
    }
  }

  /** The first line that matches, once written. */
  async line(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      for (const line of this.lines) {
        const match = pattern.exec(line);
        if (match) return match;
      }
      if (this.child.exitCode !== null) throw new Error(`the server ended:\n${this.lines.join("\n")}`);
      await new Promise<void>((resolve) => {
        this.#watchers.add(resolve);
        this.child.once("exit", resolve);
      });
    }
  }

  /** The server's address, once it is ready. */
  async url(): Promise<string> {
    return (await this.line(/^Berth is ready at (\S+)$/))[1]!;
  }

  async end(signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return this.child.exitCode;
    const ended = once(this.child, "exit");
    this.child.kill(signal);
    await ended;
    return this.child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.end("SIGTERM");
  }
}
