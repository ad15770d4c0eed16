import { expect, test } from "vitest";
import { piecesOf } from "./fences.ts";

test("text and fenced code are distinguished", () => {
  expect(piecesOf("a\n\nb\n```ts\nlet x;\n\nx++;\n```\nc\n```\n```")).toEqual([
    { text: "a\n\nb", language: null },
    { text: "let x;\n\nx++;", language: "ts" },
    { text: "c", language: null },
    { text: "", language: "" },
    { text: "", language: null },
  ]);
});

test("a fence that nothing closes is text", () => {
  expect(piecesOf("a\n```js\nb\n```c")).toEqual([{ text: "a\n```js\nb\n```c", language: null }]);
});

test("many fences without an end cost no more than their number", () => {
  const lines = "```x\n".repeat(400_000);
  expect(piecesOf(lines)).toEqual([{ text: lines, language: null }]);
});
