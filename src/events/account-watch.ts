import { Backoff, pause } from "../core/retry.ts";
import type { AccountEventStore, News } from "./store.ts";

const watchEveryMs = 250;
const mostRetryMs = 15_000;

/**
 * Wakes those who follow an account when it has news. While anybody does, the database is asked four times a second, once
 * for all: transactions that notify commit one after the other in PostgreSQL, which would halve the turns that it can
 * take, whether or not anybody follows.
 */
export class AccountWatch {
  readonly #rows: Pick<AccountEventStore, "last" | "news">;
  readonly #failed: (error: unknown) => void;
  readonly #followers = new Map<string, Set<Follower>>();
  #ended = new AbortController();

  /** `failed` is called when the rows could not be read, before they are read again. */
  constructor(rows: Pick<AccountEventStore, "last" | "news">, failed: (error: unknown) => void) {
    this.#rows = rows;
    this.#failed = failed;
  }

  /** Follows an account until the result is disposed. */
  follow(accountId: string): Follower {
    const follower = new Follower(() => this.#leave(accountId, follower));
    if (this.#followers.size === 0) {
      this.#ended = new AbortController();
      void this.#watch(this.#ended.signal);
    }
    const ofAccount = this.#followers.get(accountId) ?? new Set();
    this.#followers.set(accountId, ofAccount.add(follower));
    return follower;
  }

  #leave(accountId: string, follower: Follower): void {
    const ofAccount = this.#followers.get(accountId)!;
    ofAccount.delete(follower);
    if (ofAccount.size === 0) this.#followers.delete(accountId);
    if (this.#followers.size === 0) this.#ended.abort();
  }

  /** Null: all that follow have news, because nobody knows what came since they have looked. */
  async #newsAfter(seen: number | null): Promise<News> {
    if (seen !== null) return this.#rows.news(seen);
    return { last: await this.#rows.last(), accounts: [...this.#followers.keys()] };
  }

  async #watch(ended: AbortSignal): Promise<void> {
    const backoff = new Backoff(watchEveryMs, mostRetryMs);
    let seen: number | null = null;
    for (; !ended.aborted; await pause(backoff.next(), ended)) {
      try {
        const { last, accounts } = await this.#newsAfter(seen);
        seen = last;
        for (const accountId of accounts) for (const follower of this.#followers.get(accountId) ?? []) follower.wake();
        backoff.reset();
      } catch (error) {
        this.#failed(error);
      }
    }
  }
}

/** One who follows an account. */
export class Follower implements Disposable {
  readonly #leave: () => void;
  #isWoken = false;
  #stop: () => void = () => {};

  constructor(leave: () => void) {
    this.#leave = leave;
  }

  wake(): void {
    this.#isWoken = true;
    this.#stop();
  }

  /** Resolves at the first news since it last did, after `mostMs`, or when `signal` aborts. */
  async wait(mostMs: number, signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    this.#stop = () => done.abort();
    signal.addEventListener("abort", this.#stop);
    if (!this.#isWoken && !signal.aborted) await pause(mostMs, done.signal);
    signal.removeEventListener("abort", this.#stop);
    this.#isWoken = false;
  }

  [Symbol.dispose](): void {
    this.#leave();
  }
}
