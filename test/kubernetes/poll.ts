import { setTimeout as sleep } from "node:timers/promises";

/** A busy machine takes a minute; the rest is for one that is busier. */
const longestMs = 300_000;

/** Waits until `isDone`. `check` throws when waiting is in vain. */
export async function poll(
  what: string,
  isDone: () => Promise<boolean>,
  check: () => Promise<void> = async () => undefined,
): Promise<void> {
  const end = Date.now() + longestMs;
  while (!(await isDone())) {
    await check();
    if (Date.now() > end) throw new Error(`${longestMs / 1_000} s have passed, and not yet: ${what}`);
    await sleep(200);
  }
}
