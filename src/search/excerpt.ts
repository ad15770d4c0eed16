import { excerptCharacters } from "../contract/search.ts";
import type { Range } from "./terms.ts";

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** The characters before the first match. */
const before = 40;
/** The longest part of a text that is read for an excerpt, in UTF-16 units: marks can make a character long. */
const read = { before: 400, after: 1_600 };

/** The text around its first match, with the places of the matches in it. */
export function excerptOf(text: string, matches: readonly Range[]): { excerpt: string; matches: Range[] } {
  const at = matches[0]!.start;
  const from = borderAt(text, Math.max(0, at - read.before));
  const part = text.slice(from, borderAt(text, at + read.after));
  const borders = [...graphemes.segment(part)].map(({ index }) => from + index);
  const matched = borders.findLastIndex((border) => border <= at);
  const first = Math.max(0, matched - before);
  const start = borders[first] ?? from;
  const end = borders[first + excerptCharacters] ?? from + part.length;
  const shown = matches
    .filter((match) => match.start < end && match.end > start)
    .map((match) => ({ start: Math.max(match.start, start) - start, end: Math.min(match.end, end) - start }));
  return {
    excerpt: text
      .slice(start, end)
      .replaceAll(/[\p{Cc}\u2028\u2029]/gu, " ")
      .toWellFormed(),
    matches: shown,
  };
}

/** The beginning of the character that has a place of the text, or the place itself in a very long character. */
function borderAt(text: string, place: number): number {
  const index = graphemes.segment(text).containing(place)?.index ?? text.length;
  return place - index > read.before ? place : Math.min(index, text.length);
}
