import { Backoff, pause } from "./retry.ts";

const mostRetryMs = 30_000;

/** Looks for work in the database, again and again: at once when woken, and less often while that fails. */
export class LookLoop {
  readonly #everyMs: number;
  readonly #look: () => Promise<void>;
  readonly #failed: (error: unknown) => void;
  readonly #stopped = new AbortController();
  #wakes = new AbortController();
  #work: Promise<void> = Promise.resolve();

  constructor(everyMs: number, look: () => Promise<void>, failed: (error: unknown) => void) {
    this.#everyMs = everyMs;
    this.#look = look;
    this.#failed = failed;
  }

  /** Aborts when the loop is stopped. */
  get stopped(): AbortSignal {
    return this.#stopped.signal;
  }

  begin(): void {
    this.#work = this.#run();
  }

  wake(): void {
    this.#wakes.abort();
  }

  /** Resolves when the last look has ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.wake();
    await this.#work;
  }

  async #run(): Promise<void> {
    const backoff = new Backoff(this.#everyMs, mostRetryMs);
    while (!this.stopped.aborted) {
      this.#wakes = new AbortController();
      const { signal } = this.#wakes;
      let waitMs = this.#everyMs;
      try {
        await this.#look();
        backoff.reset();
      } catch (error) {
        if (this.stopped.aborted) return;
        this.#failed(error);
        waitMs = backoff.next();
      }
      if (!this.stopped.aborted) await pause(waitMs, signal);
    }
  }
}
