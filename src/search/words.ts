// How texts and searches become words: words of letters and digits, single characters of scripts that are written without
// spaces, and emoji.

/** Scripts without spaces between words, and Hangul, whose words take endings. */
const unspaced = String.raw`[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Bopo}\p{sc=Hang}\p{sc=Yiii}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}ーｰ々〆]`;
const emoji = String.raw`\p{RI}{2}|\p{ExtPict}[\p{EMod}\uFE0F]*(?:\u200D\p{ExtPict}[\p{EMod}\uFE0F]*)*`;
const character = String.raw`${unspaced}[\p{M}\uFF9E\uFF9F]*`;
const letters = String.raw`(?:(?!${unspaced})[\p{L}\p{M}\p{N}])+`;
const unit = new RegExp(`(?<emoji>${emoji})|(?<character>${character})|${letters}`, "gu");

/** The longest word of the index, in UTF-16 units. */
const longestWord = 64;
/** The most bytes of a text's words; PostgreSQL's limit is a megabyte. */
const maximumBytes = 512 * 1024;
const bytesPerWord = 8;

type UnitKind = "word" | "character" | "emoji";

/** A part of a text that matches as a whole. */
export interface Unit {
  kind: UnitKind;
  /** Without case, and without the accents of Latin and Greek letters. */
  word: string;
  /** Its place in the text, in UTF-16 units. */
  start: number;
  end: number;
}

/** The units of a text in Unicode's form NFC. */
export function* unitsOf(text: string): Generator<Unit> {
  for (const match of text.matchAll(unit)) {
    const kind = match.groups!.emoji ? "emoji" : match.groups!.character ? "character" : "word";
    const word = folded(match[0].slice(0, longestWord)).slice(0, longestWord).toWellFormed();
    if (word !== "") yield { kind, word, start: match.index, end: match.index + match[0].length };
  }
}

const ascii = /^[\0-\x7F]*$/;

function folded(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  return text
    .normalize("NFKD")
    .replaceAll(/([\p{sc=Latin}\p{sc=Greek}])\p{M}+/gu, "$1")
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll("ς", "σ")
    .replaceAll(/[\uFE0F\0]/g, "");
}

/** The words under which a text is found: a run of characters as its overlapping pairs and its last character. */
export function wordsOf(text: string): string[] {
  const words = new Set<string>();
  let bytes = 0;
  const add = (word: string) => {
    if (words.has(word)) return;
    bytes += Buffer.byteLength(word) + bytesPerWord;
    if (bytes <= maximumBytes) words.add(word);
  };
  let before: Unit | null = null;
  for (const next of unitsOf(text)) {
    const isRun = before?.kind === "character";
    if (isRun) add(isPair(before!, next) ? before!.word + next.word : before!.word);
    if (next.kind !== "character") add(next.word);
    before = next;
  }
  if (before?.kind === "character") add(before.word);
  return [...words];
}

/** Whether two units are two characters without anything between them. */
export function isPair(one: Unit, next: Unit): boolean {
  return one.kind === "character" && next.kind === "character" && one.end === next.start;
}

/** Words that no text has, so that the index finds the texts of one account, and of one agent. */
export function accountWord(accountId: string): string {
  return `=account ${accountId}`;
}

export function agentWord(agentId: string): string {
  return `=agent ${agentId}`;
}
