import { Worker } from "node:worker_threads";
import { structureOf } from "../core/json-structure.ts";
import { type Preparation, prepare, type RawRequest } from "./preparation.ts";

/** A larger request is read in a separate thread: here it would take more than 5 ms, whatever its content. */
const maximumBytesHere = 128 * 1024;
/** A request with more values is too: reading this many takes about 5 ms. */
const maximumValuesHere = 20_000;
/** The heap of that thread, in MiB. The largest allowed request takes a third of it. */
const heapMiB = 1024;

/**
 * Prepares requests for their providers without blocking the server: large ones are handled in a thread, one after the
 * other. At most one request per agent waits there, so that no agent can starve the others.
 */
export class Preparations {
  /** Each agent's last request, and the last one overall. */
  readonly #ofAgents = new Map<string, Promise<unknown>>();
  #last: Promise<unknown> = Promise.resolve();
  #worker: Worker | null = null;

  /** Rejects with the reason of `signal` if it is aborted first. */
  async prepare(raw: RawRequest<Buffer<ArrayBuffer>>, signal: AbortSignal): Promise<Preparation> {
    const { body, owner } = raw;
    const isSmall = body.length <= maximumBytesHere && structureOf(body).values <= maximumValuesHere;
    if (isSmall) return prepare(raw);
    const before = this.#ofAgents.get(owner.id) ?? Promise.resolve();
    const done = before.then(() => this.#inTurn(raw, signal));
    const settled = done.catch(() => {});
    this.#ofAgents.set(owner.id, settled);
    try {
      return await done;
    } finally {
      if (this.#ofAgents.get(owner.id) === settled) this.#ofAgents.delete(owner.id);
    }
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #inTurn(job: RawRequest<Buffer<ArrayBuffer>>, signal: AbortSignal): Promise<Preparation> {
    const done = this.#last.then(() => {
      signal.throwIfAborted();
      return this.#run(job);
    });
    this.#last = done.catch(() => {});
    return done;
  }

  async #run(job: RawRequest<Buffer<ArrayBuffer>>): Promise<Preparation> {
    const worker = this.#started();
    worker.ref();
    const { promise, resolve, reject } = Promise.withResolvers<Preparation>();
    worker.once("message", resolve).once("error", reject);
    // A body in a shared buffer is copied.
    const isOwn = job.body.length === job.body.buffer.byteLength;
    worker.postMessage(job, isOwn ? [job.body.buffer] : []);
    return promise.finally(() => {
      worker.off("message", resolve).off("error", reject);
      worker.unref();
    });
  }

  /** Kept, because starting one takes a tenth of a second. */
  #started(): Worker {
    if (this.#worker) return this.#worker;
    const worker = new Worker(new URL("./preparation-worker.ts", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: heapMiB },
      env: {},
    });
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = null;
    });
    worker.on("error", () => {}); // Reported to its request.
    worker.unref();
    this.#worker = worker;
    return worker;
  }
}
