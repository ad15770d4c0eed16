import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { SchemaAnswer, SchemaJob } from "./checker.ts";
import { schemaCheckerArgument } from "./checker-argument.ts";

const heapMiB = 64;

const tooSlow: SchemaAnswer = {
  fault: {
    pointer: "",
    message: "The schema takes too long to check, or too much memory. Simplify its patterns and references.",
  },
};

/** How many jobs a process does, so that the little that each leaves in its heap does not add up. */
const maximumJobs = 100;
/** How long an unused process is kept. */
const keptMs = 300_000;

/**
 * Processes that check schemas. One is kept for the next check, since a start takes longer than most checks. A job that comes
 * while it is busy gets another process, so that no schema delays the check of another.
 */
export class SchemaCheckers {
  /** The number of processes that were started. */
  started = 0;
  readonly #keptMs: number;
  #kept: SchemaChecker | null = null;
  #expiry: NodeJS.Timeout | undefined;

  constructor(kept = keptMs) {
    this.#keptMs = kept;
  }

  /** Whether a process waits for the next job. */
  get hasKept(): boolean {
    return this.#kept !== null;
  }

  /** A job that takes longer than `maximumMs`, or too much memory, is answered with a fault, and its process ends. */
  async answerTo(job: SchemaJob, maximumMs: number): Promise<SchemaAnswer> {
    const checker = this.#take();
    try {
      return await checker.answerTo(job, maximumMs);
    } finally {
      this.#giveBack(checker);
    }
  }

  #take(): SchemaChecker {
    const kept = this.#kept;
    this.#kept = null;
    clearTimeout(this.#expiry);
    if (kept && !kept.isOver) return kept;
    this.started++;
    return new SchemaChecker();
  }

  #giveBack(checker: SchemaChecker): void {
    if (checker.isOver || checker.jobs >= maximumJobs || this.#kept) {
      checker.end();
      return;
    }
    this.#kept = checker;
    const expire = () => {
      this.#kept = null;
      checker.end();
    };
    this.#expiry = setTimeout(expire, this.#keptMs).unref();
  }
}

/** A process that does one job at a time. Between jobs, it does not keep this process running. */
class SchemaChecker {
  readonly #child = newProcess();
  readonly #ready = Promise.withResolvers<void>();
  #answer: PromiseWithResolvers<SchemaAnswer> | null = null;
  /** The jobs so far. */
  jobs = 0;
  /** Whether it has ended, or has to. */
  isOver = false;

  constructor() {
    this.#ready.promise.catch(() => {}); // The job that waits for it gets the error.
    this.#child.on("message", (message: "ready" | SchemaAnswer) =>
      message === "ready" ? this.#ready.resolve() : this.#answer?.resolve(message),
    );
    this.#child.on("error", (error) => this.#end(error));
    this.#child.on("exit", (code, signal) =>
      this.#end(new Error(`the checker of schemas has ended: ${signal ?? code}`)),
    );
  }

  async answerTo(job: SchemaJob, maximumMs: number): Promise<SchemaAnswer> {
    const answer = Promise.withResolvers<SchemaAnswer>();
    answer.promise.catch(() => {});
    this.#answer = answer;
    this.#child.ref();
    this.#child.channel?.ref();
    this.jobs++;
    let late: NodeJS.Timeout | undefined;
    try {
      await this.#ready.promise;
      late = setTimeout(() => {
        this.isOver = true;
        answer.resolve(tooSlow);
      }, maximumMs);
      // One that has ended is reported as such.
      this.#child.send(job, () => {});
      return await answer.promise;
    } finally {
      clearTimeout(late);
      this.#answer = null;
      this.#child.channel?.unref();
      this.#child.unref();
    }
  }

  end(): void {
    this.isOver = true;
    this.#child.kill("SIGKILL");
  }

  /** A process that ends during a job had too little memory for it. */
  #end(error: Error): void {
    this.isOver = true;
    this.#ready.reject(error);
    this.#answer?.resolve(tooSlow);
  }
}

/**
 * From its own file when run from sources; in the guest, from the bundle with an argument that selects the checker. It is
 * killed when this process ends: a job may never end.
 */
function newProcess(): ChildProcess {
  const here = fileURLToPath(import.meta.url);
  const program = here.endsWith(".ts")
    ? [fileURLToPath(new URL("./checker.ts", import.meta.url))]
    : [here, schemaCheckerArgument];
  const node = [process.execPath, `--max-old-space-size=${heapMiB}`, ...program];
  return spawn("/usr/bin/setpriv", ["--pdeathsig", "KILL", ...node], {
    env: {},
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
}
