import { type SequencedEvent, statusAfter, type TurnEvent } from "./chat.ts";

/**
 * A turn's events in memory, numbered without a gap. Readers may come at any time and more than once; each sees
 * every event after its cursor exactly once, in order, and then the end. A reader that is slow holds up nobody:
 * it reads from the log at its own pace.
 */
export class EventLog {
  readonly #entries: SequencedEvent[] = [];
  readonly #first: number;
  #ended = false;
  #waiting: (() => void)[] = [];

  /** `from` is the number that the first event will have. */
  constructor(from = 1) {
    this.#first = from;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** The number that the next event will have. */
  get nextSeq(): number {
    return this.#first + this.#entries.length;
  }

  /** Adds an event and answers it with its number; null after a last event, when no more are taken. */
  append(event: TurnEvent): SequencedEvent | null {
    if (this.#ended) return null;
    const entry = { seq: this.nextSeq, event };
    this.#entries.push(entry);
    this.#ended = statusAfter(event) !== "running";
    this.#wake();
    return entry;
  }

  /** Events after `after`, in batches as they come, to the turn's last. */
  async *read(after: number, signal: AbortSignal): AsyncGenerator<SequencedEvent[]> {
    let position = Math.max(0, after + 1 - this.#first);
    while (!signal.aborted) {
      const batch = this.#entries.slice(position);
      if (batch.length > 0) {
        position += batch.length;
        yield batch;
      } else if (this.#ended) {
        return;
      } else {
        await this.#next(signal);
      }
    }
  }

  #next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        signal.removeEventListener("abort", done);
        resolve();
      };
      signal.addEventListener("abort", done);
      this.#waiting.push(done);
    });
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}
