import { pause } from "../core/retry.ts";
import type { AcmeStore, ChallengeResponse } from "./store.ts";

/** How long an answer of the database is used. */
const freshMs = 1_000;
/** How long a validation waits for the database. */
const readMs = 2_000;
/** How long after its storing all servers have a response: longer than `freshMs`. */
export const settleMs = 1_500;

/** The responses to challenges of the orders under way. Reads the database once a second at most. */
export class PendingChallenges {
  readonly #store: AcmeStore;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<ChallengeResponse[]> = Promise.resolve([]);

  constructor(store: AcmeStore) {
    this.#store = store;
  }

  /** Empty while the database does not respond. */
  read(): Promise<ChallengeResponse[]> {
    const now = performance.now();
    if (now - this.#readAt > freshMs) {
      this.#readAt = now;
      const late = pause(readMs).then(() => []);
      this.#reading = Promise.race([this.#store.challenges().catch(() => []), late]);
    }
    return this.#reading;
  }
}
