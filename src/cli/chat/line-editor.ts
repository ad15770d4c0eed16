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

/** Where each motion leads from a place in a text, both in UTF-16 units. */
const motions = { left, right, wordLeft, wordRight, home, end };

export type Motion = keyof typeof motions;

/** A text of any number of lines, with a cursor. */
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

  move(motion: Motion): void {
    this.#cursor = motions[motion](this.#text, this.#cursor);
  }

  /** Erases the text that the motion passes; at the end of a line, `end` passes the line feed. */
  erase(motion: Motion): void {
    const to = motions[motion](this.#text, this.#cursor);
    const passed = motion === "end" && to === this.#cursor ? right(this.#text, to) : to;
    this.#replace(Math.min(passed, this.#cursor), Math.max(passed, this.#cursor), "");
  }

  /** False if the cursor is in the first line. */
  up(): boolean {
    const start = home(this.#text, this.#cursor);
    if (start === 0) return false;
    this.#moveInLine(home(this.#text, start - 1), this.#cursor - start);
    return true;
  }

  /** False if the cursor is in the last line. */
  down(): boolean {
    const last = end(this.#text, this.#cursor);
    if (last === this.#text.length) return false;
    this.#moveInLine(last + 1, this.#cursor - home(this.#text, this.#cursor));
    return true;
  }

  /** Replaces a backslash before the cursor with a new line. False if there is none. */
  continueLine(): boolean {
    if (this.#text[this.#cursor - 1] !== "\\") return false;
    this.#replace(this.#cursor - 1, this.#cursor, "\n");
    return true;
  }

  /** The rows around the cursor, `maximumRows` at most, each of `width` columns at most. */
  view(width: number, maximumRows: number): EditorView {
    const lines = this.#text.split("\n");
    const line = this.#text.slice(0, this.#cursor).split("\n").length - 1;
    const rowsOfLines = (from: number, to: number) => lines.slice(from, to).flatMap((each) => rowsOf(each, width));
    const above = rowsOfLines(Math.max(0, line - maximumRows), line);
    const own = rowsOf(lines[line]!, width);
    const before = rowsOf(this.#text.slice(home(this.#text, this.#cursor), this.#cursor), width);
    let cursor = { row: above.length + before.length - 1, column: columnsOf(before.at(-1)!) };
    // The cursor is where the next character would be: a full row has no column for it.
    if (cursor.column >= width) {
      cursor = { row: cursor.row + 1, column: 0 };
      if (before.length >= own.length) own.push("");
    }
    const rows = [...above, ...own, ...rowsOfLines(line + 1, line + 1 + maximumRows)];
    const top = Math.max(0, Math.min(cursor.row - Math.floor(maximumRows / 2), rows.length - maximumRows));
    return { rows: rows.slice(top, top + maximumRows), cursor: { row: cursor.row - top, column: cursor.column } };
  }

  #replace(from: number, to: number, text: string): void {
    this.#text = this.#text.slice(0, from) + text + this.#text.slice(to);
    this.#cursor = from + text.length;
  }

  /** To the place `offset` after the beginning of a line, but not within a character. */
  #moveInLine(start: number, offset: number): void {
    const last = end(this.#text, start);
    this.#cursor = start + offset >= last ? last : left(this.#text, start + offset + 1);
  }
}

function left(text: string, at: number): number {
  if (at === 0) return 0;
  const before = text.slice(Math.max(0, at - longestGrapheme), at);
  return at - [...graphemes.segment(before)].at(-1)!.segment.length;
}

function right(text: string, at: number): number {
  if (at === text.length) return at;
  const [first] = graphemes.segment(text.slice(at, at + longestGrapheme));
  return at + first!.segment.length;
}

function wordLeft(text: string, at: number): number {
  const before = text.slice(home(text, at), at).slice(-4096);
  const word = /[\p{L}\p{N}]*[^\p{L}\p{N}]*$/u.exec(before)?.[0] ?? "";
  return word === "" ? left(text, at) : at - word.length;
}

function wordRight(text: string, at: number): number {
  const after = /^[^\p{L}\p{N}]*[\p{L}\p{N}]*/u.exec(text.slice(at, end(text, at) + 1));
  return Math.min(text.length, at + (after?.[0].length ?? 0));
}

function home(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

function end(text: string, at: number): number {
  const found = text.indexOf("\n", at);
  return found < 0 ? text.length : found;
}

/** A line's rows, with what a terminal would obey made visible. */
function rowsOf(line: string, width: number): string[] {
  return hardWrap(line.replaceAll("\t", "    ").replaceAll(/\p{Cc}/gu, "\u{fffd}"), width);
}
