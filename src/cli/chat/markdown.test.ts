import fc from "fast-check";
import { expect, test } from "vitest";
import { columnsOf } from "../terminal.ts";
import { renderMarkdown } from "./markdown.ts";
import { StreamedMarkdown } from "./streamed-markdown.ts";

function textOf(source: string, width = 40): string[] {
  return renderMarkdown(source, width).map((line) => line.map(({ text }) => text).join(""));
}

test.each([
  ["a paragraph is wrapped at its words", "one two three four", 9, ["one two ", "three ", "four"]],
  ["a word that is too wide is broken", "abcdefghij k", 4, ["abcd", "efgh", "ij k"]],
  ["wide characters take two columns", "日本語日本語", 5, ["日本", "語日", "本語"]],
  ["numbers of a list go on from the first", "3. c\n4. d", 20, ["3. c", "4. d"]],
  ["items of work to do", "- [x] a\n- [ ] b", 20, ["☑ a", "☐ b"]],
  ["lists in lists", "- a\n  - b\n    1. c", 20, ["• a", "  • b", "    1. c"]],
  ["a quote", "> one\n> two", 20, ["│ one", "│ two"]],
  ["program text keeps its lines and spaces", "```\na  b\n\n  c\n```", 20, ["  a  b", "  ", "    c"]],
  ["a link says where it leads", "[here](https://x.y)", 40, ["here (https://x.y)"]],
  ["an address alone is said once", "<https://x.y>", 40, ["https://x.y"]],
  ["a picture", "![cat](c.png)", 40, ["[cat: c.png]"]],
  ["HTML is text", "<b>x</b>", 40, ["<b>x</b>"]],
  ["a table", "|a|b|\n|-|-|\n|1|22|", 40, ["a  b ", "1  22"]],
  ["a table that is too wide", "|a|b|\n|-|-|\n|one two|three four|", 12, ["a: one two", "b: three ", "four"]],
])("%s", (_, source, width, lines) => {
  expect(textOf(source, width)).toEqual(lines);
});

test("control characters never come through, and nesting without end is shown as it is", () => {
  expect(textOf("a\x1b[31mb\x07 `\x1b]0;x\x07`").join("")).not.toMatch(/\p{Cc}/u);
  expect(textOf(`${"> ".repeat(30_000)}deep`).join("").length).toBeGreaterThan(1000);
});

test("whatever the text and the width, no line is wider, and no word is lost", () => {
  const pieces = fc.constantFrom(
    "# h\n",
    "- ",
    "word ",
    "日本語",
    "**b**",
    "`c`",
    "\n",
    "\n\n",
    "```\n",
    "> ",
    "| a | b |\n|--|--|\n",
    "😀",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 40 }), fc.integer({ min: 24, max: 60 }), (source, width) => {
      for (const line of textOf(source.join(""), width)) expect(columnsOf(line.trimEnd())).toBeLessThanOrEqual(width);
    }),
  );
});

test("a streamed text loses and doubles nothing, and only its last block may still change", () => {
  const pieces = fc.constantFrom(
    "# h\n",
    "- item\n",
    "  - in it\n",
    "word ",
    "\n\n",
    "```js\ncode\n",
    "```\n",
    "\n---\n",
    "1. x\n",
    "> q\n",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (deltas) => {
      const streamed = new StreamedMarkdown();
      const taken: string[] = [];
      for (const delta of deltas) {
        streamed.add(delta);
        taken.push(streamed.takeComplete());
      }
      taken.push(streamed.takeAll());
      expect(taken.join("")).toBe(deltas.join(""));
      // The blocks are those of the whole text. Blank lines between them are the transcript's.
      const alone = taken.filter((part) => part.trim() !== "").flatMap((part) => textOf(part));
      const solid = (lines: string[]) => lines.filter((line) => line.trim() !== "");
      expect(solid(alone)).toEqual(solid(textOf(deltas.join(""))));
    }),
  );
});

test("a program text of a megabyte comes in parts, each of them program text", () => {
  const streamed = new StreamedMarkdown();
  streamed.add("```\n");
  const lines = Array.from({ length: 30_000 }, (_, index) => `line ${index} of a long program`);
  const shown: string[] = [];
  for (const line of lines) {
    streamed.add(`${line}\n`);
    shown.push(...textOf(streamed.takeComplete(), 80));
  }
  shown.push(...textOf(streamed.takeAll(), 80));
  expect(shown.filter((line) => line !== "")).toEqual(lines.map((line) => `  ${line}`));
});
