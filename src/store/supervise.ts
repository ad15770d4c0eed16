import { setTimeout as sleep } from "node:timers/promises";
import { Backoff } from "../platform/retry.ts";
import type { EmbeddedPostgres } from "./embedded.ts";

const lookEveryMs = 500;
const leastRetryMs = 500;
const mostRetryMs = 15_000;

/**
 * Restarts PostgreSQL whenever it ends while the server is running: it was killed, or ran out of memory or disk.
 * Disposing ends the supervision first, then PostgreSQL.
 */
export function supervise(postgres: EmbeddedPostgres, log: (message: string, error: unknown) => void): AsyncDisposable {
  const stopped = new AbortController();
  const watching = watch(postgres, stopped.signal, log);
  return {
    [Symbol.asyncDispose]: async () => {
      stopped.abort();
      await watching;
      await postgres.stop();
    },
  };
}

async function watch(
  postgres: EmbeddedPostgres,
  stopped: AbortSignal,
  log: (message: string, error: unknown) => void,
): Promise<void> {
  const backoff = new Backoff(leastRetryMs, mostRetryMs);
  while (!stopped.aborted) {
    let pauseMs = lookEveryMs;
    try {
      if (!(await postgres.running())) {
        log("PostgreSQL has ended; it is started again", null);
        await postgres.ensure();
        log("PostgreSQL runs again", null);
      }
      backoff.reset();
    } catch (error) {
      log("PostgreSQL could not be started; trying again", error);
      pauseMs = backoff.next();
    }
    await sleep(pauseMs, undefined, { signal: stopped }).catch(() => {});
  }
}
