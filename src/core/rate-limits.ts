/** How many uses are allowed per minute. */
export interface RateLimitPolicy {
  /** Its name in the headers. */
  name: "requests" | "account" | "address" | "agents" | "keys";
  limit: number;
}

/** The window of every policy, seconds. */
export const rateLimitWindow = 60;

/** The rest of the current window. */
export interface Allowance {
  policy: RateLimitPolicy;
  /** False: the limit is exceeded. */
  allowed: boolean;
  remaining: number;
  /** Until the window ends, milliseconds. */
  resetMs: number;
}

/** Counts uses across all servers of one database. */
export interface RateLimiter {
  /**
   * Counts one more use for `who`. Null if there is no limit, or if the counts are unavailable: then nobody is limited.
   */
  take(who: string): Promise<Allowance | null>;
}
