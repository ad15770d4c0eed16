import { titleCharacters } from "../contract/conversations.ts";

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** The longest beginning of a message that is read for its title, in UTF-16 units: marks can make a character long. */
const maximumRead = 2_000;

/** The beginning of a message's first line with a visible character; null: it has none. */
export function titleOf(message: string): string | null {
  const text = message.slice(0, maximumRead).toWellFormed().trim();
  const [line = ""] = text.split(/[\r\n\u2028\u2029]/u);
  const shown = line.replaceAll(/\p{Cc}+/gu, " ");
  const parts = [...graphemes.segment(shown)].slice(0, titleCharacters).map(({ segment }) => segment);
  return parts.join("").trim() || null;
}
