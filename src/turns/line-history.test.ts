import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { edited } from "../guest/files/edit-plans.ts";
import { LineHistory } from "./line-history.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-lines-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The hunks of diff(1), as the machine compares files. */
function hunks(before: string, after: string): string {
  writeFileSync(join(folder, "before"), before);
  writeFileSync(join(folder, "after"), after);
  try {
    execFileSync("diff", ["-u", "--text", "before", "after"], { cwd: folder });
    return "";
  } catch (error) {
    const output = String((error as { stdout: Buffer }).stdout);
    return output.slice(output.indexOf("\n@@ ") + 1);
  }
}

const lines = fc.array(fc.constantFrom("a", "b", "c", "", "-- x", "++ y", "@@ -1 +1 @@", "\\ z", "\u2028", "d\r"), {
  maxLength: 30,
});
const text = fc.tuple(lines, fc.boolean()).map(([all, ends]) => all.join("\n") + (ends && all.length > 0 ? "\n" : ""));

test("diffs of several turns lead to the same text as one after the other", () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 2, maxLength: 5 }), (versions) => {
      const history = new LineHistory(true);
      for (const [at, version] of versions.entries()) {
        if (at > 0) expect(history.add(hunks(versions[at - 1]!, version))).toBe(true);
      }
      const diff = history.hunks({ lines: 20_000 });
      const [first, last] = [versions[0]!, versions.at(-1)!];
      expect(edited(first, { diff, isReversed: false })).toBe(last);
      if (first === last) expect(diff).toBe("");
    }),
    { numRuns: 150 },
  );
}, 60_000);

test("a diff is taken back and made again", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const diff = hunks(before, after);
      expect(edited(after, { diff, isReversed: true })).toBe(before);
      expect(edited(before, { diff, isReversed: false })).toBe(after);
    }),
    { numRuns: 150 },
  );
}, 60_000);

test("far apart changes keep the numbers of their lines", () => {
  const first = Array.from({ length: 100 }, (_, line) => `${line + 1}\n`);
  const second = first.with(9, "ten\n").toSpliced(0, 0, "zero\n");
  const third = second.with(90, "ninety\n");
  const history = new LineHistory(true);
  expect(history.add(hunks(first.join(""), second.join("")))).toBe(true);
  expect(history.add(hunks(second.join(""), third.join("")))).toBe(true);
  expect(history.hunks({ lines: 20_000 })).toBe(hunks(first.join(""), third.join("")));
});

test("lines beyond those that may be compared are deleted and added", () => {
  const lines = (letter: string) => Array.from({ length: 50 }, (_, line) => `${letter}${line % 7}\n`).join("");
  const composed = (comparing: { lines: number }) => {
    const history = new LineHistory(true);
    history.add(hunks(lines("a"), ""));
    history.add(hunks("", lines("a")));
    return history.hunks(comparing);
  };
  const comparing = { lines: 150 };
  expect([composed(comparing), comparing.lines]).toEqual(["", 50]);
  expect(composed(comparing)).toMatch(/^@@ -1,50 \+1,50 @@/);
});

test("a diff of another version is refused", () => {
  const history = new LineHistory(true);
  expect(history.add("@@ -1 +1 @@\n-one\n+two\n")).toBe(true);
  expect(history.add("@@ -1 +1 @@\n-three\n+four\n")).toBe(false);
  const created = new LineHistory(false);
  expect(created.add("@@ -0,0 +1 @@\n+one\n")).toBe(true);
  expect(created.add("@@ -7 +7 @@\n-one\n+two\n")).toBe(false);
  expect(created.add("@@ -1,2 +1 @@\n one\n-more\n")).toBe(false);
});

test.each([
  "no diff",
  "@@ -1 +1 @@\nx\n",
  "@@ -1,9 +1 @@\n-a\n+b\n",
  "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n--- c\n+++ d\n@@ -1 +1 @@\n-a\n+b\n",
  "@@ -2 +2 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n",
  `@@ -${"9".repeat(400)} +1 @@\n-a\n+b\n`,
])("hunks that are none are refused: %j", (diff) => {
  expect(new LineHistory(false).add(diff)).toBe(false);
  expect(edited("a\na\n", { diff, isReversed: false })).toBeNull();
});
