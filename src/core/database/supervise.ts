import { setTimeout as sleep } from "node:timers/promises";
import { Backoff } from "../retry.ts";
import type { EmbeddedPostgres } from "./embedded.ts";

const lookEveryMs = 500;
/** How many checks pass between two checks of the log's size. */
const logEvery = 20;
const leastRetryMs = 500;
const mostRetryMs = 15_000;

/**
 * Restarts PostgreSQL whenever it exits while the server runs. Bounds its log. Disposing ends the supervision first,
 * then PostgreSQL.
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
