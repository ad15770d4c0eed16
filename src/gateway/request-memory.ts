interface Waiting {
  agent: string;
  bytes: number;
  grant: () => void;
}

/**
 * Bounds the memory of model requests, in total and per agent. A request waits until there is room; the agent that
 * holds least goes first, so that no agent can starve the others.
 */
export class RequestMemory {
  readonly #perAgent: number;
  #free: number;
  readonly #held = new Map<string, number>();
  readonly #waiting: Waiting[] = [];

  /** In bytes. No request may be larger than `perAgent`. */
  constructor({ total, perAgent }: { total: number; perAgent: number }) {
    this.#free = total;
    this.#perAgent = perAgent;
  }

  /** Reserves memory until the result is disposed. Rejects with the reason of `signal` if it is aborted first. */
  async acquire(agent: string, bytes: number, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const granted = Promise.withResolvers<void>();
    const entry = { agent, bytes, grant: granted.resolve };
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
    return { [Symbol.dispose]: () => this.#release(agent, bytes) };
  }

  #release(agent: string, bytes: number): void {
    const left = this.#heldBy(agent) - bytes;
    if (left > 0) this.#held.set(agent, left);
    else this.#held.delete(agent);
    this.#free += bytes;
    this.#serve();
  }

  #serve(): void {
    for (let next = this.#next(); next && next.bytes <= this.#free; next = this.#next()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#free -= next.bytes;
      this.#held.set(next.agent, this.#heldBy(next.agent) + next.bytes);
      next.grant();
    }
  }

  /** Among those within their agent's limit, the first of the agent that holds least. */
  #next(): Waiting | null {
    let least: Waiting | null = null;
    for (const entry of this.#waiting) {
      if (this.#heldBy(entry.agent) + entry.bytes > this.#perAgent) continue;
      if (!least || this.#heldBy(entry.agent) < this.#heldBy(least.agent)) least = entry;
    }
    return least;
  }

  #heldBy(agent: string): number {
    return this.#held.get(agent) ?? 0;
  }
}
