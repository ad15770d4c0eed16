import { BerthError } from "../contract/errors.ts";

const leastRetryMs = 500;
const mostRetryMs = 30_000;

/** The delay between attempts, in milliseconds. It doubles each time, up to a maximum. */
export class Backoff {
  readonly #least: number;
  readonly #most: number;
  #next: number;

  constructor(least: number, most: number) {
    this.#least = least;
    this.#most = most;
    this.#next = least;
  }

  next(): number {
    const ms = this.#next;
    this.#next = Math.min(ms * 2, this.#most);
    return ms;
  }

  reset(): void {
    this.#next = this.#least;
  }
}

/** Resolves after this many milliseconds, or at once when `signal` aborts. */
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

/** True for a transient error: the database is unavailable or full. */
export function isTransient(error: unknown): boolean {
  return error instanceof BerthError && (error.code === "database_unavailable" || error.code === "disk_full");
}

/**
 * Retries a database operation until it succeeds, so that a temporary outage fails nothing. Calls `failed` after each
 * failed attempt. Throws the reason `signal` aborts with.
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
