import { setTimeout as sleep } from "node:timers/promises";

export const eventsPerSecond = 50;

/** The clock that all processes of a host share, in nanoseconds, as text of fixed length. */
export function clock(): string {
  return String(process.hrtime.bigint()).padStart(20, "0");
}

/**
 * Calls `tick` `eventsPerSecond` times a second for this many seconds, starting at a moment within the first interval.
 */
export async function ticks(seconds: number, tick: () => void): Promise<void> {
  const gap = 1_000 / eventsPerSecond;
  const begun = performance.now() + Math.random() * gap;
  for (let done = 0; done < seconds * eventsPerSecond; done++) {
    await sleep(Math.max(1, begun + done * gap - performance.now()));
    tick();
  }
}
