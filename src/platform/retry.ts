import { BerthError } from "../contract/errors.ts";

/** Between two tries; doubled each time, up to the longest. */
const retryMs = 500;
const maximumRetryMs = 30_000;

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
  for (let delay = retryMs; ; delay = Math.min(delay * 2, maximumRetryMs)) {
    signal.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (!isTransient(error)) throw error;
      failed(error);
      await pause(delay, signal);
    }
  }
}
