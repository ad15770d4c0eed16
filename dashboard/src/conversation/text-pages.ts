/** The most characters of a text that are shown at once. */
export const pageSize = 40_000;

/** A line that opens or closes a block of code. */
const fence = /^```.*$/gm;

/** Where a page begins, and the line that opens the block of code which the page before has cut; empty: none. */
interface PageStart {
  at: number;
  opening: string;
}

/**
 * A Markdown text in pages of at most `pageSize` characters and the lines that open and close a cut block of code. Pages end
 * at blank lines where there are any. A text that grows keeps its pages, and its start is not read again.
 */
export class TextPages {
  #text = "";
  #starts: PageStart[] = [{ at: 0, opening: "" }];

  /** Takes the text in place of the one before, which it usually begins with. */
  take(text: string): void {
    if (text === this.#text) return;
    const { at } = this.#starts.at(-1)!;
    const isSame = text.length >= this.#text.length && text.slice(at, this.#text.length) === this.#text.slice(at);
    if (!isSame) this.#starts = [{ at: 0, opening: "" }];
    this.#text = text;
    for (let last = this.#starts.at(-1)!; text.length - last.at > pageSize; last = this.#starts.at(-1)!)
      this.#starts.push(endOf(text, last));
  }

  get count(): number {
    return this.#starts.length;
  }

  /** A page by its index, as Markdown of its own. */
  page(index: number): string {
    const start = this.#starts[index]!;
    const next = this.#starts[index + 1];
    const opening = start.opening === "" ? "" : `${start.opening}\n`;
    const closing = next === undefined || next.opening === "" ? "" : "\n```";
    return opening + this.#text.slice(start.at, next?.at) + closing;
  }
}

/** The end of a page that is full, which is the start of the next. */
function endOf(text: string, { at, opening }: PageStart): PageStart {
  const page = text.slice(at, at + pageSize);
  let open = opening;
  let blank = 0;
  let looked = 0;
  const look = (end: number) => {
    const found = open === "" ? page.lastIndexOf("\n\n", end) : -1;
    if (found > looked) blank = found + 2;
    looked = end;
  };
  for (const { index, 0: line } of page.matchAll(fence)) {
    look(index);
    open = open === "" ? line : "";
  }
  look(page.length);
  if (blank > 0) return { at: at + blank, opening: "" };
  const line = page.lastIndexOf("\n") + 1;
  // A block's opening line must not end the page.
  if (line > pageSize / 2) return { at: at + line, opening: open };
  const isPair = /[\ud800-\udbff]$/.test(page);
  return { at: at + pageSize - (isPair ? 1 : 0), opening: open };
}
