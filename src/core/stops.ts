import type { Log } from "./log.ts";

const partMs = 10_000;

/** The stops of a server's parts. A part that does not stop in time is abandoned and logged. */
export class Stops {
  readonly #log: Log;
  readonly #partMs: number;
  readonly #underWay = new Set<string>();

  constructor(log: Log, maximumMs = partMs) {
    this.#log = log;
    this.#partMs = maximumMs;
  }

  get underWay(): string[] {
    return [...this.#underWay];
  }

  /** The stop of a part, for an `AsyncDisposableStack`. */
  of(part: string, stop: () => unknown, withinMs = this.#partMs): () => Promise<void> {
    return async () => {
      this.#underWay.add(part);
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(() => {
        this.#log("a part of the server did not stop in time; it was given up", { part, withinMs });
        late.resolve();
      }, withinMs);
      const stopped = Promise.resolve().then(stop);
      stopped.catch(() => {}); // Not awaited after a timeout.
      try {
        await Promise.race([stopped, late.promise]);
      } finally {
        clearTimeout(timer);
        this.#underWay.delete(part);
      }
    };
  }
}
