import { expect, test } from "vitest";
import { isSafe } from "./download.ts";

test.each([
  ["./a", "File", ""],
  ["./", "Directory", ""],
  ["a/b", "SymbolicLink", "../c"],
  ["a/b", "SymbolicLink", "c/d"],
  ["a", "Link", "b/c"],
] as const)("%s, a %s to %j, is unpacked", (path, type, linkpath) => {
  expect(isSafe(path, { type, linkpath })).toBe(true);
});

test.each([
  ["/etc/passwd", "File", ""],
  ["../a", "File", ""],
  ["a/../../b", "File", ""],
  ["a\\..\\b", "File", ""],
  ["a", "SymbolicLink", "/etc"],
  ["a", "SymbolicLink", "../etc"],
  ["a/b", "SymbolicLink", "../../.."],
  ["a", "SymbolicLink", "b/../../c"],
  ["a", "SymbolicLink", "b/.."],
  ["a", "Link", "../b"],
  ["a", "CharacterDevice", ""],
  ["a", "FIFO", ""],
] as const)("%s, a %s to %j, is left out", (path, type, linkpath) => {
  expect(isSafe(path, { type, linkpath })).toBe(false);
});
