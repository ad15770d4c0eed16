/** More of a line is not shown. */
const shownLength = 2_000;

/** The text with characters that have no picture of their own, or change how others are read, by their names. */
export function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === "\t") return character;
    return `⟨U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

/** The beginning of a line that is too long to be shown, and how many characters are missing. */
export function cut(text: string): { shown: string; missing: number } {
  if (text.length <= shownLength) return { shown: text, missing: 0 };
  return { shown: text.slice(0, shownLength).toWellFormed(), missing: text.length - shownLength };
}
