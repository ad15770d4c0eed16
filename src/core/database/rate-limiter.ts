import { CompiledQuery } from "kysely";
import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import { type Allowance, type RateLimiter, type RateLimitPolicy, rateLimitWindow } from "../rate-limits.ts";
import type { Database } from "./database.ts";

/** The largest part of a limit that a server reserves at once. */
const greatestShare = 1 / 20;

const windowMs = rateLimitWindow * 1000;

/** Number of buckets from which expired ones are removed. */
const maximumBuckets = 10_000;

interface Bucket {
  /** Reserved from the shared count but not used. */
  left: number;
  /** Not reserved by any server, as of the last query. */
  remaining: number;
  /** End of the window, on the clock of `performance.now`. */
  until: number;
  taking: Promise<void> | null;
}

/** A limit across all servers of the database; no limit if `limit` is 0. */
export function openRateLimiter(database: Database, name: RateLimitPolicy["name"], limit: number): RateLimiter {
  return limit === 0 ? { take: async () => null } : new SharedRateLimiter(database, { name, limit });
}

/**
 * Counts in the database, so that a limit holds across all servers. A query per request would cost more than most
 * requests, so a server takes a share in advance (a twentieth of the limit) and hands it out itself. The limit is never
 * exceeded; with several servers, slightly less may be allowed if a window ends with unused shares.
 */
class SharedRateLimiter implements RateLimiter {
  readonly #policy: RateLimitPolicy;
  readonly #share: number;
  readonly #counts: RateLimiterPostgres;
  readonly #buckets = new Map<string, Bucket>();

  constructor(database: Database, policy: RateLimitPolicy) {
    this.#policy = policy;
    this.#share = shareOf(policy.limit);
    this.#counts = new RateLimiterPostgres({
      ...countsIn(database, "rate_limits"),
      keyPrefix: policy.name,
      points: policy.limit,
      duration: rateLimitWindow,
    });
  }

  async take(who: string): Promise<Allowance | null> {
    const bucket = this.#bucketOf(who);
    for (;;) {
      const now = performance.now();
      const open = now < bucket.until;
      if (open && bucket.left > 0) {
        bucket.left--;
        return this.#allowance(bucket, true, now);
      }
      if (open && bucket.remaining === 0) return this.#allowance(bucket, false, now);
      try {
        // Concurrent requests share one query.
        bucket.taking ??= this.#take(who, bucket).finally(() => {
          bucket.taking = null;
        });
        await bucket.taking;
      } catch {
        return null;
      }
    }
  }

  async #take(who: string, bucket: Bucket): Promise<void> {
    const result = await this.#counts.consume(who, this.#share).catch((refused: unknown) => {
      if (refused instanceof RateLimiterRes) return refused;
      throw refused;
    });
    if (result.msBeforeNext > windowMs) {
      // The host's clock was set back since the count began; the row would last until the old time.
      await this.#counts.delete(who);
      return;
    }
    const taken = this.#policy.limit - result.consumedPoints >= 0 ? this.#share : 0;
    const now = performance.now();
    // The rest of an expired window is not carried over.
    bucket.left = (now < bucket.until ? bucket.left : 0) + taken;
    bucket.remaining = taken === 0 ? 0 : result.remainingPoints;
    bucket.until = now + result.msBeforeNext;
  }

  #allowance(bucket: Bucket, allowed: boolean, now: number): Allowance {
    return { policy: this.#policy, allowed, remaining: bucket.left + bucket.remaining, resetMs: bucket.until - now };
  }

  #bucketOf(who: string): Bucket {
    const known = this.#buckets.get(who);
    if (known) return known;
    if (this.#buckets.size >= maximumBuckets) this.#forgetEnded();
    const bucket = { left: 0, remaining: 0, until: 0, taking: null };
    this.#buckets.set(who, bucket);
    return bucket;
  }

  #forgetEnded(): void {
    const now = performance.now();
    for (const [who, { until, taking }] of this.#buckets) if (until <= now && !taking) this.#buckets.delete(who);
  }
}

/** The largest divisor of the limit within the greatest share, so that the whole limit can be taken. */
function shareOf(limit: number): number {
  let share = Math.max(1, Math.floor(limit * greatestShare));
  while (limit % share !== 0) share--;
  return share;
}

/** Makes a limiter count in our own table, over the shared connection pool. `cleanUp` removes old rows. */
export function countsIn(database: Database, tableName: "rate_limits" | "sign_in_attempts") {
  const query = async ({ text, values }: { text: string; values: unknown[] }) => {
    const { rows, numAffectedRows } = await database.executeQuery(CompiledQuery.raw(text, values));
    return { rows, rowCount: rows.length || Number(numAffectedRows ?? 0) };
  };
  return { storeClient: { query }, storeType: "client", tableName, tableCreated: true, clearExpiredByTimeout: false };
}
