/** How often something may be done within a minute. */
export interface RateLimitPolicy {
  /** Its name in the headers. */
  name: "requests" | "address" | "agents" | "keys";
  limit: number;
}

/** The window of every policy, seconds. */
export const rateLimitWindow = 60;

/** What is left to somebody within the window that runs. */
export interface Allowance {
  policy: RateLimitPolicy;
  /** False: this time was one too many. */
  allowed: boolean;
  remaining: number;
  /** Until the window ends, milliseconds. */
  resetMs: number;
}

/** Counts what is done, over all servers of one database. */
export interface RateLimiter {
  /**
   * Counts one more time for `who`. Null where there is no limit, and while the counts cannot be had: then nobody is
   * held up for it.
   */
  take(who: string): Promise<Allowance | null>;
}
