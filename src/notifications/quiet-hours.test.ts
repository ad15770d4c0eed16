import { describe, expect, test } from "vitest";
import { quietUntil, zoneOf } from "./quiet-hours.ts";

const at = (time: string) => Date.parse(time);

/** The end of the quiet hours at this time, in UTC. */
function end(time: string, [from, to]: [string, string], timeZone: string | null = "Europe/Berlin"): string | null {
  const until = quietUntil({ timeZone, signInTimeZone: null, quietHours: { from, to } }, at(time));
  return until === null ? null : new Date(until).toISOString();
}

const night: [string, string] = ["22:00", "07:00"];

describe("quiet hours", () => {
  test.each([
    ["before they begin", "2026-01-10T20:59:59.999Z", null],
    ["when they begin", "2026-01-10T21:00:00Z", "2026-01-11T06:00:00.000Z"],
    ["after midnight", "2026-01-10T23:30:00Z", "2026-01-11T06:00:00.000Z"],
    ["just before they end", "2026-01-11T05:59:59.999Z", "2026-01-11T06:00:00.000Z"],
    ["when they end", "2026-01-11T06:00:00Z", null],
  ])("over midnight, %s", (_, time, until) => {
    expect(end(time, night)).toBe(until);
  });

  test.each([
    ["2026-01-10T12:30:00Z", "2026-01-10T13:00:00.000Z"],
    ["2026-01-10T11:59:00Z", null],
    ["2026-01-10T13:00:00Z", null],
  ])("within a day, at %s", (time, until) => {
    expect(end(time, ["13:00", "14:00"])).toBe(until);
  });

  test.each([
    // Berlin: 2026-03-29, 2:00 becomes 3:00; 2026-10-25, 3:00 becomes 2:00.
    ["a night with one hour less", "2026-03-28T22:00:00Z", night, "2026-03-29T05:00:00.000Z"],
    ["a night with one hour more", "2026-10-24T21:00:00Z", night, "2026-10-25T06:00:00.000Z"],
    ["the skipped hour", "2026-03-29T00:59:00Z", ["01:30", "02:30"], "2026-03-29T01:00:00.000Z"],
    ["after the skipped hour", "2026-03-29T01:00:00Z", ["01:30", "02:30"], null],
    ["a begin in the skipped hour", "2026-03-29T01:00:00Z", ["02:30", "04:00"], "2026-03-29T02:00:00.000Z"],
    ["the first of two equal hours", "2026-10-25T00:45:00Z", ["02:30", "03:30"], "2026-10-25T02:30:00.000Z"],
    ["the second of two equal hours", "2026-10-25T01:10:00Z", ["02:30", "03:30"], "2026-10-25T02:30:00.000Z"],
  ] as [string, string, [string, string], string | null][])("in %s", (_, time, hours, until) => {
    expect(end(time, hours)).toBe(until);
  });

  test.each([
    // Lord Howe: half an hour, 2026-10-04, 2:00 becomes 2:30.
    ["Australia/Lord_Howe", "2026-10-03T12:00:00Z", "2026-10-03T20:00:00.000Z"],
    // Samoa skipped 2011-12-30: the night ends with the day, and another one has begun.
    ["Pacific/Apia", "2011-12-30T09:00:00Z", "2011-12-30T10:00:00.000Z"],
    ["Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30T17:00:00.000Z"],
    ["Asia/Kathmandu", "2026-06-01T16:30:00Z", "2026-06-02T01:15:00.000Z"],
  ])("in %s", (zone, time, until) => {
    expect(end(time, night, zone)).toBe(until);
  });

  test("end at the latest a day after they began", () => {
    const hours: [string, string] = ["12:00", "11:59"];
    for (let hour = 0; hour < 24 * 30; hour++) {
      const now = at("2026-03-15T00:00:00Z") + hour * 3_600_000;
      const until = end(new Date(now).toISOString(), hours);
      if (until !== null) expect(at(until) - now).toBeLessThanOrEqual(25 * 3_600_000);
    }
  });

  test("are none without a choice", () => {
    expect(quietUntil({ timeZone: null, signInTimeZone: null, quietHours: null }, 0)).toBeNull();
  });
});

test.each([
  [{ timeZone: "Asia/Tokyo", signInTimeZone: "Europe/Berlin" }, "Asia/Tokyo"],
  [{ timeZone: null, signInTimeZone: "Europe/Berlin" }, "Europe/Berlin"],
  [{ timeZone: null, signInTimeZone: "Not/AZone" }, "UTC"],
  [{ timeZone: null, signInTimeZone: null }, "UTC"],
])("the zone of %j is %s", (profile, zone) => {
  expect(zoneOf(profile)).toBe(zone);
});
