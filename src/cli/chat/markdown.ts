import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { type Style, withoutControls } from "../terminal.ts";
import { hardWrap, type Line, lineColumns, plain, type Span, wrap } from "./styled-lines.ts";

/** Longer text is shown unchanged: an agent's output could keep the parser busy for a long time. */
const maximumLength = 64 * 1024;

/** A reply's Markdown as lines of up to `width` columns. Text that cannot be parsed as Markdown is shown unchanged. */
export function renderMarkdown(source: string, width: number): Line[] {
  const text = withoutControls(source).replaceAll("\t", "    ");
  if (text.length > maximumLength) return wrap([plain(text)], width);
  try {
    return blocks(new Lexer({ gfm: true }).lex(text), width);
  } catch {
    // Nesting beyond the stack.
    return wrap([plain(text)], width);
  }
}

function blocks(tokens: readonly Token[], width: number): Line[] {
  const shown = tokens.filter(({ type }) => type !== "space" && type !== "def");
  return shown.flatMap((token, index) => {
    const lines = block(token as MarkedToken, width);
    return index === 0 || isTight(token, shown[index - 1]!) ? lines : [[], ...lines];
  });
}

/** The text of a list's item and the list within it stand together. */
function isTight(token: Token, before: Token): boolean {
  return before.type === "text" && (token.type === "list" || token.type === "text");
}

function block(token: MarkedToken, width: number): Line[] {
  switch (token.type) {
    case "heading":
      return wrap(inline(token.tokens, token.depth === 1 ? ["bold", "underline"] : ["bold"]), width);
    case "paragraph":
      return wrap(inline(token.tokens), width);
    case "text":
      return wrap(token.tokens ? inline(token.tokens) : [plain(token.text)], width);
    case "code":
      return codeLines(token.text, width);
    case "blockquote":
      return blocks(token.tokens, width - 2).map((line) => [plain("│ ", "dim"), ...line]);
    case "list":
      return token.items.flatMap((item, index) => itemLines(token, item, index, width));
    case "table":
      return tableLines(token, width);
    case "hr":
      return [[plain("─".repeat(Math.max(1, Math.min(width, 40))), "dim")]];
    default:
      return wrap([plain(token.raw.trimEnd())], width);
  }
}

/** Program text keeps its lines, so that it can be copied. */
function codeLines(text: string, width: number): Line[] {
  return text
    .split("\n")
    .flatMap((line) => hardWrap(line, Math.max(2, width - 2)))
    .map((row) => [plain("  "), plain(row, "cyan")]);
}

function itemLines(list: Tokens.List, item: Tokens.ListItem, index: number, width: number): Line[] {
  const number = list.ordered ? `${Number(list.start || 1) + index}. ` : "• ";
  const mark = item.task ? `${item.checked ? "☑" : "☐"} ` : number;
  const tokens = item.tokens.filter(({ type }) => type !== "checkbox");
  const lines = blocks(tokens, width - mark.length);
  const indent = " ".repeat(mark.length);
  const marked = (lines.length > 0 ? lines : [[]]).map((line, row) => [
    plain(row === 0 ? mark : indent, "dim"),
    ...line,
  ]);
  return list.loose && index > 0 ? [[], ...marked] : marked;
}

/** In columns where there is room, else each row as its cells under each other. */
function tableLines({ header, rows }: Tokens.Table, width: number): Line[] {
  const all = [header, ...rows].map((row) => row.map(({ tokens }) => inline(tokens)));
  const widths = header.map((_, column) => Math.max(...all.map((row) => lineColumns(row[column] ?? []))));
  if (widths.reduce((sum, each) => sum + each + 2, -2) > width) {
    return all
      .slice(1)
      .flatMap((row, index) => [
        ...(index > 0 ? [[]] : []),
        ...row.flatMap((cell, column) => wrap([plain(`${header[column]?.text ?? ""}: `, "bold"), ...cell], width)),
      ]);
  }
  return all.map((row, index) =>
    row.flatMap((cell, column) => [
      ...(index === 0 ? cell.map(({ text }) => plain(text, "bold")) : cell),
      plain(" ".repeat((widths[column] ?? 0) - lineColumns(cell) + (column < row.length - 1 ? 2 : 0))),
    ]),
  );
}

type Styles = readonly Extract<Style, string>[];

function inline(tokens: readonly Token[], styles: Styles = []): Span[] {
  return tokens.flatMap((token) => inlineSpans(token as MarkedToken, styles));
}

function inlineSpans(token: MarkedToken, styles: Styles): Span[] {
  const within = (style: Styles[number]) => [...styles, style];
  switch (token.type) {
    case "strong":
      return inline(token.tokens, within("bold"));
    case "em":
      return inline(token.tokens, within("italic"));
    case "del":
      return inline(token.tokens, within("strikethrough"));
    case "codespan":
      return [span(token.text, within("cyan"))];
    case "link":
      return linkSpans(token, styles);
    case "image":
      return [span(`[${token.text || "image"}: ${token.href}]`, within("dim"))];
    case "br":
      return [plain("\n")];
    case "escape":
      return [span(token.text, styles)];
    case "text":
      return token.tokens ? inline(token.tokens, styles) : [span(token.text, styles)];
    default:
      return [span(token.raw, styles)];
  }
}

/** The address is always shown: a link's text may say another. */
function linkSpans({ tokens, text, href }: Tokens.Link, styles: Styles): Span[] {
  const isBare = text === href || `mailto:${text}` === href;
  return [...inline(tokens, [...styles, "underline"]), ...(isBare ? [] : [span(` (${href})`, [...styles, "dim"])])];
}

function span(text: string, styles: Styles): Span {
  return plain(text, styles.length > 0 ? [...styles] : null);
}
