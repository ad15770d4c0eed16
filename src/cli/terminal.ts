import { styleText } from "node:util";

/** An output stream: a terminal, or a pipe or file. */
export interface Output {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

export type Style = Parameters<typeof styleText>[0];

/** Text made safe for a terminal and for one line: for other people's names, titles and messages. */
export function printable(text: string): string {
  return text.replaceAll(/\s+/gu, " ").replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, "\u{fffd}");
}

/** Text without C0 and C1 control characters, except line feed and tab. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, "");
}

/** Writes other people's text: made safe on a terminal, unchanged in a pipe. */
export function writeText(output: Output, text: string): void {
  output.write(output.isTTY ? withoutControls(text) : text);
}

/** Writes JSON from the API: indented on a terminal, on one line in a pipe. */
export function writeJson(output: Output, value: unknown): void {
  writeText(output, `${JSON.stringify(value, null, output.isTTY ? 2 : 0)}\n`);
}

/** Text in a style, if the output is a terminal that supports it and `NO_COLOR` and the like allow it. */
export function styled(output: Output, style: Style, text: string): string {
  return output.isTTY ? styleText(style, text, { stream: output as NodeJS.WriteStream }) : text;
}

/**
 * Characters two columns wide, and those with no width: the ranges of Markus Kuhn's `wcwidth`
 * (https://www.cl.cam.ac.uk/~mgk25/ucs/wcwidth.c), and the emoji.
 */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;
const combining = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** The width of one line of text in terminal columns. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

/** Text cut to a number of columns. */
export function cut(text: string, columns: number): string {
  let taken = 0;
  let end = 0;
  for (const character of text) {
    taken += widthOf(character);
    if (taken > columns) return `${text.slice(0, end)}…`;
    // Room for the ellipsis.
    if (taken < columns) end += character.length;
  }
  return text;
}

/** The width of one character in terminal columns. */
export function widthOf(character: string): 0 | 1 | 2 {
  if (combining.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
