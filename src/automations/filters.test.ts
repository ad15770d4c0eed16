import { expect, test } from "vitest";
import { HookFilter } from "../contract/automation-hooks.ts";
import { filterResult, matchesGlob, selected } from "./filters.ts";

const body = JSON.parse(
  '{"action": "opened", "number": 3, "draft": false, "merged": null, "labels": [{"name": "bug"}, {"name": "ui"}], "a b": {"*": 1}, "0": "zero", "__proto__": {"x": 1}}',
);
const headers = { "x-github-event": "pull_request" };

const result = (...filters: object[]) =>
  filterResult(
    filters.map((each) => HookFilter.parse(each)),
    { body, headers },
  );

test.each([
  ["$", [body]],
  ["$.action", ["opened"]],
  ["$.labels[1].name", ["ui"]],
  ["$.labels[*].name", ["bug", "ui"]],
  ["$.labels.*.name", ["bug", "ui"]],
  ["$['a b']['*']", [1]],
  ['$["a b"].*', [1]],
  ["$['0']", ["zero"]],
  ["$[0]", []],
  ["$.labels.length", []],
  ["$.labels['0']", []],
  ["$.action.length", []],
  ["$.toString", []],
  ["$.__proto__.x", [1]],
  ["$.missing[*].x", []],
])("%s selects %j", (path, values) => {
  expect(HookFilter.safeParse({ path, exists: true }).success).toBe(true);
  expect(selected(path, body)).toEqual(values);
});

test("a path selects up to 100 values", () => {
  const rows = Array.from({ length: 300 }, (_, n) => Array.from({ length: 300 }, () => n));
  expect(selected("$[*][*]", rows)).toHaveLength(100);
});

test.each([
  [{ path: "$.action", equals: "opened" }, true],
  [{ path: "$.action", equals: "closed" }, false],
  [{ path: "$.number", equals: 3 }, true],
  [{ path: "$.number", equals: "3" }, false],
  [{ path: "$.draft", equals: false }, true],
  [{ path: "$.merged", equals: null }, true],
  [{ path: "$.missing", equals: null }, false],
  [{ path: "$.labels[*].name", equals: "ui" }, true],
  [{ path: "$.action", glob: "open*" }, true],
  [{ path: "$.number", glob: "?" }, true],
  [{ path: "$.draft", glob: "*" }, false],
  [{ path: "$.merged", exists: true }, true],
  [{ path: "$.missing", exists: false }, true],
  [{ header: "X-GitHub-Event", equals: "pull_request" }, true],
  [{ header: "x-github-event", glob: "pull_*" }, true],
  [{ header: "x-missing", exists: true }, false],
  [{ header: "constructor", exists: true }, false],
])("%j", (filter, matched) => {
  expect(result(filter)!.matched).toBe(matched);
});

test("the first filter that does not match is in the result", () => {
  expect(result()).toBeNull();
  expect(result({ path: "$.action", exists: true })).toEqual({ matched: true, message: null });
  const messages = [
    [{ path: "$.action", equals: "closed" }, '$.action is "opened"; it must be "closed".'],
    [{ path: "$.labels[*].name", glob: "doc*" }, '$.labels[*].name is "bug" and others; it must match "doc*".'],
    [{ path: "$.labels", equals: 1 }, "$.labels is an array; it must be 1."],
    [{ header: "x-missing", equals: "a" }, 'x-missing is missing; it must be "a".'],
    [{ path: "$.action", exists: false }, '$.action is "opened"; it must not exist.'],
  ] as const;
  for (const [filter, message] of messages) {
    expect(result({ path: "$.number", exists: true }, filter)).toEqual({ matched: false, message });
  }
});

test.each([
  ["*", "", true],
  ["a*c", "abbc", true],
  ["a*c", "abbd", false],
  ["*a*b*", "xxaxxbxx", true],
  ["?", "", false],
  ["a?c", "abc", true],
  ["**", "x", true],
  ["a.c", "abc", false],
  ["refs/heads/release-*", "refs/heads/release-1/2", true],
  ["", "", true],
  ["", "x", false],
])("%s matches %s: %s", (glob, text, matched) => {
  expect(matchesGlob(glob, text)).toBe(matched);
});

test("a long text matches no glob", () => {
  const filter = HookFilter.parse({ path: "$", glob: "*" });
  expect(filterResult([filter], { body: "x".repeat(1_024), headers })!.matched).toBe(true);
  expect(filterResult([filter], { body: "x".repeat(1_025), headers })!.matched).toBe(false);
});

test.each([
  "action",
  "$..action",
  "$.",
  "$[?(@.x)]",
  "$[-1]",
  "$[1:2]",
  "$['a\\'b']",
  "$ ",
  "$[0",
  "$[(1)]",
  "$.a()",
  "",
])("the path %s is refused", (path) => {
  expect(HookFilter.safeParse({ path, exists: true }).success).toBe(false);
});
