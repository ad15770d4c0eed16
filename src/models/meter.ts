import { createParser } from "eventsource-parser";
import type { TokenCounts } from "../billing/ledger.ts";
import { isObject, type Reading, type Wire } from "./wires/wire.ts";

/** The limit of an answer that is not streamed. A larger one is charged by size, as if it had no counts. */
const maximumAnswerBytes = 16 * 1024 * 1024;

/** Reads an answer as it passes: its usage, whether it is complete, and whether it ends in an error. */
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

  /** A billable part has been received. */
  get begun(): boolean {
    return this.#tokens !== null || this.#written > 0;
  }

  /** The answer is complete. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The provider's counts so far; null before the first. */
  get tokens(): TokenCounts | null {
    return this.#tokens;
  }

  /** The size of the model's output so far, in bytes of UTF-8. Without streaming, only if the answer has no counts. */
  get written(): number {
    return this.#written;
  }

  /** Reads the next chunk. Returns the error that it reports, if any. */
  see(chunk: Uint8Array | string): Reading["error"] | null {
    this.#error = null;
    this.#feed(typeof chunk === "string" ? chunk : this.#decoder.decode(chunk, { stream: true }));
    return this.#error;
  }

  /** Reads the parts that are complete only at the end. A second call does nothing. */
  finish(): Reading["error"] | null {
    this.#error = null;
    if (!this.#finished) this.#whole();
    this.#finished = true;
    return this.#error;
  }

  #event(data: string): void {
    // OpenAI's end-of-stream marker, which some compatible servers send in place of a finish reason.
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
