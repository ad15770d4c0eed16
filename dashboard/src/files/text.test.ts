import { describe, expect, test } from "vitest";
import { numbered } from "./paths.ts";
import { lineBreakOf, textOf } from "./text.ts";

describe("textOf", () => {
  test("keeps a byte order mark", () => {
    expect(textOf(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))).toBe("\ufeffa");
  });

  test.each([
    ["a zero byte", [0x61, 0]],
    ["a cut sequence", [0xc3]],
    ["Latin-1", [0x61, 0xe9, 0x62]],
  ])("refuses %s", (_, content) => {
    expect(textOf(new Uint8Array(content))).toBeNull();
  });
});

describe("lineBreakOf", () => {
  test.each([
    ["", "\n"],
    ["a\nb\n", "\n"],
    ["a\r\nb\r\n", "\r\n"],
    ["a\r\nb\n", "\n"],
    ["a\rb\r\n", "\n"],
  ])("%j has %j", (text, lineBreak) => {
    expect(lineBreakOf(text)).toBe(lineBreak);
  });
});

test.each([
  ["notes.txt", "notes (2).txt"],
  [".env", ".env (2)"],
  ["Makefile", "Makefile (2)"],
  ["a.tar.gz", "a.tar (2).gz"],
])("%s is numbered as %s", (name, next) => {
  expect(numbered(name, 2)).toBe(next);
});
