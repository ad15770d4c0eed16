import { createParser } from "eventsource-parser";
import { isObject, type Reading, type TokenCounts, type Wire } from "./wires/wire.ts";

/** What one chunk of an answer told. */
export interface Seen {
  /** Tokens that were not told of before. */
  used: TokenCounts | null;
  error: Reading["error"] | null;
}

/** Reads along as an answer passes: what it used, whether it is whole, whether it ends in an error. */
export class Meter {
  readonly #wire: Wire;
  readonly #feed: (text: string) => void;
  readonly #whole: () => void;
  readonly #decoder = new TextDecoder();
  readonly #told: TokenCounts = {};
  #ended = false;
  #seen: Seen = { used: null, error: null };

  constructor(wire: Wire, contentType: string) {
    this.#wire = wire;
    if (contentType.includes("text/event-stream")) {
      const parser = createParser({ onEvent: ({ data }) => this.#event(data) });
      this.#feed = (text) => parser.feed(text);
      this.#whole = () => {};
    } else {
      let body = "";
      this.#feed = (text) => {
        body += text;
      };
      this.#whole = () => this.#event(body);
    }
  }

  /** The answer has come to its own end. */
  get ended(): boolean {
    return this.#ended;
  }

  see(chunk: Uint8Array | string): Seen {
    this.#seen = { used: null, error: null };
    this.#feed(typeof chunk === "string" ? chunk : this.#decoder.decode(chunk, { stream: true }));
    return this.#seen;
  }

  /** What could be read only when all was there. */
  finish(): Seen {
    this.#seen = { used: null, error: null };
    this.#whole();
    return this.#seen;
  }

  #event(data: string): void {
    // OpenAI's mark at a stream's end, which some compatible servers send in place of a finish reason.
    if (data === "[DONE]") this.#ended = true;
    const event = parse(data);
    if (!isObject(event)) return;
    const { tokens, end, error } = this.#wire.read(event);
    if (end) this.#ended = true;
    if (error) this.#seen.error = error;
    if (tokens) this.#count(tokens);
  }

  /** An answer's figures are totals that grow; what is handed on is what was added. */
  #count(tokens: TokenCounts): void {
    const used: TokenCounts = this.#seen.used ?? {};
    for (const [name, value] of Object.entries(tokens) as [keyof TokenCounts, number][]) {
      used[name] = (used[name] ?? 0) + Math.max(0, value - (this.#told[name] ?? 0));
      this.#told[name] = Math.max(value, this.#told[name] ?? 0);
    }
    this.#seen.used = used;
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}
