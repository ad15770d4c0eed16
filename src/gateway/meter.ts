import { createParser } from "eventsource-parser";
import type { TokenCounts } from "../service/ledger.ts";
import { isObject, type Reading, type Wire } from "./wires/wire.ts";

/** Of an answer in one piece, more is not kept: it is paid by its size, as one that has no figures. */
const maximumAnswerBytes = 16 * 1024 * 1024;

/** Reads along as an answer passes: what it used, whether it is whole, whether it ends in an error. */
export class Meter {
  readonly #wire: Wire;
  readonly #feed: (text: string) => void;
  readonly #whole: () => void;
  readonly #decoder = new TextDecoder();
  #tokens: TokenCounts | null = null;
  #written = 0;
  #ended = false;
  #finished = false;
  #error: Reading["error"] | null = null;

  constructor(wire: Wire, contentType: string) {
    this.#wire = wire;
    if (contentType.includes("text/event-stream")) {
      const parser = createParser({ onEvent: ({ data }) => this.#event(data) });
      this.#feed = (text) => parser.feed(text);
      this.#whole = () => {};
    } else {
      let body: string | null = "";
      let bytes = 0;
      this.#feed = (text) => {
        bytes += Buffer.byteLength(text);
        body = body === null || bytes > maximumAnswerBytes ? null : body + text;
      };
      this.#whole = () => {
        if (body === null) {
          this.#ended = true;
          this.#written = bytes;
          return;
        }
        this.#event(body);
        if (!this.#tokens && !this.#error) this.#written = Buffer.byteLength(body);
      };
    }
  }

  /** Something has come that costs. */
  get begun(): boolean {
    return this.#tokens !== null || this.#written > 0;
  }

  /** The answer has come to its own end. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The provider's figures, which grow with the answer; null before the first. */
  get tokens(): TokenCounts | null {
    return this.#tokens;
  }

  /** What the model has written so far, in bytes of UTF-8; of an answer in one piece, only where it has no figures. */
  get written(): number {
    return this.#written;
  }

  /** Reads the next of the answer. The error that it told of, if it did. */
  see(chunk: Uint8Array | string): Reading["error"] | null {
    this.#error = null;
    this.#feed(typeof chunk === "string" ? chunk : this.#decoder.decode(chunk, { stream: true }));
    return this.#error;
  }

  /** Reads what can be read only when all is there. A second call does nothing. */
  finish(): Reading["error"] | null {
    this.#error = null;
    if (!this.#finished) this.#whole();
    this.#finished = true;
    return this.#error;
  }

  #event(data: string): void {
    // OpenAI's mark at a stream's end, which some compatible servers send in place of a finish reason.
    if (data === "[DONE]") this.#ended = true;
    const event = parse(data);
    if (!isObject(event)) return;
    const { tokens, text, end, error } = this.#wire.read(event);
    if (end) this.#ended = true;
    if (error) this.#error = error;
    if (text) this.#written += Buffer.byteLength(text);
    if (tokens && Object.keys(tokens).length > 0) this.#tokens = largest(this.#tokens ?? {}, tokens);
  }
}

function largest(before: TokenCounts, tokens: TokenCounts): TokenCounts {
  const all = { ...before };
  for (const [name, value] of Object.entries(tokens) as [keyof TokenCounts, number][]) {
    all[name] = Math.max(all[name] ?? 0, value);
  }
  return all;
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}
