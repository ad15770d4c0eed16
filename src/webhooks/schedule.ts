const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** The waits after each failed try (Standard Webhooks, "Deliverability and reliability"): ten tries in about three days. */
const waits = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
/** The longest wait that a receiver can ask for. */
const longestAskedMs = hour;
/** Waits are longer by up to this share, so that deliveries that failed together do not return together. */
const spread = 0.1;

/**
 * How long to wait after this many failed tries, in milliseconds; null: there is no other. `retryAfter`: the answer's header,
 * seconds or a date, which can make the wait longer.
 */
export function retryWaitMs(failures: number, retryAfter: string | null, now: number, random: number): number | null {
  const wait = waits[failures - 1];
  if (wait === undefined) return null;
  return Math.max(wait * (1 + spread * random), Math.min(askedMs(retryAfter, now), longestAskedMs));
}

/** 0 without a valid header. */
function askedMs(retryAfter: string | null, now: number): number {
  if (retryAfter === null) return 0;
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * second;
  const until = Date.parse(retryAfter);
  return Number.isNaN(until) ? 0 : Math.max(0, until - now);
}
