/** The text of a file's bytes, with its byte order mark if it has one; null if they are not text in UTF-8. */
export function textOf(content: Uint8Array): string | null {
  if (content.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return null;
  }
}

/** The line break of a text, which an editor keeps. In a text with several kinds, a carriage return is a character. */
export function lineBreakOf(text: string): "\n" | "\r\n" {
  const breaks = text.match(/\r?\n/g) ?? [];
  return breaks.length > 0 && breaks.every((each) => each === "\r\n") && !/\r(?!\n)/.test(text) ? "\r\n" : "\n";
}
