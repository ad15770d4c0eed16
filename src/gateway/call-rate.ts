/** Model calls an agent may begin a second, over time and at most at once. A turn begins one or two a second. */
const perSecond = 20;
const burst = 60;

/** Bounds how often one agent calls its models: each call takes the server's time, also one that is refused. */
export class CallRate {
  #left = burst;
  #seen = performance.now();

  /** Counts a call. What there is too much of, in words; null where it may begin. */
  excess(): string | null {
    const now = performance.now();
    this.#left = Math.min(burst, this.#left + ((now - this.#seen) / 1000) * perSecond);
    this.#seen = now;
    if (this.#left < 1) return `${perSecond} model calls a second`;
    this.#left--;
    return null;
  }
}
