import { diffWordsWithSpace, parsePatch } from "diff";

/** A line of a diff, with its numbers before and after. */
export interface Line {
  sign: "+" | "-" | " ";
  text: string;
  old: number | null;
  now: number | null;
  /** The line that it replaces, or that replaces it. */
  pair: string | null;
  /** It is the file's last, and ends without a line break. */
  isUnended: boolean;
}

export interface Hunk {
  header: string;
  lines: Line[];
}

/** The hunks of a unified diff; null if it is not valid. */
export function hunksOf(diff: string): Hunk[] | null {
  try {
    const hunks = parsePatch(diff).flatMap((patch) => patch.hunks);
    return hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
      header: `@@ -${rangeOf(oldStart, oldLines)} +${rangeOf(newStart, newLines)} @@`,
      lines: numbered(lines, oldStart, newStart),
    }));
  } catch {
    return null;
  }
}

/** As in diff(1): a range of no lines has the number of the line before it. */
function rangeOf(start: number, count: number): string {
  if (count === 1) return String(start);
  return `${count === 0 ? start - 1 : start},${count}`;
}

function numbered(texts: readonly string[], oldStart: number, newStart: number): Line[] {
  const lines: Line[] = [];
  let [old, now] = [oldStart, newStart];
  for (const text of texts) {
    const sign = text[0];
    if (sign === "\\") {
      const last = lines.at(-1);
      if (last) last.isUnended = true;
      continue;
    }
    if (sign !== "+" && sign !== "-" && sign !== " ") continue;
    const numbers = { old: sign === "+" ? null : old++, now: sign === "-" ? null : now++ };
    lines.push({ sign, text: text.slice(1), ...numbers, pair: null, isUnended: false });
  }
  for (const { deleted, added } of blocksOf(lines)) {
    for (const [at, line] of deleted.entries()) {
      const other = added[at];
      if (!other) break;
      line.pair = other.text;
      other.pair = line.text;
    }
  }
  return lines;
}

/** Lines side by side: each is on both sides, or replaces the other, or has none next to it. */
export function sidesOf(lines: readonly Line[]): [Line | null, Line | null][] {
  return blocksOf(lines).flatMap(({ context, deleted, added }) => [
    ...context.map((line): [Line, Line] => [line, line]),
    ...Array.from({ length: Math.max(deleted.length, added.length) }, (_, at): [Line | null, Line | null] => [
      deleted[at] ?? null,
      added[at] ?? null,
    ]),
  ]);
}

interface Block {
  context: Line[];
  deleted: Line[];
  added: Line[];
}

/** Changed lines, each with the unchanged ones before. */
function blocksOf(lines: readonly Line[]): Block[] {
  const blocks: Block[] = [];
  let block: Block | null = null;
  for (const line of lines) {
    if (!block || (line.sign === " " && block.deleted.length + block.added.length > 0)) {
      block = { context: [], deleted: [], added: [] };
      blocks.push(block);
    }
    const part = line.sign === " " ? block.context : line.sign === "-" ? block.deleted : block.added;
    part.push(line);
  }
  return blocks;
}

/** How many lines a diff adds and removes. */
export function countsOf(diff: string | null): { added: number; removed: number } {
  const counts = { added: 0, removed: 0 };
  for (let at = 0; diff !== null && at < diff.length; ) {
    if (diff[at] === "+") counts.added++;
    else if (diff[at] === "-") counts.removed++;
    const end = diff.indexOf("\n", at);
    at = end < 0 ? diff.length : end + 1;
  }
  return counts;
}

/** Longer lines are not compared word by word. */
const comparedLength = 500;
const comparedEdits = 100;

export interface Piece {
  text: string;
  isChanged: boolean;
}

/** The line in pieces, those that the other line does not have among them. */
export function piecesOf({ sign, text, pair }: Line): Piece[] {
  const whole = [{ text, isChanged: false }];
  if (pair === null || text.length > comparedLength || pair.length > comparedLength) return whole;
  const [before, after] = sign === "-" ? [text, pair] : [pair, text];
  const parts = diffWordsWithSpace(before, after, { maxEditLength: comparedEdits });
  // Lines that have nothing but spaces in common are not versions of each other.
  if (!parts?.some(({ added, removed, value }) => !added && !removed && value.trim() !== "")) return whole;
  return parts
    .filter(({ added, removed }) => (sign === "-" ? !added : !removed))
    .map(({ added, removed, value }) => ({ text: value, isChanged: added || removed }));
}
