import { expect, test } from "vitest";
import { titleOf } from "./title.ts";

test("a title is the first line's first 60 characters", () => {
  expect(titleOf("  Fix the build\nand then the tests")).toBe("Fix the build");
  expect(titleOf("\n\n日本語のタイトル")).toBe("日本語のタイトル");
  expect(titleOf("x".repeat(100))).toBe("x".repeat(60));
});

test("a character of several code points is one and stays whole", () => {
  const family = "👩‍👩‍👧‍👦";
  expect(titleOf(family.repeat(70))).toBe(family.repeat(60));
  expect(titleOf("e\u0301".repeat(61))).toBe("e\u0301".repeat(60));
});

test("a title has no control characters, and a message without visible ones gives none", () => {
  expect(titleOf("a\u001b[31mb\tc")).toBe("a [31mb c");
  expect(titleOf(" \u0007 \n ")).toBeNull();
});

test("a long message is read up to a limit", () => {
  const title = titleOf(`a${"\u0301".repeat(1_000_000)}`);
  expect(title!.length).toBeLessThanOrEqual(2_000);
});
