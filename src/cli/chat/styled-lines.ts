import { columnsOf, type Output, type Style, styled, widthOf } from "../terminal.ts";

/** A piece of a line in one style; null: the terminal's own. */
export interface Span {
  text: string;
  style: Style | null;
}

/** A line of the screen. */
export type Line = readonly Span[];

export function plain(text: string, style: Style | null = null): Span {
  return { text, style };
}

/** The line as it is written to a terminal. */
export function lineText(output: Output, line: Line): string {
  return line.map(({ text, style }) => (style === null ? text : styled(output, style, text))).join("");
}

/** The width of a line in terminal columns. */
export function lineColumns(line: Line): number {
  return line.reduce((sum, { text }) => sum + columnsOf(text), 0);
}

/** Breaks a text into lines of at most `width` columns: at line feeds and spaces, and within a word that is wider. */
export function wrap(spans: readonly Span[], width: number): Line[] {
  const wrapping = new Wrapping(Math.max(2, width));
  for (const { text, style } of spans) {
    // Spaces stay with the word before them.
    for (const [piece] of text.matchAll(/\n|[^\s]+[^\S\n]*|[^\S\n]+/gu)) {
      if (piece === "\n") wrapping.break();
      else wrapping.add(piece, style);
    }
  }
  return wrapping.lines();
}

/** Breaks text into rows of at most `width` columns wherever a row is full, as program text and input are shown. */
export function hardWrap(text: string, width: number): string[] {
  const rows: string[] = [];
  let start = 0;
  let columns = 0;
  let index = 0;
  for (const character of text) {
    const own = widthOf(character);
    if (columns + own > width && columns > 0) {
      rows.push(text.slice(start, index));
      start = index;
      columns = 0;
    }
    columns += own;
    index += character.length;
  }
  rows.push(text.slice(start));
  return rows;
}

class Wrapping {
  readonly #width: number;
  readonly #lines: Span[][] = [[]];
  #columns = 0;

  constructor(width: number) {
    this.#width = width;
  }

  add(piece: string, style: Style | null): void {
    const word = piece.trimEnd();
    if (this.#columns > 0 && this.#columns + columnsOf(word) > this.#width) this.break();
    for (const [index, row] of hardWrap(word, this.#width).entries()) {
      if (index > 0) this.break();
      this.#put(row, style);
    }
    const space = piece.slice(word.length);
    if (this.#columns + space.length <= this.#width) this.#put(space, style);
  }

  break(): void {
    this.#lines.push([]);
    this.#columns = 0;
  }

  lines(): Line[] {
    return this.#lines;
  }

  #put(text: string, style: Style | null): void {
    if (text === "") return;
    const line = this.#lines.at(-1)!;
    const last = line.at(-1);
    if (last && last.style === style) last.text += text;
    else line.push({ text, style });
    this.#columns += columnsOf(text);
  }
}
