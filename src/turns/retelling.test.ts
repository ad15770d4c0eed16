import { expect, test } from "vitest";
import { maximumRetoldTurns, retelling } from "./retelling.ts";

const turn = (message: string, reply = `re: ${message}`) => ({ message, reply });

test("what was said is told in its order, and nothing where nothing was said", () => {
  expect(retelling([], null)).toBeNull();
  const told = retelling([turn("one"), turn("zwei 🚢", "")], null)!;
  expect(told).toMatch(/User: one\n\nYou: re: one\n\nUser: zwei 🚢\n\nYou: \(no answer\)$/);
  expect(told).not.toContain("left out");
});

test("over several changes all of it is told, with one heading", () => {
  const first = retelling([turn("one")], null);
  const second = retelling([turn("two")], first)!;
  expect(second.match(/Earlier in this conversation/g)).toHaveLength(1);
  expect(second).toMatch(/User: one\n\nYou: re: one\n\nUser: two\n\nYou: re: two$/);
  expect(retelling([], second)).toBe(second);
});

test("of a long conversation the end is told, and that the beginning is left out", () => {
  const long = Array.from({ length: 40 }, (_, index) => turn(`message ${index}`, "x".repeat(30_000)));
  const told = retelling(long, "an earlier one")!;
  expect(told.length).toBeLessThan(101_000);
  expect(told).toContain("(The beginning is left out.)");
  expect(told).toContain("User: message 39");
  expect(told).not.toContain("User: message 1\n");
  const many = Array.from({ length: maximumRetoldTurns }, (_, index) => turn(`m${index}`, "ok"));
  expect(retelling(many, null)).toContain("(The beginning is left out.)");
});
