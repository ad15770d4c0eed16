import { type SequencedEvent, statusAfter, type TurnEvent } from "./chat.ts";

/** The bounds of what a log keeps in memory and of what a reader is given at a time. Sizes as `sizeOf` has them. */
export interface LogLimits {
  /** The window: the last events, of which it keeps at least one. What is not stored yet is kept beyond it. */
  windowEvents: number;
  windowSize: number;
  /** A batch: at least one event, else no more than this. */
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
  /** The number of the next event; all before it are in the store. */
  from?: number;
  /** The event before that was the last. */
  ended?: boolean;
  /** A page of what is stored after that number, the oldest first; empty where there is nothing. */
  older: (after: number) => Promise<SequencedEvent[]>;
  limits?: LogLimits;
}

interface Entry {
  item: SequencedEvent;
  size: number;
}

/**
 * A turn's events, numbered without a gap, of which the last ones are in memory and the others in a store. Readers
 * may come at any time and more than once; each sees every event after its cursor exactly once, in order, and then
 * the end. A reader that is slow holds up nobody and costs nothing: what has left the memory meanwhile it reads from
 * the store, and then goes on live. An event leaves the memory only after `stored` said that the store has it.
 */
export class EventLog {
  readonly #older: LogOptions["older"];
  readonly #limits: LogLimits;
  readonly #window: Entry[] = [];
  #size = 0;
  /** The number of the first event in the window, or of the next where it is empty. */
  #begin: number;
  #stored: number;
  #ended: boolean;
  /** `wake` ends a reader's waiting, if it waits. */
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

  /** The number that the next event will have. */
  get nextSeq(): number {
    return this.#begin + this.#window.length;
  }

  /** How many events are in memory. */
  get kept(): number {
    return this.#window.length;
  }

  /** Adds an event and answers it with its number; null after a last event, when no more are taken. */
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

  /** The store has all events up to that number. */
  stored(seq: number): void {
    this.#stored = Math.max(this.#stored, seq);
    this.#trim();
  }

  /** Events after `after`, in batches as they come, to the turn's last. Rejects when the store cannot be read. */
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

  /** A batch from the window; a cursor beyond the last event is given nothing. */
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

  /** A quarter of the window goes at a time, so that most events cost nothing here. */
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

/** About what an event takes: the characters of its JSON, and what an object costs. */
export function sizeOf(event: TurnEvent): number {
  return 100 + ("delta" in event ? event.delta.length : JSON.stringify(event).length);
}
