import { expect, test } from "vitest";
import { retryWaitMs } from "./schedule.ts";

const now = Date.UTC(2030, 0, 1);
const hour = 3_600_000;

test("ten tries are spread over three days", () => {
  const waits = Array.from({ length: 10 }, (_, index) => retryWaitMs(index + 1, null, now, 0));
  expect(waits.at(-1)).toBeNull();
  expect(waits.slice(0, 3)).toEqual([5_000, 300_000, 1_800_000]);
  const days = waits.reduce<number>((sum, ms) => sum + (ms ?? 0), 0) / 24 / hour;
  expect(days).toBeGreaterThan(3);
  expect(days).toBeLessThan(3.5);
});

test("waits are up to a tenth longer", () => {
  expect(retryWaitMs(1, null, now, 1)).toBe(5_500);
});

test.each([
  ["120", 120_000],
  ["Tue, 01 Jan 2030 00:10:00 GMT", 600_000],
  ["86400", hour],
  ["Fri, 01 Jan 2100 00:00:00 GMT", hour],
  ["Mon, 01 Jan 2001 00:00:00 GMT", 5_000],
  ["1", 5_000],
  ["-1", 5_000],
  ["soon", 5_000],
  ["9".repeat(40), 5_000],
])("retry-after: %s waits %i ms", (header, ms) => {
  expect(retryWaitMs(1, header, now, 0)).toBe(ms);
});
