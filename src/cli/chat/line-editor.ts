import { columnsOf } from "../terminal.ts";
import { hardWrap } from "./styled-lines.ts";

/** The visible part of the text: rows of the screen, and the cursor's position. */
export interface EditorView {
  rows: string[];
  cursor: { row: number; column: number };
}

/** A character as people count them is shorter than this, in UTF-16 units. `Intl.Segmenter` is slow on long texts. */
const longestGrapheme = 64;

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** A text of any number of lines, with a cursor. The keys of readline and Emacs. */
export class LineEditor {
  #text = "";
  /** In UTF-16 units from the beginning. */
  #cursor = 0;

  get text(): string {
    return this.#text;
  }

  get isEmpty(): boolean {
    return this.#text === "";
  }

  /** Replaces the text; the cursor stands at its end. */
  set(text: string): void {
    this.#text = text;
    this.#cursor = text.length;
  }

  insert(text: string): void {
    this.#replace(this.#cursor, this.#cursor, text);
  }

  left(): void {
    this.#cursor = this.#previous(this.#cursor);
  }

  right(): void {
    this.#cursor = this.#next(this.#cursor);
  }

  wordLeft(): void {
    this.#cursor = this.#wordStart();
  }

  wordRight(): void {
    const after = /^[^\p{L}\p{N}]*[\p{L}\p{N}]*/u.exec(this.#text.slice(this.#cursor, this.#lineEnd() + 1));
    this.#cursor = Math.min(this.#text.length, this.#cursor + (after?.[0].length ?? 0));
  }

  home(): void {
    this.#cursor = this.#lineStart();
  }

  end(): void {
    this.#cursor = this.#lineEnd();
  }

  /** False if the cursor is in the first line. */
  up(): boolean {
    const start = this.#lineStart();
    if (start === 0) return false;
    const before = this.#text.lastIndexOf("\n", start - 2) + 1;
    this.#moveTo(before, start - 1, this.#cursor - start);
    return true;
  }

  /** False if the cursor is in the last line. */
  down(): boolean {
    const end = this.#lineEnd();
    if (end === this.#text.length) return false;
    const next = this.#text.indexOf("\n", end + 1);
    this.#moveTo(end + 1, next < 0 ? this.#text.length : next, this.#cursor - this.#lineStart());
    return true;
  }

  backspace(): void {
    this.#replace(this.#previous(this.#cursor), this.#cursor, "");
  }

  delete(): void {
    this.#replace(this.#cursor, this.#next(this.#cursor), "");
  }

  deleteWord(): void {
    this.#replace(this.#wordStart(), this.#cursor, "");
  }

  deleteToLineStart(): void {
    this.#replace(this.#lineStart(), this.#cursor, "");
  }

  deleteToLineEnd(): void {
    const end = this.#lineEnd();
    this.#replace(this.#cursor, end === this.#cursor ? this.#next(end) : end, "");
  }

  /** Replaces a backslash before the cursor with a new line. False if there is none. */
  continueLine(): boolean {
    if (this.#text[this.#cursor - 1] !== "\\") return false;
    this.#replace(this.#cursor - 1, this.#cursor, "\n");
    return true;
  }

  /** The rows around the cursor, `maximumRows` at most, each of `width` columns at most. */
  view(width: number, maximumRows: number): EditorView {
    const start = this.#lineStart();
    const before = rowsOf(this.#text.slice(start, this.#cursor), width);
    // The cursor is where the next character would be: a full row has no column for it.
    const last = before.at(-1)!;
    const own = rowsOf(this.#text.slice(start, this.#lineEnd()), width);
    let cursor = { row: before.length - 1, column: columnsOf(last) };
    if (cursor.column >= width) {
      cursor = { row: cursor.row + 1, column: 0 };
      if (cursor.row >= own.length) own.push("");
    }
    const rows = [...this.#rowsBefore(start, width, maximumRows), ...own];
    cursor.row += rows.length - own.length;
    rows.push(...this.#rowsAfter(this.#lineEnd(), width, maximumRows));
    const top = Math.max(0, Math.min(cursor.row - Math.floor(maximumRows / 2), rows.length - maximumRows));
    return {
      rows: rows.slice(top, top + maximumRows),
      cursor: { row: cursor.row - top, column: cursor.column },
    };
  }

  #rowsBefore(start: number, width: number, maximum: number): string[] {
    const rows: string[] = [];
    for (let end = start - 1; end >= 0 && rows.length < maximum; ) {
      const begin = this.#text.lastIndexOf("\n", end - 1) + 1;
      rows.unshift(...rowsOf(this.#text.slice(end === 0 ? 0 : begin, end), width));
      end = end === 0 ? -1 : begin - 1;
    }
    return rows;
  }

  #rowsAfter(end: number, width: number, maximum: number): string[] {
    const rows: string[] = [];
    for (let begin = end + 1; begin <= this.#text.length && rows.length < maximum; ) {
      const next = this.#text.indexOf("\n", begin);
      rows.push(...rowsOf(this.#text.slice(begin, next < 0 ? undefined : next), width));
      begin = next < 0 ? this.#text.length + 1 : next + 1;
    }
    return rows;
  }

  #replace(start: number, end: number, text: string): void {
    this.#text = this.#text.slice(0, start) + text + this.#text.slice(end);
    this.#cursor = start + text.length;
  }

  #lineStart(): number {
    return this.#cursor === 0 ? 0 : this.#text.lastIndexOf("\n", this.#cursor - 1) + 1;
  }

  #lineEnd(): number {
    const end = this.#text.indexOf("\n", this.#cursor);
    return end < 0 ? this.#text.length : end;
  }

  /** To the place `offset` after the beginning of a line, but not within a character. */
  #moveTo(start: number, end: number, offset: number): void {
    const place = Math.min(end, start + offset);
    this.#cursor = place === end ? end : this.#previous(place + 1);
  }

  #wordStart(): number {
    const before = this.#text.slice(this.#lineStart(), this.#cursor);
    const word = /[\p{L}\p{N}]*[^\p{L}\p{N}]*$/u.exec(before.slice(-4096))?.[0] ?? "";
    return word === "" ? this.#previous(this.#cursor) : this.#cursor - word.length;
  }

  #previous(index: number): number {
    if (index === 0) return 0;
    const before = this.#text.slice(Math.max(0, index - longestGrapheme), index);
    return index - [...graphemes.segment(before)].at(-1)!.segment.length;
  }

  #next(index: number): number {
    if (index === this.#text.length) return index;
    const [first] = graphemes.segment(this.#text.slice(index, index + longestGrapheme));
    return index + first!.segment.length;
  }
}

/** A line's rows, with what a terminal would obey made visible. */
function rowsOf(line: string, width: number): string[] {
  return hardWrap(line.replaceAll("\t", "    ").replaceAll(/\p{Cc}/gu, "\u{fffd}"), width);
}
