import { Lexer } from "marked";

/** A block that grows beyond this is shown in parts. */
const maximumBlock = 16 * 1024;

/** A reply's Markdown as it arrives, divided into blocks that will not change any more and the one that may. */
export class StreamedMarkdown {
  #pending = "";
  /** Nothing can have ended since the last check. */
  #isSeen = true;

  add(delta: string): void {
    this.#pending += delta.replaceAll("\r", "");
    if (delta.includes("\n") || this.#pending.length > maximumBlock) this.#isSeen = false;
  }

  /** The block that may still change. */
  get pending(): string {
    return this.#pending;
  }

  /** Takes out the blocks that are complete. */
  takeComplete(): string {
    if (this.#isSeen) return "";
    this.#isSeen = true;
    let taken = "";
    while (this.#pending.length > maximumBlock) taken += this.#takePart();
    return taken + this.#take(this.#lengthOfComplete());
  }

  /** Takes out the rest: the text has ended. */
  takeAll(): string {
    this.#isSeen = true;
    return this.#take(this.#pending.length);
  }

  #take(length: number): string {
    const taken = this.#pending.slice(0, length);
    this.#pending = this.#pending.slice(length);
    return taken;
  }

  /** All blocks but the last are complete. */
  #lengthOfComplete(): number {
    const tokens = tokensOf(this.#pending);
    const last = tokens.findLastIndex(({ type }) => type !== "space");
    return tokens.slice(0, Math.max(0, last)).reduce((sum, { raw }) => sum + raw.length, 0);
  }

  /**
   * Takes out the first part of a block that is too long: whole lines if it has any. A code block continues in the next
   * part.
   */
  #takePart(): string {
    const fence = /^ {0,3}(`{3,}|~{3,})[^\n]*\n/.exec(this.#pending);
    const lineEnd = this.#pending.lastIndexOf("\n", maximumBlock);
    const begun = fence?.[0] ?? "";
    const part = this.#take(lineEnd > begun.length ? lineEnd + 1 : maximumBlock);
    if (!fence || part.includes(`\n${fence[1]}`)) return part;
    this.#pending = begun + this.#pending;
    return `${part}${part.endsWith("\n") ? "" : "\n"}${fence[1]}\n`;
  }
}

function tokensOf(text: string): { type: string; raw: string }[] {
  try {
    return new Lexer({ gfm: true }).lex(text);
  } catch {
    return []; // Nesting beyond the stack.
  }
}
