/** The most characters that an answer in one piece has of its turn, whose events have all of them. */
const maximumKept = 4 * 1024 * 1024;

/** What a reader keeps of a turn for its answer, bounded: a turn may have many times as much. */
export class KeptText {
  #left = maximumKept;
  /** Something was left out. */
  isCut = false;

  /** As much of the text as still fits. */
  take(text: string): string {
    const part = text.length <= this.#left ? text : text.slice(0, this.#left);
    if (part.length < text.length) this.isCut = true;
    this.#left -= part.length;
    return part;
  }

  /** The text if all of it fits, else null. */
  takeWhole(text: string): string | null {
    if (text.length <= this.#left) return this.take(text);
    this.isCut = true;
    return null;
  }
}
