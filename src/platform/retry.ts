import { BerthError } from "../contract/errors.ts";

const leastRetryMs = 500;
const mostRetryMs = 30_000;

/** How long to wait between two tries of what failed: twice as long each time, up to the longest. In milliseconds. */
export class Backoff {
  readonly #least: number;
  readonly #most: number;
  #next: number;

  constructor(least: number, most: number) {
    this.#least = least;
    this.#most = most;
    this.#next = least;
  }

  /** How long to wait before the next try. */
  next(): number {
    const ms = this.#next;
    this.#next = Math.min(ms * 2, this.#most);
    return ms;
  }

  /** A try has succeeded. */
  reset(): void {
    this.#next = this.#least;
  }
}

/** Resolves after so many milliseconds, or at once when `signal` is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal?.aborted) done();
    signal?.addEventListener("abort", done);
  });
}

/** True for a database that is away or full, which passes. */
export function isTransient(error: unknown): boolean {
  return error instanceof BerthError && (error.code === "database_unavailable" || error.code === "disk_full");
}

/**
 * Asks the database until it answers: one that is away for a while fails nothing. `failed` is told of each vain try.
 * Throws what `signal` is aborted with.
 */
export async function retryTransient<T>(
  ask: () => Promise<T>,
  signal: AbortSignal,
  failed: (error: unknown) => void,
): Promise<T> {
  for (const backoff = new Backoff(leastRetryMs, mostRetryMs); ; ) {
    signal.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (!isTransient(error)) throw error;
      failed(error);
      await pause(backoff.next(), signal);
    }
  }
}
