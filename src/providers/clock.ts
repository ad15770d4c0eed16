/** A difference below this refuses no request. */
const leastMs = 60_000;

/** The time at a provider, for what is signed with the time. Follows the provider's clock once that has refused a request. */
export class Clock {
  #aheadMs = 0;

  now(): Date {
    return new Date(Date.now() + this.#aheadMs);
  }

  /** Whether the header `date` of a refusal shows another time, which `now` returns from then on. */
  follow(header: unknown): boolean {
    const there = Date.parse(String(header));
    if (Number.isNaN(there) || Math.abs(there - this.now().getTime()) < leastMs) return false;
    this.#aheadMs = there - Date.now();
    return true;
  }
}
