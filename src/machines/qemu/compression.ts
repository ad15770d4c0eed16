import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { force } from "./files.ts";
import { type Layout, memoryFiles } from "./layout.ts";
import type { Step } from "./memory-image.ts";
import type { PageJobs } from "./page-jobs.ts";
import type { Records } from "./record.ts";

/**
 * Compresses the memory images of suspended machines, one at a time across all machines, once nobody is waiting. The
 * record switches from one file to the other in one step, so it always names a complete file.
 */
export class Compression {
  readonly #layout: Layout;
  readonly #records: Records;
  readonly #jobs: PageJobs;
  readonly #step: Step;
  readonly #log: (message: string) => void;
  #queue: string[] = [];
  #current: { id: string; given: AbortController; done: Promise<void> } | null = null;

  constructor(layout: Layout, records: Records, jobs: PageJobs, step: Step, log: (message: string) => void) {
    this.#layout = layout;
    this.#records = records;
    this.#jobs = jobs;
    this.#step = step;
    this.#log = log;
  }

  /** Queues a machine's memory image for compression. */
  add(id: string): void {
    this.#queue.push(id);
    if (!this.#current) this.#next();
  }

  /** Stops working on a machine's image. Once this resolves, compression changes neither its files nor its record. */
  async cancel(id: string): Promise<void> {
    this.#queue = this.#queue.filter((queued) => queued !== id);
    if (this.#current?.id !== id) return;
    this.#current.given.abort();
    await this.#current.done;
  }

  async close(): Promise<void> {
    this.#queue = [];
    this.#current?.given.abort();
    await this.#jobs.close();
  }

  #next(): void {
    const id = this.#queue.shift();
    this.#current = null;
    if (id === undefined) return;
    const given = new AbortController();
    const done = this.#compress(id, given.signal)
      .catch((error: Error) => {
        if (!given.signal.aborted) this.#log(`a memory image stays as large as it is: ${error.message}`);
      })
      .then(() => this.#next());
    this.#current = { id, given, done };
  }

  async #compress(id: string, signal: AbortSignal): Promise<void> {
    const image = (await this.#records.read(id))?.memory;
    if (!image || image.kind === "stream" || image.pages.compressed) return;
    const {
      folder,
      state,
      pages: source,
      compressedPages,
    } = memoryFiles(join(this.#layout.machine(id).folder, image.folder));
    const partial = `${compressedPages}.partial`;
    try {
      await rm(partial, { force: true });
      const base = image.kind === "difference" ? this.#layout.template(image.base).memory : null;
      const pages = await this.#jobs.compress({ source, pages: image.pages, base, file: partial }, signal);
      await rename(partial, compressedPages);
      // Everything that was not synced to disk while someone was waiting.
      for (const path of [state, folder, dirname(folder)]) await force(path);
      await this.#step("compressed");
      signal.throwIfAborted();
      await this.#records.update(id, ({ memory }) =>
        memory?.folder === image.folder ? { memory: { ...image, pages } } : null,
      );
      await this.#step("compression recorded");
      await rm(source);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }
}
