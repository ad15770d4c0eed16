import { emitKeypressEvents, type Key } from "node:readline";

/** A user's action. */
export type Input = { kind: "key"; key: Key; text: string } | { kind: "paste"; text: string };

/** The limit of a paste: more than any message may have. */
const maximumPaste = 4 * 1024 * 1024;

/** Reads keys and pastes from a terminal. */
export class Keyboard {
  readonly #input: NodeJS.ReadStream;
  readonly #take: (input: Input) => void;
  /** Null: nothing is being pasted. */
  #paste: string | null = null;
  /** An Enter after which nothing has come yet. */
  #enter: { key: Key } | null = null;
  readonly #listener = (text: string | undefined, key: Key) => this.#key(text ?? "", key);

  constructor(input: NodeJS.ReadStream, take: (input: Input) => void) {
    this.#input = input;
    this.#take = take;
  }

  open(): void {
    emitKeypressEvents(this.#input);
    this.#input.setRawMode(true);
    this.#input.on("keypress", this.#listener);
    this.#input.resume();
  }

  close(): void {
    this.#input.off("keypress", this.#listener);
    if (!this.#input.destroyed) this.#input.setRawMode(false);
    this.#input.pause();
  }

  #key(text: string, key: Key): void {
    if (key.name === "paste-start") this.#paste = "";
    else if (key.name === "paste-end") {
      const pasted = (this.#paste ?? "").replaceAll(/\r\n?/g, "\n");
      this.#paste = null;
      this.#take({ kind: "paste", text: pasted });
    } else if (this.#paste === null) this.#typed(text, key);
    else if (this.#paste.length < maximumPaste) this.#paste += key.sequence ?? text;
  }

  /** An Enter immediately followed by more is part of a paste, on a terminal that does not mark pastes. */
  #typed(text: string, key: Key): void {
    if (this.#enter) {
      this.#enter = null;
      this.#take({ kind: "paste", text: "\n" });
    }
    if (key.name !== "return" || key.meta) {
      this.#take({ kind: "key", key, text });
      return;
    }
    const enter = { key };
    this.#enter = enter;
    setImmediate(() => {
      if (this.#enter !== enter) return;
      this.#enter = null;
      this.#take({ kind: "key", key, text });
    });
  }
}
