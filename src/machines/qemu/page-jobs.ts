import { Worker } from "node:worker_threads";
import type { CompressJob, LoadJob, PagesFile, Saved, SaveJob } from "./pages.ts";

interface CrcJob {
  kind: "crc";
  file: string;
}

export type Job = SaveJob | LoadJob | CompressJob | CrcJob;

type Answer = { value: unknown } | { error: { message: string; code?: string } };

/**
 * A thread for work on guests' memory, since it is synchronous and of a hundred MiB, while the server has events to
 * pass on. Jobs are done one after the other. The thread is kept: to start one takes as long as a job.
 */
export class PageJobs {
  #worker: Worker | null = null;
  #last: Promise<unknown> = Promise.resolve();

  save(job: Omit<SaveJob, "kind">, signal: AbortSignal): Promise<Saved> {
    return this.#queue({ kind: "save", ...job }, signal) as Promise<Saved>;
  }

  async load(job: Omit<LoadJob, "kind">): Promise<void> {
    await this.#queue({ kind: "load", ...job });
  }

  compress(job: Omit<CompressJob, "kind">, signal: AbortSignal): Promise<PagesFile> {
    return this.#queue({ kind: "compress", ...job }, signal) as Promise<PagesFile>;
  }

  /** The crc32 of a file. */
  crc(file: string): Promise<number> {
    return this.#queue({ kind: "crc", file }) as Promise<number>;
  }

  /** Starts the thread ahead of the first job. */
  start(): void {
    this.#thread();
  }

  /** Ends the thread, and with it the job that it is at. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #queue(job: Job, signal?: AbortSignal): Promise<unknown> {
    const done = this.#last.then(() => this.#run(job, signal));
    this.#last = done.catch(() => {});
    return done;
  }

  /** A job that is not wanted any more ends with its thread; the next one gets another. */
  #run(job: Job, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted();
    const worker = this.#thread();
    worker.ref();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const answered = (answer: Answer) => {
      if ("value" in answer) resolve(answer.value);
      else reject(Object.assign(new Error(answer.error.message), { code: answer.error.code }));
    };
    const failed = (error: Error) => reject(error);
    const ended = () => reject(signal?.aborted ? signal.reason : new Error("the thread for memory images has ended"));
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

  #thread(): Worker {
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
