/** A line of an edit. */
export interface DiffLine {
  sign: "+" | "-" | " ";
  text: string;
}

/** The lines of a unified diff's hunks, each hunk after its header. */
export function linesOf(hunks: string): DiffLine[] {
  const lines = hunks.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((text) => {
    const sign = text[0];
    return sign === "+" || sign === "-" || sign === " " ? line(sign, text.slice(1)) : line(" ", text);
  });
}

/** Lines that are compared at most; an edit with more is shown as removed and added. */
const comparedLines = 400;

/** The edit of a file that a tool call is, by the names that the runtimes give its parts; null if it is none. */
export function diffOf(...values: unknown[]): DiffLine[] | null {
  for (const value of values.flat()) {
    if (typeof value !== "object" || value === null) continue;
    const fields = value as Record<string, unknown>;
    const before = fields.old_string ?? fields.oldString ?? fields.oldText;
    const after = fields.new_string ?? fields.newString ?? fields.newText;
    if (typeof after === "string" && (typeof before === "string" || before === null)) return diff(before ?? "", after);
  }
  return null;
}

/** The lines of `before` and `after`, by their longest common subsequence. */
function diff(before: string, after: string): DiffLine[] {
  const [left, right] = [before, after].map((text) => (text === "" ? [] : text.split("\n"))) as [string[], string[]];
  if (left.length > comparedLines || right.length > comparedLines) {
    return [...left.map((text) => line("-", text)), ...right.map((text) => line("+", text))];
  }
  const common = lengths(left, right);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && left[i] === right[j]) {
      lines.push(line(" ", left[i]!));
      i += 1;
      j += 1;
    } else if (i < left.length && (j === right.length || common[i + 1]![j]! >= common[i]![j + 1]!)) {
      lines.push(line("-", left[i++]!));
    } else {
      lines.push(line("+", right[j++]!));
    }
  }
  return lines;
}

/** The length of the longest common subsequence of what is left from line i and line j on. */
function lengths(left: readonly string[], right: readonly string[]): number[][] {
  const table = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0));
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      table[i]![j] = left[i] === right[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!);
    }
  }
  return table;
}

function line(sign: DiffLine["sign"], text: string): DiffLine {
  return { sign, text };
}
