import { setTimeout as sleep } from "node:timers/promises";

export const eventsPerSecond = 50;

/** The clock that all processes of a host share, in nanoseconds, as text of fixed length. */
export function clock(): string {
  return String(process.hrtime.bigint()).padStart(20, "0");
}

/**
 * Calls `tick` for this many seconds, `perSecond` times in each, starting at a moment within the first interval. `asked`:
 * the seconds, and the rate where it is not `eventsPerSecond`, as in `8` or `8/20`.
 */
export async function ticks(asked: string, tick: () => void): Promise<void> {
  const [seconds, perSecond = eventsPerSecond] = asked.split("/").map(Number) as [number, number?];
  const gap = 1_000 / perSecond;
  const begun = performance.now() + Math.random() * gap;
  for (let done = 0; done < seconds * perSecond; done++) {
    await sleep(Math.max(1, begun + done * gap - performance.now()));
    tick();
  }
}
