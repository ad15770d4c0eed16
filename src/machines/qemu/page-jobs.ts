import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { unlessAborted } from "../../core/abort.ts";
import type { CompressJob, LoadJob, PagesFile, Saved, SaveJob } from "./pages.ts";

interface CrcJob {
  kind: "crc";
  file: string;
}

export type Job = SaveJob | LoadJob | CompressJob | CrcJob;

type Answer = { value: unknown } | { error: { message: string; code?: string } };

const hasEnded = "the thread for memory images has ended";

/** Each takes about 15 MiB, for Node itself and for buffers. */
const mostThreads = 4;

/**
 * Threads for work on guests' memory, which is synchronous and covers a hundred MiB, while the server has events to
 * relay. Callers wait for loading, so several threads share it and it never queues behind other work.
 */
export class PageJobs {
  readonly #loaders: readonly PageThread[];
  readonly #single = new PageThread();

  private constructor(loaders: number) {
    this.#loaders = Array.from({ length: loaders }, () => new PageThread());
  }

  static forWakes(): PageJobs {
    const jobs = new PageJobs(Math.min(mostThreads, availableParallelism()));
    for (const thread of [...jobs.#loaders, jobs.#single]) thread.start();
    return jobs;
  }

  /** Creates one thread, which does not load. */
  static inBackground(): PageJobs {
    return new PageJobs(0);
  }

  save(job: Omit<SaveJob, "kind">, signal: AbortSignal): Promise<Saved> {
    return this.#single.run({ kind: "save", ...job }, signal) as Promise<Saved>;
  }

  /** Once this resolves or rejects, no thread works on the process any more. */
  async load(job: Omit<LoadJob, "kind" | "next">): Promise<void> {
    const next = new Int32Array(new SharedArrayBuffer(4));
    const parts = this.#loaders.map((thread) => thread.run({ kind: "load", ...job, next }));
    for (const part of await Promise.allSettled(parts)) if (part.status === "rejected") throw part.reason;
  }

  compress(job: Omit<CompressJob, "kind">, signal: AbortSignal): Promise<PagesFile> {
    return this.#single.run({ kind: "compress", ...job }, signal) as Promise<PagesFile>;
  }

  crc(file: string): Promise<number> {
    return this.#single.run({ kind: "crc", file }) as Promise<number>;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#loaders, this.#single].map((thread) => thread.close()));
  }
}

/** A thread that runs jobs one at a time. It is kept, because starting one takes as long as a job. */
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

  /** Rejects at once if `signal` aborts before the job starts. */
  run(job: Job, signal?: AbortSignal): Promise<unknown> {
    const before = this.#last;
    const done = unlessAborted(before, signal).then(() => this.#run(job, signal));
    this.#last = Promise.allSettled([before, done]);
    return done;
  }

  /** Cancelling a job ends its thread. The next job gets a new one. */
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
    worker.on("error", () => {});
    worker.unref();
    this.#worker = worker;
    return worker;
  }
}
