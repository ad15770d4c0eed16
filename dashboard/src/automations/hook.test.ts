import { expect, test } from "vitest";
import { filterFieldsOf, filtersOf, filterWords, type HookFilter } from "./hook.ts";

test.each<[HookFilter, string]>([
  [{ path: "$.action", equals: "opened" }, "$.action is opened"],
  [{ path: "$.number", equals: 7 }, "$.number is 7"],
  [{ path: "$.draft", equals: false }, "$.draft is false"],
  [{ path: "$.parent", equals: null }, "$.parent is null"],
  [{ header: "x-count", equals: "7" }, "x-count is 7"],
  [{ path: "$.ref", glob: "refs/heads/*" }, "$.ref matches refs/heads/*"],
  [{ path: "$.pull_request", exists: true }, "$.pull_request exists"],
  [{ header: "x-draft", exists: false }, "x-draft does not exist"],
])("the filter %j has fields, which give the same filter again", (filter, words) => {
  expect(filtersOf([filterFieldsOf(filter)])).toEqual([filter]);
  expect(filterWords(filter)).toBe(words);
});

test("an empty row is no filter", () => {
  expect(filtersOf([{ of: " ", comparison: "equals", value: "x" }])).toEqual([]);
});
