import Anser from "anser";

/** The 16 colours of terminals, by their names in Anser. Others would be hard to read in one of the themes. */
const colours: Record<string, string> = {
  "ansi-red": "text-bad",
  "ansi-bright-red": "text-bad",
  "ansi-green": "text-good",
  "ansi-bright-green": "text-good",
  "ansi-yellow": "text-warn",
  "ansi-bright-yellow": "text-warn",
  "ansi-blue": "text-accent",
  "ansi-bright-blue": "text-accent",
  "ansi-cyan": "text-accent",
  "ansi-bright-cyan": "text-accent",
  "ansi-bright-black": "text-muted",
};
const decorations: Record<string, string> = {
  bold: "font-semibold",
  dim: "opacity-70",
  italic: "italic",
  underline: "underline",
  strikethrough: "line-through",
};

/** A terminal's output with its colours. Codes that move the cursor are left out, and what a line was overwritten with counts. */
export function AnsiText({ text }: { text: string }) {
  if (!text.includes("\x1b") && !text.includes("\r")) return text;
  const spans = Anser.ansiToJson(withoutMoves(text), { json: true, use_classes: true, remove_empty: true });
  return spans.map((span, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text have no other name
    <span key={at} className={classesOf(span)}>
      {span.content}
    </span>
  ));
}

function classesOf({ fg, decorations: named }: Pick<Anser.AnserJsonEntry, "fg" | "decorations">): string {
  return [colours[fg], ...named.map((name) => decorations[name])].filter(Boolean).join(" ");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are what is looked for
const moves = /\x1b(?:\[[0-?]*[ -/]*[@-ln-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])/g;

/** Without control sequences other than colours (ECMA-48), and without texts before a carriage return. */
export function withoutMoves(text: string): string {
  return text
    .replaceAll(moves, "")
    .replaceAll(/[^\n]*\r(?!\n|$)/g, "")
    .replaceAll("\r", "");
}
