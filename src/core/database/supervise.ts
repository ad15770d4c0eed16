import { setTimeout as sleep } from "node:timers/promises";
import { Backoff } from "../retry.ts";
import type { EmbeddedPostgres } from "./embedded.ts";

const lookEveryMs = 500;
/** The size of the log is checked at every 20th look. */
const logEvery = 20;
const leastRetryMs = 500;
const mostRetryMs = 15_000;

/**
 * Restarts PostgreSQL whenever it ends while the server is running: it was killed, or ran out of memory or disk. Keeps
 * its log from growing.
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
  for (let looks = 0; !stopped.aborted; looks++) {
    let pauseMs = lookEveryMs;
    try {
      if (!(await postgres.running())) {
        log("PostgreSQL has ended; it is started again", null);
        await postgres.ensure();
        log("PostgreSQL runs again", null);
      }
      if (looks % logEvery === 0) await postgres.boundLog();
      backoff.reset();
    } catch (error) {
      log("PostgreSQL could not be started; trying again", error);
      pauseMs = backoff.next();
    }
    await sleep(pauseMs, undefined, { signal: stopped }).catch(() => {});
  }
}
