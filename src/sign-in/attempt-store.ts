import { createHash } from "node:crypto";
import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import type { Database } from "../core/database/database.ts";
import { countsIn } from "../core/database/rate-limiter.ts";
import type { SignInAttempt } from "./attempt.ts";

const windowSeconds = 15 * 60;
/** People may share an address. */
const namesPerAddress = 5;
/** An attacker may have many addresses. */
const addressesPerName = 10;

/**
 * Sign-in attempts, counted across all servers of a database: per name at an address, per address, and per name. An
 * attempt with a device cookie counts for that device alone, so nobody can lock out a user who has signed in before or
 * has a one-time link.
 * https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies
 */
export class SignInAttempts {
  readonly #names: RateLimiterPostgres;
  readonly #namesAtAddress: RateLimiterPostgres;
  readonly #addresses: RateLimiterPostgres;
  readonly #devices: RateLimiterPostgres;
  readonly #clientOf: (address: string) => string;

  /**
   * `wrongPerName`: failed attempts allowed for a name at an address in 15 minutes; `clientOf`: the client that an
   * address stands for.
   */
  constructor(database: Database, wrongPerName: number, clientOf: (address: string) => string) {
    this.#clientOf = clientOf;
    const limiter = (keyPrefix: string, points: number) =>
      new RateLimiterPostgres({
        ...countsIn(database, "sign_in_attempts"),
        keyPrefix,
        points,
        duration: windowSeconds,
      });
    this.#names = limiter("name", wrongPerName * addressesPerName);
    this.#namesAtAddress = limiter("name-address", wrongPerName);
    this.#addresses = limiter("address", wrongPerName * namesPerAddress);
    this.#devices = limiter("device", wrongPerName);
  }

  /**
   * Counts an attempt before its outcome is known, so that concurrent ones are counted too. If there were too many,
   * returns the seconds until the next may be made, otherwise null.
   */
  async begin(attempt: SignInAttempt): Promise<number | null> {
    for (const [limiter, key] of this.#countsOf(attempt)) {
      const wait = await secondsToWait(limiter, key);
      // Skips the name: a refusal for one address must not lock it for others.
      if (wait > 0) return wait;
    }
    return null;
  }

  /** The attempt succeeded, and does not count. */
  async succeeded(attempt: SignInAttempt): Promise<void> {
    for (const [limiter, key] of this.#countsOf(attempt)) {
      // Resets the count when a correct password shows that all errors were the user's own.
      if (limiter === this.#devices || limiter === this.#namesAtAddress) await limiter.delete(key);
      else await limiter.reward(key);
    }
  }

  #countsOf({ name, address, device }: SignInAttempt): [RateLimiterPostgres, string][] {
    if (device !== null) return [[this.#devices, device]];
    const client = this.#clientOf(address);
    if (name === null) return [[this.#addresses, client]];
    return [
      [this.#addresses, client],
      [this.#namesAtAddress, keyOf(`${client} ${name}`)],
      [this.#names, keyOf(name)],
    ];
  }
}

/** Hashed, because names may be longer than the table's keys. */
function keyOf(name: string): string {
  return createHash("sha256").update(name).digest("base64url");
}

async function secondsToWait(limiter: RateLimiterPostgres, key: string): Promise<number> {
  try {
    await limiter.consume(key);
    return 0;
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return Math.ceil(refused.msBeforeNext / 1000);
    throw refused;
  }
}
