import { type SequencedEvent, statusAfter } from "../contract/chat.ts";
import { sizeOf } from "../contract/event-log.ts";
import { Backoff } from "../platform/retry.ts";

/** What may be on its way to the store before the turn's source is held back. As `sizeOf` has it. */
const maximumUnstored = 4 * 1024 * 1024;
/** In one transaction. */
const maximumBatch = 500;
const maximumBatchSize = 1024 * 1024;
/** Events gather for so long at most, since a transaction costs more than what it holds. A last event does not wait. */
const gatherMs = 500;
/** The turns' writers hand over at the same moments, so often, for the store to take what is of many turns at once. */
const beatMs = 100;
const leastRetryMs = 250;
const mostRetryMs = 5_000;

export interface TurnWriterOptions {
  /** Stores events, all or none. */
  store: (events: SequencedEvent[]) => Promise<void>;
  /** They are in the store, for which the first of them has waited so many milliseconds. */
  stored: (events: SequencedEvent[], waitedMs: number) => void;
  /** They could not be stored; it is tried again. */
  failed: (error: unknown) => void;
}

/**
 * Brings one turn's events to the store, in order, batch by batch, off their readers' path. While the store is away
 * they wait, and it is tried again; when too many wait, whoever brings them is told to (`room`).
 */
export class TurnWriter {
  readonly #options: TurnWriterOptions;
  #waiting: { entry: SequencedEvent; size: number; since: number }[] = [];
  #size = 0;
  #writing: Promise<void> | null = null;
  #hurried = false;
  #stopped = false;
  /** Ends the pause that goes on. */
  #wake: () => void = () => {};
  #room: (() => void)[] = [];

  constructor(options: TurnWriterOptions) {
    this.#options = options;
  }

  /** Hands over the next event. */
  add(entry: SequencedEvent): void {
    const size = sizeOf(entry.event);
    this.#waiting.push({ entry, size, since: performance.now() });
    this.#size += size;
    if (statusAfter(entry.event) !== "running") this.hurry();
    this.#writing ??= this.#write();
  }

  /** How many events wait for the store. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** False while too much waits for the store. */
  get hasRoom(): boolean {
    return this.#size < maximumUnstored;
  }

  /** Resolves when there is room again, or `signal` is aborted. */
  async room(signal: AbortSignal): Promise<void> {
    while (!this.hasRoom && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const done = () => {
          signal.removeEventListener("abort", done);
          resolve();
        };
        this.#room.push(done);
        signal.addEventListener("abort", done);
      });
    }
  }

  /** Has what waits be stored now. */
  hurry(): void {
    this.#hurried = true;
    this.#wake();
  }

  /** Resolves when all that was handed over is stored, or given up by `stop`. */
  async flushed(): Promise<void> {
    this.hurry();
    await this.#writing;
  }

  /** Stores what waits; what the store does not take at once is left. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.flushed();
  }

  async #write(): Promise<void> {
    for (const backoff = new Backoff(leastRetryMs, mostRetryMs); this.#waiting.length > 0; ) {
      if (!this.#hurried) await this.#pause(untilLastBeat());
      const batch = this.#batch();
      try {
        await this.#options.store(batch);
      } catch (error) {
        if (this.#stopped) break;
        this.#options.failed(error);
        await this.#pause(backoff.next());
        if (this.#stopped) break;
        continue;
      }
      backoff.reset();
      const waitedMs = performance.now() - this.#waiting[0]!.since;
      for (const { size } of this.#waiting.splice(0, batch.length)) this.#size -= size;
      for (const resolve of this.#room.splice(0)) resolve();
      this.#options.stored(batch, waitedMs);
    }
    this.#hurried = false;
    this.#writing = null;
  }

  #batch(): SequencedEvent[] {
    let size = 0;
    const beyond = this.#waiting.findIndex((each, index) => {
      size += each.size;
      return index > 0 && (index >= maximumBatch || size > maximumBatchSize);
    });
    return this.#waiting.slice(0, beyond < 0 ? undefined : beyond).map(({ entry }) => entry);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Until the last beat within `gatherMs`. */
function untilLastBeat(): number {
  const end = performance.now() + gatherMs;
  return gatherMs - (end % beatMs);
}
