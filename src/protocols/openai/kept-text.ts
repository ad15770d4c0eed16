/** The limit of a turn's text in a non-streamed answer, in characters; the turn's events have all of it. */
const maximumKept = 4 * 1024 * 1024;

/** A reader's bounded copy of a turn for its answer: a turn may be many times as long. */
export class KeptText {
  #left = maximumKept;
  /** Whether text was left out. */
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
