import { expect, test } from "vitest";
import { reportIn } from "./messages.ts";

test("reports of the frame are taken in their form alone", () => {
  const reports = [{ type: "ready" }, { type: "drawn", height: 12.5 }, { type: "failed", reason: "no" }];
  for (const report of reports) expect(reportIn({ ...report, more: 1 })).toEqual(report);
  expect(reportIn({ type: "failed", reason: "x".repeat(1_000) })).toEqual({ type: "failed", reason: "x".repeat(500) });
  const others = [
    null,
    "ready",
    {},
    { type: "drawn" },
    { type: "drawn", height: Number.NaN },
    { type: "failed", reason: {} },
  ];
  for (const other of others) expect(reportIn(other)).toBeNull();
});
