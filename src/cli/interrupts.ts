import { InterruptedError } from "./errors.ts";

/**
 * Handles Ctrl-C during a reply. The first aborts `cancel`, which interrupts the turn. The second aborts `quit`, which
 * ends every wait with `InterruptedError`. Disposing restores Ctrl-C's default effect.
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
