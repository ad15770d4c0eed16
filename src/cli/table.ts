import { columnsOf, type Output, printable, type Style, styled } from "./terminal.ts";

/** A cell's text, with its style on a terminal. */
export type Cell = string | { text: string; style: Style };

/** The columns of a table by their headings: a field of the row, shown as nothing where it is null, or a function. */
export type Columns<Row> = Readonly<Record<string, ShownField<Row> | ((row: Row) => Cell)>>;

type ShownField<Row> = {
  [Name in keyof Row & string]: Row[Name] extends string | number | null ? Name : never;
}[keyof Row & string];

/** A status in its style. One of a newer service has none. */
export function statusCell<Status extends string>(styles: Readonly<Record<Status, Style>>, status: Status): Cell {
  return { text: status, style: styles[status] ?? "reset" };
}

/** A table of rows under headings. Each column is as wide as its widest cell. */
export function tableText<Row>(columns: Columns<Row>, rows: readonly Row[], output: Output = process.stdout): string {
  const headings = Object.keys(columns).map((text): Cell => ({ text, style: "bold" }));
  const cells = rows.map((row) => Object.values(columns).map((column) => cellOf(row, column)));
  const lines = [headings, ...cells].map((line) => line.map(toStyled));
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => columnsOf(line[column]!.text))));
  return lines.map((line) => lineText(output, line, widths)).join("\n");
}

/** Names and values, one pair per line. */
export function fieldsText(fields: Readonly<Record<string, Cell>>, output: Output = process.stdout): string {
  const lines = Object.entries(fields).map(([name, value]) => [{ text: name, style: "dim" as const }, toStyled(value)]);
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return lines.map((line) => lineText(output, line, [width])).join("\n");
}

function cellOf<Row>(row: Row, column: Columns<Row>[string]): Cell {
  return typeof column === "function" ? column(row) : String(row[column] ?? "");
}

interface StyledText {
  text: string;
  style: Style | null;
}

function toStyled(cell: Cell): StyledText {
  return typeof cell === "string"
    ? { text: printable(cell), style: null }
    : { text: printable(cell.text), style: cell.style };
}

/** The last cell is not padded, so no line has trailing spaces. */
function lineText(output: Output, line: readonly StyledText[], widths: readonly number[]): string {
  const cells = line.map(({ text, style }, column) => {
    const blanks = column === line.length - 1 ? "" : " ".repeat((widths[column] ?? 0) - columnsOf(text));
    return (style === null ? text : styled(output, style, text)) + blanks;
  });
  return cells.join("  ");
}
