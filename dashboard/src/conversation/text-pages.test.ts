import fc from "fast-check";
import { expect, test } from "vitest";
import { pageSize, TextPages } from "./text-pages.ts";

function pagesOf(text: string): string[] {
  const pages = new TextPages();
  pages.take(text);
  return Array.from({ length: pages.count }, (_, index) => pages.page(index));
}

const paragraph = `${"words ".repeat(200)}\n\n`;

test("a text of usual length is one page", () => {
  expect(pagesOf("")).toEqual([""]);
  const text = "x".repeat(pageSize);
  expect(pagesOf(text)).toEqual([text]);
});

test("pages end at blank lines, and are the text together", () => {
  const text = paragraph.repeat(200);
  const pages = pagesOf(text);
  expect(pages.join("")).toBe(text);
  for (const page of pages) {
    expect(page.length).toBeLessThanOrEqual(pageSize);
    expect(page.endsWith("\n\n")).toBe(true);
  }
});

test("a block of code is not cut at its blank lines where there is text around it", () => {
  const code = "```ts\nconst one = 1;\n\nconst two = 2;\n```\n";
  const pages = pagesOf(`${paragraph.repeat(33)}${code}${paragraph.repeat(33)}`);
  expect(pages.filter((page) => page.includes(code))).toHaveLength(1);
});

test("a block of code of many pages is opened and closed on each", () => {
  const lines = Array.from({ length: 20_000 }, (_, n) => `line ${n};`).join("\n");
  const pages = pagesOf(`\`\`\`ts\n${lines}\n\`\`\``);
  expect(pages.length).toBeGreaterThan(4);
  for (const page of pages) {
    expect(page).toMatch(/^```ts\nline \d+;\n/);
    expect(page).toMatch(/\n```$/);
  }
  expect(pages.flatMap((page) => page.match(/^line \d+;$/gm) ?? [])).toHaveLength(20_000);
});

test("a line without an end is cut between characters", () => {
  const pages = pagesOf(`x${"😀".repeat(pageSize)}`);
  expect(pages.length).toBe(3);
  expect(pages.every((page) => page.isWellFormed())).toBe(true);
});

test("a text that grows has the pages of the whole, and another text its own", () => {
  const bits = fc.constantFrom("word ", "\n", "\n\n", "```\n", "```js\n", `${"long ".repeat(3_000)}\n`, paragraph);
  fc.assert(
    fc.property(fc.array(bits, { maxLength: 40 }), fc.array(bits, { maxLength: 10 }), (said, others) => {
      const pages = new TextPages();
      let text = "";
      for (const bit of said) {
        text += bit;
        pages.take(text);
        for (let at = 0; at < pages.count; at++) expect(pages.page(at).length).toBeLessThan(pageSize + 20);
      }
      pages.take(others.join(""));
      const whole = pagesOf(others.join(""));
      expect(Array.from({ length: pages.count }, (_, at) => pages.page(at))).toEqual(whole);
    }),
    { numRuns: 50 },
  );
});
