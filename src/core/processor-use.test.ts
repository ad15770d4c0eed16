import { cpus } from "node:os";
import { expect, test } from "vitest";
import { ProcessorUse } from "./processor-use.ts";

test("work on one processor counts as its share of the time since the last measure", () => {
  const use = new ProcessorUse();
  use.measure();
  const end = performance.now() + 400;
  while (performance.now() < end);
  const busy = use.measure();
  // The kernel counts in hundredths of a second.
  expect(busy).toBeGreaterThan(0.8 / cpus().length);
  expect(busy).toBeLessThanOrEqual(1);
  expect(use.measure()).toBeLessThanOrEqual(1);
});
