import { diffArrays } from "diff";
import { parsedHunks } from "../core/hunks.ts";

/** Lines have their line break, so that a last line without one is another line. */
type Segment =
  | { kind: "gap"; at: number; count: number }
  /** `at`: the line's number in the first version; null: it was added. */
  | { kind: "line"; at: number | null; text: string }
  /** A line of the first version that is gone. */
  | { kind: "deleted"; at: number; text: string };

/** The context of a hunk, in lines, as in diff(1). */
const context = 3;
/** The most differences within one block of changed lines that are compared. */
const maximumEdits = 200;

/** The lines that may still be compared: an agent can choose those that take long. */
export interface Comparing {
  lines: number;
}

/**
 * A file over several diffs, as far as their hunks show it: the lines between them are gaps, which no diff changed. Follows
 * the numbers that lines had in the first version.
 */
export class LineHistory {
  #segments: Segment[];

  /** `exists`: whether the first version does. */
  constructor(exists: boolean) {
    this.#segments = exists ? [{ kind: "gap", at: 1, count: Number.POSITIVE_INFINITY }] : [];
  }

  /** Adds the next diff, by its hunks. False if it is not of the version that the diffs before lead to. */
  add(hunks: string): boolean {
    if (hunks === "") return true;
    const patch = parsedHunks(hunks);
    if (!patch) return false;
    const reader = new Reader(this.#segments);
    for (const { oldStart, lines } of patch.hunks) {
      if (!reader.copyUpTo(oldStart)) return false;
      for (const [sign, text] of signed(lines)) {
        if (sign === "+") reader.out.push({ kind: "line", at: null, text });
        else if (!reader.pass(text, sign === "-")) return false;
      }
    }
    this.#segments = reader.rest();
    return true;
  }

  /** The file no longer exists: what is not known of it had no lines. */
  end(): void {
    this.#segments = this.#segments.filter(({ kind }) => kind !== "gap");
  }

  /**
   * The hunks from the first version to the last; empty if they are the same. Beyond the lines that may be compared, all lines
   * of a block of changes are deleted and added.
   */
  hunks(comparing: Comparing): string {
    return hunksOf(this.#segments, comparing);
  }
}

/** Reads segments, and writes those of the next version. */
class Reader {
  readonly out: Segment[] = [];
  readonly #from: readonly Segment[];
  #next = 0;
  #current: Segment | undefined;
  /** The number of the next line of the current version. */
  #line = 1;

  constructor(from: readonly Segment[]) {
    this.#from = from;
    this.#current = from[0];
  }

  /** Copies the lines before one. False if it is before the last, or there are fewer. */
  copyUpTo(line: number): boolean {
    if (line < this.#line) return false;
    while (this.#line < line) {
      const { kind } = this.#skipDeleted() ?? { kind: null };
      if (kind === null) return false;
      this.#take(kind === "gap" ? line - this.#line : 1);
    }
    return true;
  }

  /** Copies the next line, or deletes it. False if it is another or there is none. */
  pass(text: string, isDeleted: boolean): boolean {
    const segment = this.#skipDeleted();
    if (!segment || (segment.kind === "line" && segment.text !== text)) return false;
    const { at } = segment;
    if (!isDeleted) this.out.push({ kind: "line", at, text });
    else if (at !== null) this.out.push({ kind: "deleted", at, text });
    this.#advance(1);
    return true;
  }

  rest(): Segment[] {
    return this.#current ? [...this.out, this.#current, ...this.#from.slice(this.#next + 1)] : this.out;
  }

  #skipDeleted(): Segment | undefined {
    while (this.#current?.kind === "deleted") {
      this.out.push(this.#current);
      this.#current = this.#from[++this.#next];
    }
    return this.#current;
  }

  #take(lines: number): void {
    const segment = this.#current!;
    const count = segment.kind === "gap" ? Math.min(lines, segment.count) : 1;
    this.out.push(segment.kind === "gap" ? { ...segment, count } : segment);
    this.#advance(count);
  }

  /** Leaves lines of the current segment behind. */
  #advance(count: number): void {
    const segment = this.#current!;
    this.#line += count;
    if (segment.kind === "gap" && segment.count > count) {
      this.#current = { kind: "gap", at: segment.at + count, count: segment.count - count };
    } else {
      this.#current = this.#from[++this.#next];
    }
  }
}

type Sign = "+" | "-" | " ";

/** The lines of a hunk, each with its line break if it has one. */
function signed(lines: readonly string[]): [Sign, string][] {
  return lines.flatMap((line, at): [Sign, string][] => {
    if (line.startsWith("\\")) return [];
    const end = lines[at + 1]?.startsWith("\\") ? "" : "\n";
    return [[(line[0] ?? " ") as Sign, line.slice(1) + end]];
  });
}

/** Neighbouring lines that are gone or new. */
interface Block {
  deleted: string[];
  added: string[];
}

interface Row {
  sign: Sign;
  text: string;
  /** The numbers of the line, or of the next one, in the first and in the last version. */
  old: number;
  now: number;
}

function hunksOf(segments: readonly Segment[], comparing: Comparing): string {
  const hunks: string[] = [];
  let rows: Row[] = [];
  let [old, now] = [1, 1];
  let block: Block = { deleted: [], added: [] };
  const push = (sign: Sign, text: string) => {
    rows.push({ sign, text, old, now });
    if (sign !== "+") old++;
    if (sign !== "-") now++;
  };
  const endBlock = () => {
    for (const [sign, text] of compared(block, comparing)) push(sign, text);
    block = { deleted: [], added: [] };
  };
  for (const segment of segments) {
    if (segment.kind === "deleted") block.deleted.push(segment.text);
    else if (segment.kind === "line" && segment.at === null) block.added.push(segment.text);
    else {
      endBlock();
      if (segment.kind === "line") push(" ", segment.text);
      else {
        hunks.push(...hunksIn(rows));
        rows = [];
        old += segment.count;
        now += segment.count;
      }
    }
  }
  endBlock();
  return [...hunks, ...hunksIn(rows)].join("");
}

/** The lines of a block without context. A line that was deleted and added again has not changed. */
function compared({ deleted, added }: Block, comparing: Comparing): [Sign, string][] {
  const lines = deleted.length === 0 || added.length === 0 ? 0 : deleted.length + added.length;
  const mayCompare = lines <= comparing.lines;
  if (mayCompare) comparing.lines -= lines;
  const parts = (mayCompare && diffArrays(deleted, added, { maxEditLength: maximumEdits })) || [
    { value: deleted, removed: true, added: false },
    { value: added, removed: false, added: true },
  ];
  return parts.flatMap(({ value, ...part }) => {
    const sign = part.added ? "+" : part.removed ? "-" : " ";
    return value.map((text): [Sign, string] => [sign, text]);
  });
}

/** The hunks of rows without a gap. */
function hunksIn(rows: readonly Row[]): string[] {
  const hunks: string[] = [];
  const changed = rows.flatMap(({ sign }, at) => (sign === " " ? [] : [at]));
  for (let first = 0; first < changed.length; ) {
    let last = first;
    while (last + 1 < changed.length && changed[last + 1]! - changed[last]! <= 2 * context + 1) last++;
    hunks.push(hunkOf(rows.slice(Math.max(0, changed[first]! - context), changed[last]! + context + 1)));
    first = last + 1;
  }
  return hunks;
}

function hunkOf(rows: readonly Row[]): string {
  const { old, now } = rows[0]!;
  const olds = rows.filter(({ sign }) => sign !== "+").length;
  const news = rows.filter(({ sign }) => sign !== "-").length;
  const lines = rows.map(({ sign, text }) =>
    text.endsWith("\n") ? `${sign}${text}` : `${sign}${text}\n\\ No newline at end of file\n`,
  );
  return `@@ -${rangeOf(old, olds)} +${rangeOf(now, news)} @@\n${lines.join("")}`;
}

/** As in diff(1): a range of no lines has the number of the line before it. */
function rangeOf(start: number, count: number): string {
  if (count === 1) return String(start);
  return `${count === 0 ? start - 1 : start},${count}`;
}
