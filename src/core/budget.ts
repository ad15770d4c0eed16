/** A holder's part of a budget, until disposed. */
export interface Held extends Disposable {
  /** False, without a change, if the budget does not suffice. */
  resize(amount: number): boolean;
}

/**
 * A limited resource that many holders share: bytes, requests, connections.
 *
 * A holder may have `perHolder`, and never more than what is left free. So a holder alone gets half of the total, n
 * greedy ones get an (n + 1)th each, and another one always finds as much free as each of them has.
 */
export class Budget {
  readonly #total: number;
  readonly #perHolder: number;
  #used = 0;
  readonly #ofHolders = new Map<string, number>();

  constructor({ total, perHolder }: { total: number; perHolder: number }) {
    this.#total = total;
    this.#perHolder = perHolder;
  }

  get used(): number {
    return this.#used;
  }

  /** The amount that the holder has. */
  of(holder: string): number {
    return this.#ofHolders.get(holder) ?? 0;
  }

  /** Null if the budget does not suffice. */
  take(holder: string, amount: number): Held | null {
    let held = 0;
    const resize = (next: number): boolean => {
      if (next > held && !this.#allows(holder, next - held)) return false;
      this.#change(holder, next - held);
      held = next;
      return true;
    };
    return resize(amount) ? { resize, [Symbol.dispose]: () => void resize(0) } : null;
  }

  #allows(holder: string, more: number): boolean {
    return this.of(holder) + more <= Math.min(this.#perHolder, this.#total - this.#used);
  }

  #change(holder: string, by: number): void {
    const amount = this.of(holder) + by;
    this.#used += by;
    if (amount > 0) this.#ofHolders.set(holder, amount);
    else this.#ofHolders.delete(holder);
  }
}
