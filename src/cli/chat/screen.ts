import { type Line, lineText } from "./styled-lines.ts";

/** The terminal's codes that are used: ECMA-48, and xterm's private modes (2004: bracketed paste, 2026: one frame). */
const codes = {
  beginFrame: "\x1b[?2026h\x1b[?25l",
  endFrame: "\x1b[?25h\x1b[?2026l",
  clearBelow: "\x1b[J",
  clearScreen: "\x1b[H\x1b[2J",
  wrapOff: "\x1b[?7l",
  wrapOn: "\x1b[?7h",
  pasteOn: "\x1b[?2004h",
  pasteOff: "\x1b[?2004l",
};

/** A place on the live lines, from 0. */
interface Place {
  row: number;
  column: number;
}

/**
 * A terminal whose last lines are drawn again and again, and above which lines are printed for good, so that the
 * terminal's own scrolling, search and copying work.
 */
export class Screen {
  readonly #output: NodeJS.WriteStream;
  /** The row of the live lines in which the cursor stands. */
  #cursorRow = 0;

  constructor(output: NodeJS.WriteStream) {
    this.#output = output;
  }

  get columns(): number {
    return Math.max(10, this.#output.columns || 80);
  }

  get rows(): number {
    return Math.max(6, this.#output.rows || 24);
  }

  open(): void {
    this.#output.write(codes.pasteOn);
  }

  /** Prints `lines` for good, and draws the live lines below: fewer than the terminal has rows. */
  draw(lines: readonly Line[], live: readonly Line[], cursor: Place): void {
    this.#output.write(`${codes.beginFrame}${this.#toTop()}${codes.clearBelow}${this.#below(lines, live, cursor)}`);
  }

  /** Clears the visible screen, then as `draw`. The scrollback stays unchanged. */
  redraw(lines: readonly Line[], live: readonly Line[], cursor: Place): void {
    this.#output.write(`${codes.beginFrame}${codes.clearScreen}${this.#below(lines, live, cursor)}`);
  }

  /** Prints `lines` in place of the live lines and leaves the terminal in its previous state. */
  close(lines: readonly Line[]): void {
    const below = this.#below(lines, [], { row: 0, column: 0 });
    this.#output.write(`${this.#toTop()}${codes.clearBelow}${below}${codes.pasteOff}`);
  }

  #toTop(): string {
    return this.#cursorRow > 0 ? `\r\x1b[${this.#cursorRow}A` : "\r";
  }

  /** Without wrapping each line takes one row, also where the terminal takes a character for wider than we do. */
  #below(lines: readonly Line[], live: readonly Line[], { row, column }: Place): string {
    const printed = lines.map((line) => `${lineText(this.#output, line)}\r\n`).join("");
    const drawn = live.map((line) => lineText(this.#output, line)).join("\r\n");
    const up = live.length - 1 - row;
    this.#cursorRow = row;
    const place = `\r${up > 0 ? `\x1b[${up}A` : ""}${column > 0 ? `\x1b[${column}C` : ""}`;
    return `${printed}${codes.wrapOff}${drawn}${codes.wrapOn}${place}${codes.endFrame}`;
  }
}
