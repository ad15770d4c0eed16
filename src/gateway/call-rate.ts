/** Model calls that an agent may begin, per second and in a burst. A turn begins one or two a second. */
const perSecond = 100;
const burst = 300;
/** A request counts as one more call per this many JSON values. Reading them takes about half a millisecond. */
const valuesPerCall = 2_000;
/** Requests with more values are read in a separate thread. */
const mostCounted = 20_000;

/** Limits how often one agent calls its models: even a refused call takes the server's time. */
export class CallRate {
  #left = burst;
  #seen = performance.now();

  /** Counts a call. Returns what there is too much of, in words; null if the call may begin. */
  excess(): string | null {
    const now = performance.now();
    this.#left = Math.min(burst, this.#left + ((now - this.#seen) / 1000) * perSecond);
    this.#seen = now;
    if (this.#left < 1) return `${perSecond} model calls a second`;
    this.#left--;
    return null;
  }

  /** Counts the cost of a request's size, which delays later calls. */
  count(values: number): void {
    this.#left -= Math.min(values, mostCounted) / valuesPerCall;
  }
}
