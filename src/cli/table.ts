import { columnsOf, type Output, printable, type Style, styled } from "./terminal.ts";

/** A cell's text, with its style on a terminal. */
export type Cell = string | { text: string; style: Style };

/** Formats rows under headings. Each column is as wide as its widest cell. Every line ends with a line feed. */
export function formatTable(output: Output, headings: readonly string[], rows: readonly Cell[][]): string {
  const lines = [headings.map((text): Cell => ({ text, style: "bold" })), ...rows].map((row) => row.map(toCell));
  const widths = headings.map((_, column) => Math.max(...lines.map((row) => columnsOf(row[column]?.text ?? ""))));
  return lines.map((row) => formatRow(output, row, widths)).join("");
}

/** Names and values, one pair per line. Every line ends with a line feed. */
export function formatFields(output: Output, fields: Readonly<Record<string, Cell>>): string {
  const rows = Object.entries(fields).map(([name, value]) => [{ text: name, style: "dim" as const }, toCell(value)]);
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return rows.map((row) => formatRow(output, row, [width])).join("");
}

interface StyledText {
  text: string;
  style: Style | null;
}

function toCell(cell: Cell): StyledText {
  return typeof cell === "string"
    ? { text: printable(cell), style: null }
    : { text: printable(cell.text), style: cell.style };
}

/** The last cell is not padded, so no line has trailing spaces. */
function formatRow(output: Output, row: readonly StyledText[], widths: readonly number[]): string {
  const cells = row.map(({ text, style }, column) => {
    const blanks = column === row.length - 1 ? "" : " ".repeat((widths[column] ?? 0) - columnsOf(text));
    return (style === null ? text : styled(output, style, text)) + blanks;
  });
  return `${cells.join("  ")}\n`;
}
