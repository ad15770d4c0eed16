import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { SchemaAnswer, SchemaJob } from "./thread.ts";
import { schemaThreadArgument } from "./thread-argument.ts";

const heapMiB = 64;

const tooSlow: SchemaAnswer = {
  fault: {
    pointer: "",
    message: "The schema takes too long to check, or too much memory. Simplify its patterns and references.",
  },
};

/** How many jobs a thread does, so that the little that each leaves in its heap does not add up. */
const maximumJobs = 100;
/** How long an unused thread is kept. */
const keptMs = 300_000;

/**
 * Threads that check schemas. One is kept for the next check, since a start takes longer than most checks. A job that comes
 * while it is busy gets another thread, so that no schema delays the check of another.
 */
export class SchemaThreads {
  /** The number of threads that were started. */
  started = 0;
  readonly #keptMs: number;
  #kept: SchemaThread | null = null;
  #expiry: NodeJS.Timeout | undefined;

  constructor(kept = keptMs) {
    this.#keptMs = kept;
  }

  /** Whether a thread waits for the next job. */
  get hasKept(): boolean {
    return this.#kept !== null;
  }

  /** A job that takes longer than `maximumMs`, or too much memory, is answered with a fault, and its thread ends. */
  async answerTo(job: SchemaJob, maximumMs: number): Promise<SchemaAnswer> {
    const thread = this.#take();
    try {
      return await thread.answerTo(job, maximumMs);
    } finally {
      await this.#giveBack(thread);
    }
  }

  #take(): SchemaThread {
    const kept = this.#kept;
    this.#kept = null;
    clearTimeout(this.#expiry);
    if (kept && !kept.isOver) return kept;
    this.started++;
    return new SchemaThread();
  }

  async #giveBack(thread: SchemaThread): Promise<void> {
    if (thread.isOver || thread.jobs >= maximumJobs || this.#kept) return thread.end();
    this.#kept = thread;
    const expire = () => {
      this.#kept = null;
      void thread.end();
    };
    this.#expiry = setTimeout(expire, this.#keptMs).unref();
  }
}

/** A thread that does one job at a time. Between jobs, it does not keep the process running. */
class SchemaThread {
  readonly #worker = newThread();
  readonly #ready = Promise.withResolvers<void>();
  #answer: PromiseWithResolvers<SchemaAnswer> | null = null;
  /** The jobs so far. */
  jobs = 0;
  /** Whether it has ended, or has to. */
  isOver = false;

  constructor() {
    this.#ready.promise.catch(() => {}); // The job that waits for it gets the error.
    this.#worker.on("message", (message: "ready" | SchemaAnswer) =>
      message === "ready" ? this.#ready.resolve() : this.#answer?.resolve(message),
    );
    this.#worker.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ERR_WORKER_OUT_OF_MEMORY") this.#answer?.resolve(tooSlow);
      this.#fail(error);
    });
    this.#worker.on("exit", () => this.#fail(new Error("the thread for schemas has ended")));
  }

  async answerTo(job: SchemaJob, maximumMs: number): Promise<SchemaAnswer> {
    const answer = Promise.withResolvers<SchemaAnswer>();
    this.#answer = answer;
    this.#worker.ref();
    this.jobs++;
    let late: NodeJS.Timeout | undefined;
    try {
      await this.#ready.promise;
      late = setTimeout(() => {
        this.isOver = true;
        answer.resolve(tooSlow);
      }, maximumMs);
      this.#worker.postMessage(job);
      return await answer.promise;
    } finally {
      clearTimeout(late);
      this.#answer = null;
      this.#worker.unref();
    }
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.#worker.terminate();
  }

  #fail(error: Error): void {
    this.isOver = true;
    this.#ready.reject(error);
    this.#answer?.reject(error);
  }
}

/** From its own file when run from sources; in the guest, from the bundle with an argument that selects the thread. */
function newThread(): Worker {
  const here = fileURLToPath(import.meta.url);
  const options = { env: {}, resourceLimits: { maxOldGenerationSizeMb: heapMiB } };
  return here.endsWith(".ts")
    ? new Worker(new URL("./thread.ts", import.meta.url), options)
    : new Worker(here, { ...options, argv: [schemaThreadArgument] });
}
