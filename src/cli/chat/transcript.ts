import { cut, printable, type Style, withoutControls } from "../terminal.ts";
import { renderMarkdown } from "./markdown.ts";
import { hardWrap, type Line, plain, wrap } from "./styled-lines.ts";

/** A call of a tool, as far as it is known. */
export interface ToolCall {
  title: string;
  /** Null while it runs. */
  isFailed: boolean | null;
  input: unknown;
  output: unknown;
}

/** A message or an action. */
export type Entry =
  | { kind: "message"; text: string }
  | { kind: "reply"; markdown: string }
  | { kind: "tool"; call: ToolCall }
  | { kind: "note"; text: string; style: Style };

const maximumEntries = 1000;
const maximumMessageRows = 20;
/** The limits of a call's shown input and output. */
const maximumToolRows = 40;
const maximumToolCharacters = 20_000;

/** The transcript, as far as it can be shown again. */
export class Transcript {
  readonly #entries: Entry[] = [];
  /** Whether calls of tools are shown with their input and output. */
  isUnfolded = false;

  /** Keeps the entry and returns its lines. */
  add(entry: Entry, width: number): Line[] {
    this.#entries.push(entry);
    if (this.#entries.length > maximumEntries) this.#entries.shift();
    return this.#render(this.#entries.length - 1, width);
  }

  /** The last lines of all, `maximum` at most. */
  last(width: number, maximum: number): Line[] {
    const lines: Line[] = [];
    for (let index = this.#entries.length - 1; index >= 0 && lines.length < maximum; index--) {
      lines.unshift(...this.#render(index, width));
    }
    return lines.slice(-maximum);
  }

  /** Calls of tools that follow each other stand together, as notes do. */
  #render(index: number, width: number): Line[] {
    const entry = this.#entries[index]!;
    const isNext = entry.kind === this.#entries[index - 1]?.kind && (entry.kind === "tool" || entry.kind === "note");
    const lines = this.#linesOf(entry, width);
    return isNext || index === 0 ? lines : [[], ...lines];
  }

  #linesOf(entry: Entry, width: number): Line[] {
    switch (entry.kind) {
      case "message":
        return messageLines(entry.text, width);
      case "reply":
        return renderMarkdown(entry.markdown, width);
      case "tool":
        return [toolLine(entry.call, width), ...(this.isUnfolded ? detailLines(entry.call, width) : [])];
      case "note":
        return wrap([plain(withoutControls(entry.text), entry.style)], width);
    }
  }
}

export function messageLines(text: string, width: number): Line[] {
  const rows = wrap([plain(withoutControls(text).trimEnd())], width - 2);
  const shown = rows.slice(0, maximumMessageRows);
  const more = rows.length - shown.length;
  const lines = shown.map((row, index) => [
    plain(index === 0 ? "> " : "  ", "dim"),
    ...row.map(({ text: part }) => plain(part, "bold")),
  ]);
  return more > 0 ? [...lines, [plain(`  … ${more} more lines`, "dim")]] : lines;
}

export function toolLine({ title, isFailed }: ToolCall, width: number, running = "·"): Line {
  const mark = isFailed === null ? plain(running, "dim") : isFailed ? plain("✘", "red") : plain("✔", "green");
  return [mark, plain(` ${cut(printable(title), width - 3)}`, "dim")];
}

function detailLines({ input, output }: ToolCall, width: number): Line[] {
  return [input, output].flatMap((value) => {
    const text = textOf(value).trimEnd();
    if (text === "") return [];
    const rows = withoutControls(text.slice(0, maximumToolCharacters))
      .replaceAll("\t", "    ")
      .split("\n")
      .flatMap((line) => hardWrap(line, width - 4));
    const shown = rows.slice(0, maximumToolRows).map((row) => [plain("  │ ", "dim"), plain(row, "dim")]);
    const isCut = rows.length > maximumToolRows || text.length > maximumToolCharacters;
    return isCut ? [...shown, [plain("  │ …", "dim")]] : shown;
  });
}

/** A tool's input or output in readable form: its text, or else its JSON. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join("\n");
  if (typeof value === "object") {
    if ("text" in value && typeof value.text === "string") return value.text;
    if ("content" in value && typeof value.content === "object") return textOf(value.content);
  }
  return JSON.stringify(value, null, 2) ?? "";
}
