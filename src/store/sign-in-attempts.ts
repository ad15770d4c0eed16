import { createHash } from "node:crypto";
import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import type { Database } from "./database.ts";
import { countsIn } from "./rate-limiter.ts";

const windowSeconds = 15 * 60;
/** People may share an address. */
const namesPerAddress = 5;

/** Sign-in attempts per name, known or not, and per address, counted across all servers of a database. */
export class SignInAttempts {
  readonly #names: RateLimiterPostgres;
  readonly #addresses: RateLimiterPostgres;
  readonly #clientOf: (address: string) => string;

  /** `wrongPerName`: failed attempts allowed in 15 minutes; `clientOf`: the client that an address stands for. */
  constructor(database: Database, wrongPerName: number, clientOf: (address: string) => string) {
    this.#clientOf = clientOf;
    const limiter = (keyPrefix: string, points: number) =>
      new RateLimiterPostgres({
        ...countsIn(database, "sign_in_attempts"),
        keyPrefix,
        points,
        duration: windowSeconds,
      });
    this.#names = limiter("name", wrongPerName);
    this.#addresses = limiter("address", wrongPerName * namesPerAddress);
  }

  /**
   * Counts an attempt before its outcome is known, so that concurrent ones are counted too. If there were too many,
   * returns the seconds until the next may be made, otherwise null. Without a name, counts only the address.
   */
  async begin(name: string | null, address: string): Promise<number | null> {
    const waits = [await secondsToWait(this.#addresses, this.#clientOf(address))];
    if (name !== null) waits.push(await secondsToWait(this.#names, keyOf(name)));
    const longest = Math.max(...waits);
    return longest > 0 ? longest : null;
  }

  /** The attempt succeeded. */
  async succeeded(name: string | null, address: string): Promise<void> {
    await this.#addresses.reward(this.#clientOf(address));
    if (name !== null) await this.#names.delete(keyOf(name));
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
