import { createHash } from "node:crypto";
import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import type { Database } from "../core/database/database.ts";
import { countsIn } from "../core/database/rate-limiter.ts";

const hour = 3_600;
const day = 24 * hour;

/** Limits that last longer than those of requests, so that nobody mails strangers with links. Counted in the database. */
export class MailLimits {
  readonly #ofPerson: RateLimiterPostgres;
  readonly #toAddress: RateLimiterPostgres;
  readonly #tests: RateLimiterPostgres;

  constructor(database: Database) {
    const limiter = (keyPrefix: string, points: number, duration: number) =>
      new RateLimiterPostgres({ ...countsIn(database, "rate_limits"), keyPrefix, points, duration });
    this.#ofPerson = limiter("mail-links-of-person", 5, day);
    this.#toAddress = limiter("mail-links-to-address", 3, day);
    this.#tests = limiter("notification-tests", 10, hour);
  }

  /** Counts a link. The milliseconds until another one is allowed; null: this one is. */
  async takeLink(personId: string, email: string): Promise<number | null> {
    return (await take(this.#ofPerson, personId)) ?? (await take(this.#toAddress, hashOf(email)));
  }

  /** Counts a test. As `takeLink`. */
  takeTest(personId: string): Promise<number | null> {
    return take(this.#tests, personId);
  }
}

async function take(limiter: RateLimiterPostgres, key: string): Promise<number | null> {
  try {
    await limiter.consume(key);
    return null;
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return Math.max(1, refused.msBeforeNext);
    throw refused;
  }
}

/** Addresses are not kept in the table of limits. */
function hashOf(email: string): string {
  return createHash("sha256").update(email.toLowerCase()).digest("hex");
}
