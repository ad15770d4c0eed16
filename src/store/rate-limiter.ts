import { CompiledQuery } from "kysely";
import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import { type Allowance, type RateLimiter, type RateLimitPolicy, rateLimitWindow } from "../service/rate-limits.ts";
import type { Database } from "./database.ts";

/** A server takes at most this part of a limit at once. */
const greatestShare = 1 / 20;

const windowMs = rateLimitWindow * 1000;

/** Beyond so many, those whose window has ended are forgotten. */
const maximumBuckets = 10_000;

/** What this server may still give out to one of those who ask. */
interface Bucket {
  /** Taken from the shared count and not given out. */
  left: number;
  /** Not taken by any server when this one last looked. */
  remaining: number;
  /** When the window ends, as `performance.now` has it. */
  until: number;
  taking: Promise<void> | null;
}

/** A limit over all servers of the database; none where `limit` is 0. */
export function openRateLimiter(database: Database, name: RateLimitPolicy["name"], limit: number): RateLimiter {
  return limit === 0 ? { take: async () => null } : new SharedRateLimiter(database, { name, limit });
}

/**
 * Counts in the database, so that a limit holds over all servers. To ask it for each request would cost more than most
 * requests: a server takes a few times ahead (a twentieth of the limit) and gives them out itself. So never more
 * than the limit is given out, and with several servers a few less where a window ends with some not given out.
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
        // Those who ask in the same moment wait for one taking, and share it.
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
      // The host's clock was set back since the count began: it would stay until the old time comes again.
      await this.#counts.delete(who);
      return;
    }
    const taken = this.#policy.limit - result.consumedPoints >= 0 ? this.#share : 0;
    const now = performance.now();
    // What was left of a window that has ended is not carried into the next.
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

/** The greatest whole part of the limit that is not above the greatest share, so that all of the limit can be taken. */
function shareOf(limit: number): number {
  let share = Math.max(1, Math.floor(limit * greatestShare));
  while (limit % share !== 0) share--;
  return share;
}

/** Has a limiter count in a table of ours, over the connections that all queries share; `cleanUp` empties it. */
export function countsIn(database: Database, tableName: "rate_limits" | "sign_in_attempts") {
  const query = async ({ text, values }: { text: string; values: unknown[] }) => {
    const { rows, numAffectedRows } = await database.executeQuery(CompiledQuery.raw(text, values));
    return { rows, rowCount: rows.length || Number(numAffectedRows ?? 0) };
  };
  return { storeClient: { query }, storeType: "client", tableName, tableCreated: true, clearExpiredByTimeout: false };
}
