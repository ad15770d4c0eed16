import { type SequencedEvent, statusAfter, type TurnEvent } from "./chat.ts";

/** Limits on what a log keeps in memory and on a reader's batches. Sizes are measured by `sizeOf`. */
export interface LogLimits {
  /** The window of latest events, at least one. Events that are not stored yet are kept in addition. */
  windowEvents: number;
  windowSize: number;
  /** The limits of a batch, which has at least one event. */
  batchEvents: number;
  batchSize: number;
}

export const usualLimits: LogLimits = {
  windowEvents: 2_000,
  windowSize: 1024 * 1024,
  batchEvents: 500,
  batchSize: 256 * 1024,
};

export interface LogOptions {
  /** The number of the next event; all earlier ones are in the store. */
  from?: number;
  /** Whether the log is complete: the event before `next` was the last. */
  ended?: boolean;
  /** A page of stored events after this number, oldest first; empty if there are none. */
  older: (after: number) => Promise<SequencedEvent[]>;
  limits?: LogLimits;
}

interface Entry {
  item: SequencedEvent;
  size: number;
}

/**
 * A turn's events, numbered without gaps: the latest in memory, the others in a store. Readers may come at any time and
 * more than once; each sees every event after its cursor exactly once, in order, and then the end. A slow reader delays
 * no other and needs no memory: it reads older events from the store, and then continues live. An event leaves memory
 * only after `stored` has confirmed it.
 */
export class EventLog {
  readonly #older: LogOptions["older"];
  readonly #limits: LogLimits;
  readonly #window: Entry[] = [];
  #size = 0;
  /** The number of the first event in the window, or of the next event if it is empty. */
  #begin: number;
  #stored: number;
  #ended: boolean;
  /** `wake` wakes a waiting reader. */
  readonly #readers = new Set<{ wake: () => void }>();

  constructor({ from = 1, ended = false, older, limits = usualLimits }: LogOptions) {
    this.#begin = from;
    this.#stored = from - 1;
    this.#ended = ended;
    this.#older = older;
    this.#limits = limits;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** The number of the next event. */
  get nextSeq(): number {
    return this.#begin + this.#window.length;
  }

  /** How many events are in memory. */
  get kept(): number {
    return this.#window.length;
  }

  /** Adds an event and returns it with its number; null after a last event, when no more are accepted. */
  append(event: TurnEvent): SequencedEvent | null {
    if (this.#ended) return null;
    const item = { seq: this.nextSeq, event };
    const size = sizeOf(event);
    this.#window.push({ item, size });
    this.#size += size;
    this.#ended = statusAfter(event) !== "running";
    this.#trim();
    this.#wake();
    return item;
  }

  /** The store has all events up to this number. */
  stored(seq: number): void {
    this.#stored = Math.max(this.#stored, seq);
    this.#trim();
  }

  /** Events after `after`, in batches as they arrive, up to the turn's last. Rejects if the store cannot be read. */
  async *read(after: number, signal: AbortSignal): AsyncGenerator<SequencedEvent[]> {
    const reader = { wake: () => {} };
    const stop = () => reader.wake();
    signal.addEventListener("abort", stop);
    this.#readers.add(reader);
    try {
      for (let cursor = after; !signal.aborted; ) {
        const batch = cursor + 1 < this.#begin ? await this.#page(cursor) : this.#slice(cursor);
        if (batch.length > 0) {
          cursor = batch.at(-1)!.seq;
          yield batch;
        } else if (this.#ended) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            reader.wake = resolve;
          });
        }
      }
    } finally {
      signal.removeEventListener("abort", stop);
      this.#readers.delete(reader);
    }
  }

  async #page(cursor: number): Promise<SequencedEvent[]> {
    const page = await this.#older(cursor);
    if (page[0]?.seq !== cursor + 1) throw new Error(`event ${cursor + 1} is neither in memory nor in the store`);
    return page;
  }

  /** A batch from the window; empty if the cursor is beyond the last event. */
  #slice(cursor: number): SequencedEvent[] {
    const { batchEvents, batchSize } = this.#limits;
    const batch: SequencedEvent[] = [];
    let size = 0;
    for (let at = cursor + 1 - this.#begin; at < this.#window.length && batch.length < batchEvents; at++) {
      const entry = this.#window[at]!;
      size += entry.size;
      if (size > batchSize && batch.length > 0) break;
      batch.push(entry.item);
    }
    return batch;
  }

  /** Drops a quarter of the window at a time, so that most events cost nothing here. */
  #trim(): void {
    const { windowEvents, windowSize } = this.#limits;
    if (this.#window.length <= windowEvents && this.#size <= windowSize) return;
    let dropped = 0;
    while (
      dropped < this.#window.length - 1 &&
      this.#begin + dropped <= this.#stored &&
      (this.#window.length - dropped > windowEvents * 0.75 || this.#size > windowSize * 0.75)
    ) {
      this.#size -= this.#window[dropped]!.size;
      dropped++;
    }
    this.#window.splice(0, dropped);
    this.#begin += dropped;
  }

  #wake(): void {
    for (const reader of this.#readers) reader.wake();
  }
}

/** The approximate size of an event: the characters of its JSON, plus the overhead of an object. */
export function sizeOf(event: TurnEvent): number {
  return 100 + ("delta" in event ? event.delta.length : JSON.stringify(event).length);
}
