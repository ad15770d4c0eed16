import { expect, test } from "vitest";
import { compared } from "./self-test.ts";

test("machines with equal or missing properties fail the check", () => {
  const names = ["boot id", "random bytes"];
  const found = "no two share boot id, random bytes";
  expect(
    compared(names, [
      ["a", "1"],
      ["b", "2"],
      ["c", "3"],
    ]),
  ).toEqual({ found });
  const twins = { found: "equal or missing: random bytes", problem: "Two machines share properties that must differ." };
  expect(
    compared(names, [
      ["a", "1"],
      ["b", "2"],
      ["c", "1"],
    ]),
  ).toEqual(twins);
  expect(compared(names, [["a", "1"], ["b"]])).toEqual(twins);
});
