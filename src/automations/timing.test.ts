import { describe, expect, test } from "vitest";
import type { Trigger } from "../contract/automations.ts";
import { type DueRun, firstRun, followingRun, nextRun, planRun, requireUsable } from "./timing.ts";

const at = (time: string) => new Date(time);
const nightly: Trigger = { type: "schedule", cron: "0 3 * * *", timeZone: "UTC" };
const id = "5f0c3f6e-0000-4000-8000-000000000000";

describe("the next run", () => {
  test("is the first after now, however many were missed", () => {
    expect(nextRun(id, nightly, at("2026-03-01T03:00Z"), at("2026-03-04T12:00Z"))?.at).toEqual(at("2026-03-05T03:00Z"));
  });

  test("is none after the only time", () => {
    const once: Trigger = { type: "schedule", at: "2026-03-01T05:00:00+02:00" };
    expect(firstRun(id, once, at("2026-03-01T02:59Z"))?.at).toEqual(at("2026-03-01T03:00Z"));
    expect(firstRun(id, once, at("2026-03-01T03:00Z"))).toBeNull();
    expect(nextRun(id, once, at("2026-03-01T03:00Z"), at("2026-03-01T03:00Z"))).toBeNull();
  });

  test("is late by the same delay whenever it is computed, and each time has one", () => {
    const trigger = { ...nightly, jitter: 3_600 };
    const first = firstRun(id, trigger, at("2026-03-01T00:00Z"))!;
    expect(first.base).toEqual(at("2026-03-01T03:00Z"));
    const delay = first.at.getTime() - first.base.getTime();
    expect(delay).toBeGreaterThan(0);
    expect(delay).toBeLessThanOrEqual(3_600_000);
    // Between the line's time and its delayed one, the run is still to come.
    expect(nextRun(id, trigger, at("2026-02-28T03:00Z"), new Date(first.base.getTime() + 1))).toEqual(first);
    const second = nextRun(id, trigger, first.base, first.at)!;
    expect(second.base).toEqual(at("2026-03-02T03:00Z"));
    expect(second.at.getTime() - second.base.getTime()).not.toBe(delay);
    const others = new Set(
      Array.from({ length: 50 }, (_, n) => firstRun(`${id}${n}`, trigger, at("2026-03-01T00:00Z"))!.at.getTime()),
    );
    expect(others.size).toBe(50);
  });
});

test("triggers that cannot be used are refused", () => {
  const now = at("2026-03-01T00:00Z");
  const refused: [Trigger, string][] = [
    [{ type: "schedule", at: "2026-03-01T00:00:00Z" }, "trigger.at: this time has passed."],
    [{ type: "schedule", cron: "*/5 * * * *", timeZone: "UTC", jitter: 300 }, "less than the time between two runs"],
    [{ type: "schedule", cron: "0,1 3 * * *", timeZone: "UTC", jitter: 60 }, "which is 60 s"],
    [{ type: "schedule", cron: "0 0 31 2 *", timeZone: "UTC" }, "never happens"],
  ];
  for (const [trigger, message] of refused) expect(() => requireUsable(trigger, now)).toThrow(message);
  requireUsable({ ...nightly, jitter: 3_600 }, now);
  requireUsable({ type: "schedule", cron: "*/5 * * * *", timeZone: "UTC", jitter: 299 }, now);
});

describe("a run that is due", () => {
  const now = at("2026-03-02T12:00Z");
  const due: DueRun = { overlap: "skip", missed: "once", dueAt: now, open: 0 };
  const code = (run: Partial<DueRun>) => planRun({ ...due, ...run }, now).reason?.code ?? null;

  test("begins on time, and late once if a server was away", () => {
    for (const missed of ["once", "skip"] as const) expect(code({ missed })).toBeNull();
    const late = { dueAt: at("2026-03-02T11:58Z") };
    expect([code(late), code({ ...late, missed: "skip" })]).toEqual([null, "missed"]);
    expect(code({ dueAt: at("2026-03-02T11:59:30Z"), missed: "skip" })).toBeNull();
    expect(code({ dueAt: at("2026-03-01T12:00Z") })).toBeNull();
    expect(code({ dueAt: at("2026-03-01T11:59Z") })).toBe("missed");
  });

  test("that is too old is followed by the first of the last 24 hours", () => {
    const time = (missed: "once" | "skip", dueAt: Date) =>
      followingRun({ id, trigger: nightly, base: dueAt, dueAt, missed }, now)?.at.toISOString();
    expect(time("once", at("2026-02-27T03:00Z"))).toBe("2026-03-02T03:00:00.000Z");
    expect(time("skip", at("2026-02-27T03:00Z"))).toBe("2026-03-03T03:00:00.000Z");
    expect(time("once", at("2026-03-02T03:00Z"))).toBe("2026-03-03T03:00:00.000Z");
  });

  test("is left out, waits or replaces while another runs", () => {
    expect(code({ open: 1 })).toBe("overlap");
    expect([1, 10, 11].map((open) => code({ open, overlap: "queue" }))).toEqual([null, null, "queue_full"]);
    expect(planRun({ ...due, open: 1, overlap: "cancel-previous" }, now)).toEqual({ reason: null, replaces: true });
    expect(planRun({ ...due, overlap: "cancel-previous" }, now)).toEqual({ reason: null, replaces: false });
  });
});
