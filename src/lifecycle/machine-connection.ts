import { Duplex } from "node:stream";

/** How long a connection without traffic keeps its machine awake. */
const quietMs = 60_000;

/**
 * A connection into a machine, whose directions close independently. It keeps the machine awake while bytes move and
 * for a minute after, and breaks when the machine sleeps.
 */
export class MachineConnection extends Duplex {
  readonly #stream: Duplex;
  readonly #keepAwake: () => Disposable;
  readonly #timer: NodeJS.Timeout;
  /** Null while there is no traffic. */
  #held: Disposable | null;

  /** `held` keeps the machine awake at first; `keepAwake` does so again. */
  constructor(stream: Duplex, held: Disposable, keepAwake: () => Disposable) {
    super({ allowHalfOpen: true });
    this.#stream = stream;
    this.#held = held;
    this.#keepAwake = keepAwake;
    this.#timer = setTimeout(() => this.#release(), quietMs);
    // Its reader gets the error. It may occur when nobody reads any more, and would end the server.
    this.on("error", () => {});
    stream.on("data", (chunk) => {
      this.#moved();
      if (!this.push(chunk)) stream.pause();
    });
    let isWhole = false;
    stream.on("end", () => {
      isWhole = true;
      this.push(null);
    });
    // A stream that is reset does not always fail.
    stream.on("close", () => isWhole || this.destroy(new Error("the connection to the machine broke")));
  }

  override _read(): void {
    this.#stream.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#moved();
    this.#stream.write(chunk, done);
  }

  override _final(done: () => void): void {
    // A machine may have closed both directions. Its stream then takes no end, which is no failure.
    this.#stream.end(() => done());
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.#release();
    this.#stream.destroy();
    done(error);
  }

  #moved(): void {
    this.#held ??= this.#keepAwake();
    this.#timer.refresh();
  }

  #release(): void {
    this.#held?.[Symbol.dispose]();
    this.#held = null;
  }
}
