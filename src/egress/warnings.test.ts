import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Warnings } from "./warnings.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("an agent causes ten lines a minute, and others their own", () => {
  const lines: string[] = [];
  const warnings = new Warnings((message) => lines.push(message));
  for (let line = 0; line < 1_000; line++) warnings.write("ada", "broken", null);
  expect(lines).toEqual([...Array(10).fill("broken"), "suppressing more warnings of agent ada for a minute"]);
  warnings.write("bob", "of bob", null);
  expect(lines.at(-1)).toBe("of bob");
  vi.advanceTimersByTime(60_000);
  warnings.write("ada", "again", null);
  expect(lines.at(-1)).toBe("again");
});
