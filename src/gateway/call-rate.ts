/** Model calls an agent may begin a second, over time and at most at once. A turn begins one or two a second. */
const perSecond = 100;
const burst = 300;
/** A request of this many JSON values counts as one call more. Reading them takes about half a millisecond. */
const valuesPerCall = 2_000;
/** Requests of more are read in a thread of their own. */
const mostCounted = 20_000;

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

  /** Counts what a request's size took: the next calls wait for it. */
  count(values: number): void {
    this.#left -= Math.min(values, mostCounted) / valuesPerCall;
  }
}
