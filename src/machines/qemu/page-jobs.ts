import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { CompressJob, LoadJob, PagesFile, Saved, SaveJob } from "./pages.ts";

interface CrcJob {
  kind: "crc";
  file: string;
}

export type Job = SaveJob | LoadJob | CompressJob | CrcJob;

type Answer = { value: unknown } | { error: { message: string; code?: string } };

const hasEnded = "the thread for memory images has ended";

/** Each takes some 15 MiB, of Node's own and in buffers. */
const mostThreads = 4;

/**
 * Threads for work on guests' memory, since it is synchronous and of a hundred MiB, while the server has events to
 * pass on. Only loading, for which somebody waits, is done by all of them together.
 */
export class PageJobs {
  readonly #threads: readonly [PageThread, ...PageThread[]];

  private constructor(threads: number) {
    this.#threads = [new PageThread(), ...Array.from({ length: threads - 1 }, () => new PageThread())];
  }

  /** With threads for all processors, which start ahead of the first job. */
  static forWakes(): PageJobs {
    const jobs = new PageJobs(Math.min(mostThreads, availableParallelism()));
    for (const thread of jobs.#threads) thread.start();
    return jobs;
  }

  /** With one thread, for what nobody waits for. */
  static inBackground(): PageJobs {
    return new PageJobs(1);
  }

  save(job: Omit<SaveJob, "kind">, signal: AbortSignal): Promise<Saved> {
    return this.#threads[0].run({ kind: "save", ...job }, signal) as Promise<Saved>;
  }

  /** When this has resolved or rejected, no thread works on the process any more. */
  async load(job: Omit<LoadJob, "kind" | "next">): Promise<void> {
    const next = new Int32Array(new SharedArrayBuffer(4));
    const parts = this.#threads.map((thread) => thread.run({ kind: "load", ...job, next }));
    for (const part of await Promise.allSettled(parts)) if (part.status === "rejected") throw part.reason;
  }

  compress(job: Omit<CompressJob, "kind">, signal: AbortSignal): Promise<PagesFile> {
    return this.#threads[0].run({ kind: "compress", ...job }, signal) as Promise<PagesFile>;
  }

  /** The crc32 of a file. */
  crc(file: string): Promise<number> {
    return this.#threads[0].run({ kind: "crc", file }) as Promise<number>;
  }

  /** Ends the threads, and with them the jobs that they are at. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }
}

/** A thread that does jobs one after the other. It is kept: to start one takes as long as a job. */
class PageThread {
  #closed = false;
  #worker: Worker | null = null;
  #last: Promise<unknown> = Promise.resolve();

  start(): void {
    this.#started();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#worker?.terminate();
  }

  run(job: Job, signal?: AbortSignal): Promise<unknown> {
    const done = this.#last.then(() => this.#run(job, signal));
    this.#last = done.catch(() => {});
    return done;
  }

  /** A job that is not wanted any more ends with its thread; the next one gets another. */
  #run(job: Job, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted();
    if (this.#closed) throw new Error(hasEnded);
    const worker = this.#started();
    worker.ref();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const answered = (answer: Answer) => {
      if ("value" in answer) resolve(answer.value);
      else reject(Object.assign(new Error(answer.error.message), { code: answer.error.code }));
    };
    const failed = (error: Error) => reject(error);
    const ended = () => reject(signal?.aborted ? signal.reason : new Error(hasEnded));
    const abort = () => {
      this.#worker = null;
      void worker.terminate();
    };
    worker.once("message", answered).once("error", failed).once("exit", ended);
    signal?.addEventListener("abort", abort);
    worker.postMessage(job);
    return promise.finally(() => {
      worker.off("message", answered).off("error", failed).off("exit", ended);
      signal?.removeEventListener("abort", abort);
      worker.unref();
    });
  }

  #started(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(new URL("./page-worker.ts", import.meta.url));
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = null;
    });
    worker.on("error", () => {}); // The exit follows, and tells the job.
    worker.unref();
    this.#worker = worker;
    return worker;
  }
}
