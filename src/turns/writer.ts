import { type SequencedEvent, statusAfter } from "../contract/chat.ts";
import { sizeOf } from "../contract/event-log.ts";
import { Backoff } from "../core/retry.ts";

/** Maximum size of unstored events, measured by `sizeOf`, before the turn's source is paused. */
const maximumUnstored = 4 * 1024 * 1024;
/** Per transaction. */
const maximumBatch = 500;
const maximumBatchSize = 1024 * 1024;
/** Maximum time to collect events. A transaction costs more than its content. A last event does not wait. */
const gatherMs = 500;
/** All turns' writers flush on the same beat, so that the store can batch events of many turns. */
const beatMs = 100;
const leastRetryMs = 250;
const mostRetryMs = 5_000;

export interface TurnWriterOptions {
  store: (events: SequencedEvent[]) => Promise<void>;
  stored: (events: SequencedEvent[], waitedMs: number) => void;
  /** Called when storing failed; it is retried. */
  failed: (error: unknown) => void;
}

/**
 * Stores one turn's events in order and in batches, off their readers' path. While the store is down, events wait and
 * storing is retried. When too many wait, the producer must pause (`room`).
 */
export class TurnWriter {
  readonly #options: TurnWriterOptions;
  #waiting: { entry: SequencedEvent; size: number; since: number }[] = [];
  #size = 0;
  #writing: Promise<void> | null = null;
  #hurried = false;
  #stopped = false;
  /** Ends the current pause. */
  #wake: () => void = () => {};
  #room: (() => void)[] = [];

  constructor(options: TurnWriterOptions) {
    this.#options = options;
  }

  /** Adds the next event. */
  add(entry: SequencedEvent): void {
    const size = sizeOf(entry.event);
    this.#waiting.push({ entry, size, since: performance.now() });
    this.#size += size;
    if (statusAfter(entry.event) !== "running") this.hurry();
    this.#writing ??= this.#write();
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get hasRoom(): boolean {
    return this.#size < maximumUnstored;
  }

  /** Resolves when there is capacity again, or `signal` is aborted. */
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

  /** Stores waiting events now. */
  hurry(): void {
    this.#hurried = true;
    this.#wake();
  }

  async flushed(): Promise<void> {
    this.hurry();
    await this.#writing;
  }

  /** Makes one attempt to store waiting events; drops the rest. */
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
