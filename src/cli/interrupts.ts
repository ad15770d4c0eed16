import { InterruptedError } from "./errors.ts";

/**
 * Ctrl-C while a reply comes: the first aborts `cancel`, which interrupts the turn, the second `quit`, which ends
 * all that waits with `InterruptedError`. Disposing it gives Ctrl-C its usual effect again.
 */
export class Interrupts implements Disposable {
  readonly #cancel = new AbortController();
  readonly #quit = new AbortController();
  readonly #listener = () => {
    if (this.#cancel.signal.aborted) this.#quit.abort(new InterruptedError());
    this.#cancel.abort();
  };

  constructor() {
    process.on("SIGINT", this.#listener);
  }

  get cancel(): AbortSignal {
    return this.#cancel.signal;
  }

  get quit(): AbortSignal {
    return this.#quit.signal;
  }

  [Symbol.dispose](): void {
    process.off("SIGINT", this.#listener);
  }
}
