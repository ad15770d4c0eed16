import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { force } from "./files.ts";
import { type Layout, memoryFiles } from "./layout.ts";
import type { MemoryImage, Step } from "./memory-image.ts";
import type { PageJobs } from "./page-jobs.ts";
import type { Records } from "./record.ts";

export interface MemoryHolder {
  id: string;
  folder: string;
  read(): Promise<MemoryImage | null>;
  /** Changes the record to the image with these pages, unless it names another one by now. */
  replace(image: MemoryImage): Promise<void>;
}

export function sleeper(layout: Layout, records: Records, id: string): MemoryHolder {
  return {
    id,
    folder: layout.machine(id).folder,
    read: async () => (await records.read(id))?.memory ?? null,
    replace: async (image) => {
      await records.update(id, ({ memory }) => (memory?.folder === image.folder ? { memory: image } : null));
    },
  };
}

/**
 * Compresses the memory images of suspended machines and of snapshots, one at a time, once nobody is waiting. The
 * record switches from one file to the other in one step, so it always names a complete file.
 */
export class Compression {
  readonly #layout: Layout;
  readonly #jobs: PageJobs;
  readonly #step: Step;
  readonly #log: (message: string) => void;
  #queue: MemoryHolder[] = [];
  /** The number of users of each owner's image that need it unchanged. */
  readonly #held = new Map<string, number>();
  #isClosed = false;
  #current: { id: string; given: AbortController; done: Promise<void> } | null = null;

  constructor(layout: Layout, jobs: PageJobs, step: Step, log: (message: string) => void) {
    this.#layout = layout;
    this.#jobs = jobs;
    this.#step = step;
    this.#log = log;
  }

  add(holder: MemoryHolder): void {
    if (this.#held.has(holder.id)) return;
    this.#queue.push(holder);
    if (!this.#current) this.#next();
  }

  /** Stops work on an owner's image. Once this resolves, compression changes neither its files nor its record. */
  async cancel(id: string): Promise<void> {
    this.#queue = this.#queue.filter((queued) => queued.id !== id);
    if (this.#current?.id !== id) return;
    this.#current.given.abort();
    await this.#current.done;
  }

  /** Leaves an owner's image and its record unchanged until disposed; then queues it. */
  async hold(holder: MemoryHolder): Promise<Disposable> {
    const { id } = holder;
    this.#held.set(id, (this.#held.get(id) ?? 0) + 1);
    await this.cancel(id);
    return {
      [Symbol.dispose]: () => {
        const others = this.#held.get(id)! - 1;
        if (others > 0) return void this.#held.set(id, others);
        this.#held.delete(id);
        if (!this.#isClosed) this.add(holder);
      },
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queue = [];
    this.#current?.given.abort();
    await this.#jobs.close();
  }

  #next(): void {
    const holder = this.#queue.shift();
    this.#current = null;
    if (holder === undefined) return;
    const given = new AbortController();
    const done = this.#compress(holder, given.signal)
      .catch((error: Error) => {
        if (!given.signal.aborted) this.#log(`a memory image stays uncompressed: ${error.message}`);
      })
      .then(() => this.#next());
    this.#current = { id: holder.id, given, done };
  }

  async #compress(holder: MemoryHolder, signal: AbortSignal): Promise<void> {
    const image = await holder.read();
    if (!image || image.kind === "stream" || image.pages.compressed) return;
    const { folder, state, pages: source, compressedPages } = memoryFiles(join(holder.folder, image.folder));
    const partial = `${compressedPages}.partial`;
    try {
      await rm(partial, { force: true });
      const base = image.kind === "difference" ? this.#layout.template(image.base).memory : null;
      const pages = await this.#jobs.compress({ source, pages: image.pages, base, file: partial }, signal);
      await rename(partial, compressedPages);
      // Data that was not synced to disk while a caller was waiting.
      for (const path of [state, folder, dirname(folder)]) await force(path);
      await this.#step("compressed");
      signal.throwIfAborted();
      await holder.replace({ ...image, pages });
      await this.#step("compression recorded");
      await rm(source);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }
}
