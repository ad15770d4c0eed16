/** Slots that each holder acquires one by one, in the order of the calls. */
export class Places {
  readonly #limits: { perHolder: number; waiting: number; waitMs: number };
  readonly #holders = new Map<string, { taken: number; waiting: (() => void)[] }>();

  /** `waiting`: limit on one holder's waiting calls. */
  constructor(limits: { perHolder: number; waiting: number; waitMs: number }) {
    this.#limits = limits;
  }

  /**
   * Waits for a slot of the holder, and returns the function that frees it, which may be called twice. Null if too many
   * wait, or if none is free in time.
   */
  async take(holder: string): Promise<(() => void) | null> {
    const places = this.#holders.get(holder) ?? { taken: 0, waiting: [] };
    this.#holders.set(holder, places);
    if (places.taken < this.#limits.perHolder) places.taken++;
    else if (!(await this.#next(places.waiting))) return null;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = places.waiting.shift();
      if (next) return next();
      places.taken--;
      if (places.taken === 0) this.#holders.delete(holder);
    };
  }

  /** Resolves with true when this waiter gets a slot, and with false after the timeout. */
  async #next(waiting: (() => void)[]): Promise<boolean> {
    if (waiting.length >= this.#limits.waiting) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const pass = () => resolve(true);
    waiting.push(pass);
    const late = setTimeout(() => {
      waiting.splice(waiting.indexOf(pass), 1);
      resolve(false);
    }, this.#limits.waitMs);
    return promise.finally(() => clearTimeout(late));
  }
}
