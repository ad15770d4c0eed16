import type { Certificate } from "../https/certificate.ts";
import { OrderError } from "./order-error.ts";

/**
 * After a failed validation or order. Let's Encrypt counts five failed validations of a name within an hour, which these
 * delays stay below.
 */
const leastDelayMs = 5 * 60_000;
/** While the directory has not counted anything: it could not be reached. */
const leastUnreachedMs = 30_000;
const mostDelayMs = 6 * 3_600_000;

/** When a certificate is renewed: after two thirds of its lifetime. */
export function renewalOf({ leaf }: Certificate): Date {
  const [from, to] = [leaf.validFromDate.getTime(), leaf.validToDate.getTime()];
  return new Date(from + ((to - from) * 2) / 3);
}

/** How long to wait after a failed order. `failures`: those before it. */
export function orderDelay(error: Error, failures: number): { delayMs: number; isLimited: boolean } {
  const { problem = null, retryAfterMs = null } = error instanceof OrderError ? error : {};
  const least = problem === null ? leastUnreachedMs : leastDelayMs;
  const delayMs = Math.min(least * 2 ** Math.min(failures, 20), mostDelayMs);
  return { delayMs: Math.max(delayMs, retryAfterMs ?? 0), isLimited: (retryAfterMs ?? 0) > 0 };
}
