export interface RateLimitPolicy {
  name: "requests" | "account" | "address" | "agents" | "keys" | "hooks";
  limit: number;
}

/** The window of every policy, seconds. */
export const rateLimitWindow = 60;

/** The rest of the current window. */
export interface Allowance {
  policy: RateLimitPolicy;
  allowed: boolean;
  remaining: number;
  resetMs: number;
}

export interface RateLimiter {
  /**
   * Counts one more use for `who`. Null if there is no limit, or if the counts are unavailable; then the use is
   * allowed.
   */
  take(who: string): Promise<Allowance | null>;
}
