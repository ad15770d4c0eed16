import { BerthError } from "../contract/errors.ts";

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
export function isPassing(error: unknown): boolean {
  return error instanceof BerthError && (error.code === "database_unavailable" || error.code === "disk_full");
}
