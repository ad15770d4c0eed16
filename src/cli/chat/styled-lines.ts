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
  const maximum = Math.max(2, width);
  const lines: Span[][] = [[]];
  const room = () => maximum - lineColumns(lines.at(-1)!);
  const put = (text: string, style: Style | null) => {
    const last = lines.at(-1)!.at(-1);
    if (last?.style === style) last.text += text;
    else if (text !== "") lines.at(-1)!.push({ text, style });
  };
  for (const { text, style } of spans) {
    // Spaces stay with the word before them.
    for (const [piece] of text.matchAll(/\n|[^\s]+[^\S\n]*|[^\S\n]+/gu)) {
      const word = piece.trimEnd();
      if (piece === "\n" || (room() < maximum && columnsOf(word) > room())) lines.push([]);
      if (piece === "\n") continue;
      for (const [index, row] of hardWrap(word, maximum).entries()) {
        if (index > 0) lines.push([]);
        put(row, style);
      }
      const space = piece.slice(word.length);
      if (space.length <= room()) put(space, style);
    }
  }
  return lines;
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
