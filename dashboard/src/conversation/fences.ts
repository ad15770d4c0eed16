/** A part of a Markdown text: text, or a block of code between fences. */
export type Piece = { text: string; language: string | null };

/** Splits Markdown at its fenced blocks, line by line. A fence that nothing closes is text. */
export function piecesOf(markdown: string): Piece[] {
  const pieces: Piece[] = [];
  let text: string[] = [];
  let code: string[] | null = null;
  let opening = "";
  for (const line of markdown.split("\n")) {
    if (code === null && line.startsWith("```")) [opening, code] = [line, []];
    else if (code === null) text.push(line);
    else if (line !== "```") code.push(line);
    else {
      pieces.push({ text: text.join("\n"), language: null }, { text: code.join("\n"), language: opening.slice(3) });
      [text, code] = [[], null];
    }
  }
  const rest = code === null ? text : [...text, opening, ...code];
  return [...pieces, { text: rest.join("\n"), language: null }];
}
