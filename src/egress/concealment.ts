import { Transform } from "node:stream";
import type { Secret } from "./secrets.ts";

/** How much of a response's body is searched for values, in bytes. */
const searchedBytes = 1024 * 1024;
/** Shorter values would match by chance. */
const shortestConcealed = 8;

/** Replaces secret values that a host repeats with placeholders, or stars. */
export class Concealment {
  /** Each value and its replacement, in latin1, so that any bytes can be searched. The longest value first. */
  readonly #pairs: readonly (readonly [string, string])[];

  /** With `keepLength`, a value is replaced with stars of the same length, so that the response keeps its length. */
  constructor(secrets: readonly Secret[], { keepLength }: { keepLength: boolean }) {
    const long = secrets.filter(({ value }) => value.length >= shortestConcealed);
    this.#pairs = long
      .map(({ value, placeholder }) => [value, keepLength ? "*".repeat(value.length) : placeholder] as const)
      .toSorted(([one], [other]) => other.length - one.length);
  }

  get isNeeded(): boolean {
    return this.#pairs.length > 0;
  }

  /** A header, or a piece of a body in latin1. */
  conceal(text: string): string {
    return this.#pairs.reduce((told, [value, placeholder]) => told.replaceAll(value, () => placeholder), text);
  }

  /** Headers, name and value in turn. */
  headers(rawHeaders: readonly string[]): string[] {
    return rawHeaders.map((text) => this.conceal(text));
  }

  /** Forwards a body, without the values in its first MiB. Holds back only a possible beginning of a value. */
  body(): Transform {
    let held = "";
    let searched = 0;
    return new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        if (searched >= searchedBytes && held === "") return done(null, chunk);
        searched += chunk.length;
        const text = this.conceal(held + chunk.toString("latin1"));
        const kept = searched >= searchedBytes ? 0 : this.#beginningAtEnd(text);
        held = text.slice(text.length - kept);
        done(null, Buffer.from(text.slice(0, text.length - kept), "latin1"));
      },
      flush: (done) => done(null, Buffer.from(held, "latin1")),
    });
  }

  /** How many characters at the end of a text may be the beginning of a value. */
  #beginningAtEnd(text: string): number {
    const longest = this.#pairs[0]?.[0].length ?? 0;
    for (let length = Math.min(longest - 1, text.length); length > 0; length--) {
      const end = text.slice(text.length - length);
      if (this.#pairs.some(([value]) => value.startsWith(end))) return length;
    }
    return 0;
  }
}
