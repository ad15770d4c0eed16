/** Model calls that an agent may begin, per second and in a burst. A turn begins one or two a second. */
const perSecond = 100;
const burst = 300;
/** A request counts as one more call per this many JSON values. Reading them takes about half a millisecond. */
const valuesPerCall = 2_000;
/** Requests with more values are read in a separate thread. */
const mostCounted = 20_000;
/** And as one more per this many bytes, which take about half a millisecond to receive and to send. */
const bytesPerCall = 128 * 1024;

/** Limits how often one agent calls its models: even a refused call takes the server's time. */
export class CallRate {
  #left = burst;
  #seen = performance.now();

  /** Counts a call. Returns the exceeded limit, in words; null if the call may start. */
  excess(): string | null {
    this.#refill();
    if (this.#left < 1) return `${perSecond} model calls a second`;
    this.#left--;
    return null;
  }

  /** Counts the cost of a request's size, which delays later calls. */
  count({ values = 0, bytes = 0 }: { values?: number; bytes?: number }): void {
    this.#left -= Math.min(values, mostCounted) / valuesPerCall + bytes / bytesPerCall;
  }

  /** Whether no earlier call counts any more. */
  get isAtRest(): boolean {
    this.#refill();
    return this.#left === burst;
  }

  #refill(): void {
    const now = performance.now();
    this.#left = Math.min(burst, this.#left + ((now - this.#seen) / 1000) * perSecond);
    this.#seen = now;
  }
}

/** The rates of all agents. A guest that reconnects keeps its own. */
export class CallRates {
  readonly #rates = new Map<string, CallRate>();

  /** Forgets agents that have stopped calling. */
  sweep(): void {
    for (const [id, rate] of this.#rates) if (rate.isAtRest) this.#rates.delete(id);
  }

  /** Request it for each call; do not keep it. */
  of(agent: string): CallRate {
    const rate = this.#rates.get(agent) ?? new CallRate();
    this.#rates.set(agent, rate);
    return rate;
  }
}
