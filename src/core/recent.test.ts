import { expect, test } from "vitest";
import { setRecent } from "./recent.ts";

test("the least recently set entry is dropped beyond the maximum", () => {
  const map = new Map<string, number>();
  for (const [index, key] of ["a", "b", "a", "c"].entries()) setRecent(map, key, index, 2);
  expect([...map]).toEqual([
    ["a", 2],
    ["c", 3],
  ]);
});
