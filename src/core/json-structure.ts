const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

export interface Structure {
  values: number;
  depth: number;
}

/** The deepest JSON of a request. PostgreSQL rejects some thousands of levels. */
const maximumDepth = 200;
/**
 * The deepest JSON with values of tools, which is parsed so that the rest of it is kept (`turns/storable.ts`). Zod's
 * `unknown` does not descend.
 */
export const maximumToolDepth = 10_000;
/** The most values of a JSON text. Parsing this many takes about 25 ms. A long conversation has some thousand. */
const maximumValues = 100_000;

/**
 * Counts the values and levels of a JSON text without building them, to estimate the cost of parsing. Takes about 3 ms
 * per MiB. Stops at the first value beyond `mostValues`. For invalid JSON the result is arbitrary.
 */
export function structureOf(text: Uint8Array, mostValues = Number.POSITIVE_INFINITY): Structure {
  let values = 1;
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length && values <= mostValues; at++) {
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

export class JsonTooComplex extends Error {
  override readonly name = "JsonTooComplex";
}

/**
 * Throws `JsonTooComplex` for a JSON text that costs too much to parse: a value takes two bytes of text and up to a
 * hundred of memory.
 */
export function requireSimple(text: Uint8Array, mostLevels = maximumDepth, mostValues = maximumValues): void {
  const { values, depth } = structureOf(text, mostValues);
  if (values <= mostValues && depth <= mostLevels) return;
  throw new JsonTooComplex(`It is limited to ${mostValues} JSON values and ${mostLevels} levels.`);
}

/** Parses JSON that somebody else wrote. Throws `JsonTooComplex` and `SyntaxError`. */
export function parseJson(text: Uint8Array, mostLevels = maximumDepth, mostValues = maximumValues): unknown {
  requireSimple(text, mostLevels, mostValues);
  return JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString("utf8"));
}
