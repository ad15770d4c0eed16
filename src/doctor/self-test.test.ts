import { expect, test } from "vitest";
import { compared } from "./self-test.ts";

test("machines of which two say the same, or one says nothing, are twins", () => {
  const names = ["boot id", "random bytes"];
  const found = "no two share boot id, random bytes";
  expect(
    compared(names, [
      ["a", "1"],
      ["b", "2"],
      ["c", "3"],
    ]),
  ).toEqual({ found });
  const twins = { found: "equal or missing: random bytes", problem: "Two machines are twins." };
  expect(
    compared(names, [
      ["a", "1"],
      ["b", "2"],
      ["c", "1"],
    ]),
  ).toEqual(twins);
  expect(compared(names, [["a", "1"], ["b"]])).toEqual(twins);
});
