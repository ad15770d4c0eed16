import { styleText } from "node:util";

/** An output stream: a terminal, or a pipe or file. */
export interface Output {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

export type Style = Parameters<typeof styleText>[0];

/** A text on one line in which nothing acts on a terminal: for names, titles and messages of others. */
export function printable(text: string): string {
  return text.replaceAll(/\s+/gu, " ").replaceAll(/[\p{Cc}\p{Bidi_Control}]/gu, "\u{fffd}");
}

/** A text without control characters, C0 and C1, other than line feed and tab. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, "");
}

/** Writes a text of others: harmless on a terminal, as it is in a pipe. */
export function writeText(output: Output, text: string): void {
  output.write(output.isTTY ? withoutControls(text) : text);
}

/** Writes the API's JSON: indented on a terminal, on one line in a pipe. */
export function writeJson(output: Output, value: unknown): void {
  writeText(output, `${JSON.stringify(value, null, output.isTTY ? 2 : 0)}\n`);
}

/** The text in a style where the output is a terminal that shows styles, as `NO_COLOR` and its kind allow. */
export function styled(output: Output, style: Style, text: string): string {
  return output.isTTY ? styleText(style, text, { stream: output as NodeJS.WriteStream }) : text;
}

/** The text cut to a number of columns. */
export function cut(text: string, columns: number): string {
  const characters = [...text];
  return characters.length <= columns ? text : `${characters.slice(0, Math.max(0, columns - 1)).join("")}…`;
}
