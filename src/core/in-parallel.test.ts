import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { inParallel } from "./in-parallel.ts";

test("tasks run up to so many at a time, and results keep the order of the items", async () => {
  let [running, most] = [0, 0];
  const items = Array.from({ length: 100 }, (_, index) => index);
  const results = await inParallel(items, 7, async (item) => {
    most = Math.max(most, ++running);
    for (let turn = 0; turn < item % 5; turn++) await setImmediate();
    running--;
    return 2 * item;
  });
  expect(most).toBe(7);
  expect(results).toEqual(items.map((item) => 2 * item));
});

test("after an error no further task begins", async () => {
  const begun: number[] = [];
  const failing = inParallel([0, 1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item);
    await setImmediate();
    throw new Error(`item ${item}`);
  });
  await expect(failing).rejects.toThrow("item 0");
  await setImmediate();
  expect(begun).toEqual([0, 1]);
});
