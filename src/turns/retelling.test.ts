import { expect, test } from "vitest";
import { maximumRetoldTurns, retelling } from "./retelling.ts";

const turn = (message: string, reply = `re: ${message}`) => ({ message, reply });

test("replays a conversation in order, and nothing for an empty one", () => {
  expect(retelling([], null)).toBeNull();
  const told = retelling([turn("one"), turn("zwei 🚢", "")], null)!;
  expect(told).toMatch(/User: one\n\nYou: re: one\n\nUser: zwei 🚢\n\nYou: \(no answer\)$/);
  expect(told).not.toContain("left out");
});

test("replays all of several changes under one heading", () => {
  const first = retelling([turn("one")], null);
  const second = retelling([turn("two")], first)!;
  expect(second.match(/Earlier in this conversation/g)).toHaveLength(1);
  expect(second).toMatch(/User: one\n\nYou: re: one\n\nUser: two\n\nYou: re: two$/);
  expect(retelling([], second)).toBe(second);
});

test.each(["", "a"])("cuts a long message to well-formed text, after %j", (before) => {
  const told = retelling([turn(before + "😀".repeat(20_000))], null)!;
  expect(told.isWellFormed()).toBe(true);
  expect(told).toMatch(/😀\ufffd? \(…\)/);
});

test("replays the end of a long conversation and marks the omission", () => {
  const long = Array.from({ length: 40 }, (_, index) => turn(`message ${index}`, "x".repeat(30_000)));
  const told = retelling(long, "an earlier one")!;
  expect(told.length).toBeLessThan(101_000);
  expect(told).toContain("(The beginning is left out.)");
  expect(told).toContain("User: message 39");
  expect(told).not.toContain("User: message 1\n");
  const many = Array.from({ length: maximumRetoldTurns }, (_, index) => turn(`m${index}`, "ok"));
  expect(retelling(many, null)).toContain("(The beginning is left out.)");
});
