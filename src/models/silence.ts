/** Aborts its signal after this many silent milliseconds. */
export class Silence {
  readonly ms: number;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.ms = ms;
    this.heard();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  heard(): void {
    this.end();
    this.#timer = setTimeout(() => this.#controller.abort(), this.ms);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
