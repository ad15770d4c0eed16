/** The agent of the request. */
export interface MemoryHolder {
  agent: string;
  account: string;
}

interface Waiting {
  holder: MemoryHolder;
  bytes: number;
  grant: () => void;
}

/** In bytes. */
interface Limits {
  total: number;
  /** The limit for the agents of one account together. */
  perAccount: number;
  /** The limit of one request. */
  perAgent: number;
}

/**
 * Limits the memory of model requests, in total, per account and per agent. A request waits for memory; the agent that
 * holds least goes first, so that no agent can starve the others.
 */
export class RequestMemory {
  readonly #limits: Limits;
  #free: number;
  /** By agent and by account. */
  readonly #held = new Map<string, number>();
  readonly #waiting: Waiting[] = [];

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#free = limits.total;
  }

  /** Reserves memory until the result is disposed. Rejects with the reason of `signal` if it is aborted first. */
  async acquire(holder: MemoryHolder, bytes: number, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const granted = Promise.withResolvers<void>();
    const entry = { holder, bytes, grant: granted.resolve };
    const leave = () => {
      const position = this.#waiting.indexOf(entry);
      if (position < 0) return;
      this.#waiting.splice(position, 1);
      granted.reject(signal.reason);
      this.#serve();
    };
    signal.addEventListener("abort", leave, { once: true });
    this.#waiting.push(entry);
    this.#serve();
    await granted.promise.finally(() => signal.removeEventListener("abort", leave));
    return { [Symbol.dispose]: () => this.#release(holder, bytes) };
  }

  #release(holder: MemoryHolder, bytes: number): void {
    this.#hold(holder, -bytes);
    this.#serve();
  }

  #serve(): void {
    for (let next = this.#next(); next && next.bytes <= this.#free; next = this.#next()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#hold(next.holder, next.bytes);
      next.grant();
    }
  }

  #hold({ agent, account }: MemoryHolder, bytes: number): void {
    this.#free -= bytes;
    // An agent may stand for its account.
    for (const id of new Set([agent, account])) {
      const held = this.#heldBy(id) + bytes;
      if (held > 0) this.#held.set(id, held);
      else this.#held.delete(id);
    }
  }

  /** Among those within their limits, the first of the agent that holds least. */
  #next(): Waiting | null {
    const { perAgent, perAccount } = this.#limits;
    let least: Waiting | null = null;
    for (const entry of this.#waiting) {
      const { agent, account } = entry.holder;
      if (this.#heldBy(agent) + entry.bytes > perAgent) continue;
      if (this.#heldBy(account) + entry.bytes > perAccount) continue;
      if (!least || this.#heldBy(agent) < this.#heldBy(least.holder.agent)) least = entry;
    }
    return least;
  }

  #heldBy(id: string): number {
    return this.#held.get(id) ?? 0;
  }
}
