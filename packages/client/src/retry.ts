const firstPauseMs = 250;
const longestPauseMs = 8_000;
/** If the service asks for a longer pause, its answer is the error. */
const longestAskedMs = 60_000;

/** Statuses after which the same request may succeed: too many requests, or not available for a while. */
const transient = new Set([429, 503]);

/** Milliseconds to wait before the next attempt; null if there is none. `attempt` counts from 0, without `retries`. */
export function pauseAfter(attempt: number, retries: number, response: Response | null): number | null {
  if (attempt >= retries || (response && !transient.has(response.status))) return null;
  const asked = response ? retryAfterMs(response.headers.get("retry-after")) : null;
  if (asked !== null) return asked <= longestAskedMs ? asked : null;
  const pause = Math.min(firstPauseMs * 2 ** attempt, longestPauseMs);
  // Clients that were refused together do not come back together.
  return pause * (0.75 + Math.random() / 2);
}

/** Seconds, or a date (RFC 9110, 10.2.3). */
function retryAfterMs(value: string | null): number | null {
  if (value === null) return null;
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** Resolves after that time. Rejects with the signal's reason as soon as it aborts. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}
