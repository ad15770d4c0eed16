import { describe, expect, test } from "vitest";
import { CronLine } from "./cron-line.ts";
import { Zone } from "./zone.ts";

/** The next runs after a time, as ISO 8601 in UTC without seconds. */
function runs(line: string, timeZone: string, after: string, count = 3): string[] {
  const cron = new CronLine(line, timeZone);
  const found: string[] = [];
  for (let at = cron.next(Date.parse(after)); at !== null && found.length < count; at = cron.next(at)) {
    found.push(new Date(at).toISOString().replace(":00.000Z", "Z"));
  }
  return found;
}

describe("a time that the zone skips runs once right after the gap", () => {
  test.each([
    ["Europe/Berlin", "30 2 * * *", "2026-03-28T12:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:30Z"]],
    // The gap is half an hour.
    ["Australia/Lord_Howe", "15 2 * * *", "2026-10-03T12:00Z", ["2026-10-03T15:30Z", "2026-10-04T15:15Z"]],
    // At midnight, so that the day begins at one o'clock.
    ["America/Santiago", "0 0 * * *", "2026-09-05T12:00Z", ["2026-09-06T04:00Z", "2026-09-07T03:00Z"]],
    ["Asia/Beirut", "30 0 * * *", "2026-03-28T12:00Z", ["2026-03-28T22:00Z", "2026-03-29T21:30Z"]],
    // Several times in one gap, and one at its end.
    ["Europe/Berlin", "0,20,40 2,3 * * *", "2026-03-29T00:00Z", ["2026-03-29T01:00Z", "2026-03-29T01:20Z"]],
    // The 30th of December 2011 did not exist.
    ["Pacific/Apia", "0 12 30 12 *", "2011-12-01T00:00Z", ["2011-12-30T10:00Z", "2012-12-29T22:00Z"]],
  ])("%s: %s", (timeZone, line, after, expected) => {
    expect(runs(line, timeZone, after, 2)).toEqual(expected);
  });
});

describe("a time that exists twice runs once", () => {
  test.each([
    ["Europe/Berlin", "30 2 * * *", "2026-10-24T12:00Z", ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]],
    ["Australia/Lord_Howe", "45 1 * * *", "2026-04-04T12:00Z", ["2026-04-04T14:45Z", "2026-04-05T15:15Z"]],
    ["America/Santiago", "30 23 * * *", "2026-04-04T12:00Z", ["2026-04-05T02:30Z", "2026-04-06T03:30Z"]],
    ["Asia/Beirut", "30 23 * * *", "2026-10-24T12:00Z", ["2026-10-24T20:30Z", "2026-10-25T21:30Z"]],
  ])("%s: %s", (timeZone, line, after, expected) => {
    expect(runs(line, timeZone, after, 2)).toEqual(expected);
  });

  test("also if the time asked about is between the two", () => {
    expect(runs("30 2 * * *", "Europe/Berlin", "2026-10-25T00:45Z", 1)).toEqual(["2026-10-26T01:30Z"]);
    expect(runs("50 2 * * *", "Europe/Berlin", "2026-10-25T01:10Z", 1)).toEqual(["2026-10-26T01:50Z"]);
  });
});

describe("`*` and `*/n` follow elapsed time", () => {
  test.each([
    [
      "Europe/Berlin",
      "*/30 * * * *",
      "2026-10-25T00:00Z",
      ["2026-10-25T00:30Z", "2026-10-25T01:00Z", "2026-10-25T01:30Z", "2026-10-25T02:00Z"],
    ],
    [
      "Europe/Berlin",
      "15 * * * *",
      "2026-03-28T23:30Z",
      ["2026-03-29T00:15Z", "2026-03-29T01:15Z", "2026-03-29T02:15Z", "2026-03-29T03:15Z"],
    ],
    [
      "Australia/Lord_Howe",
      "*/20 * * * *",
      "2026-04-04T14:30Z",
      ["2026-04-04T14:40Z", "2026-04-04T15:10Z", "2026-04-04T15:30Z", "2026-04-04T15:50Z"],
    ],
    [
      "America/Santiago",
      "0 */12 * * *",
      "2026-09-05T12:00Z",
      ["2026-09-05T16:00Z", "2026-09-06T15:00Z", "2026-09-07T03:00Z", "2026-09-07T15:00Z"],
    ],
  ])("%s: %s", (timeZone, line, after, expected) => {
    expect(runs(line, timeZone, after, 4)).toEqual(expected);
  });

  test("each minute of a year with two changes runs once", () => {
    const cron = new CronLine("* * * * *", "Australia/Lord_Howe");
    for (const change of ["2026-04-04T14:00Z", "2026-10-03T14:00Z"]) {
      let at = Date.parse(change);
      for (let count = 0; count < 180; count++) {
        const next = cron.next(at)!;
        expect(next - at).toBe(60_000);
        at = next;
      }
    }
  });
});

describe("days", () => {
  test("of the month and of the week are joined by or", () => {
    expect(runs("0 0 13 * 5", "UTC", "2026-03-01T00:00Z")).toEqual([
      "2026-03-06T00:00Z",
      "2026-03-13T00:00Z",
      "2026-03-20T00:00Z",
    ]);
    expect(runs("0 0 1,15 * wed", "UTC", "2026-03-02T00:00Z")).toEqual([
      "2026-03-04T00:00Z",
      "2026-03-11T00:00Z",
      "2026-03-15T00:00Z",
    ]);
  });

  test("are names or numbers, and 7 is Sunday", () => {
    expect(runs("0 9 * jan-mar mon-fri", "UTC", "2026-03-30T10:00Z", 2)).toEqual([
      "2026-03-31T09:00Z",
      "2027-01-01T09:00Z",
    ]);
    for (const sunday of ["0", "7", "SUN"]) {
      expect(runs(`0 0 * * ${sunday}`, "UTC", "2026-03-02T00:00Z", 1)).toEqual(["2026-03-08T00:00Z"]);
    }
  });

  test("that exist in few years only are found, also over a change of the offset", () => {
    expect(runs("0 0 29 2 *", "UTC", "2096-03-01T00:00Z", 1)).toEqual(["2104-02-29T00:00Z"]);
    expect(runs("* * 29 2 *", "Europe/Berlin", "2096-03-01T00:00Z", 1)).toEqual(["2104-02-28T23:00Z"]);
  });
});

test.each([
  ["0 0 30 2 *", "`0 0 30 2 *` never happens"],
  ["0 0 31 4,6,9,11 *", "never happens"],
  ["0 0 0 1 1 *", "has 6 fields; a line has five"],
  ["* * * *", "has 4 fields"],
  ["", "has 1 field;"],
  ["@daily", "has 1 field;"],
  ["60 * * * *", "60"],
  ["* 24 * * *", "24"],
  ["* * 0 * *", "0"],
  ["* * * 13 *", "13"],
  ["* * * * 8", "8"],
  ["5-1 * * * *", "5-1"],
  ["*/0 * * * *", "0"],
  ["0 0 L * *", "`l` is no day of month"],
  ["0 0 * * 5#2", "is no day of week"],
  ["0 0 15W * *", "is no day of month"],
  ["? * * * *", "is no minute"],
  ["0 jan * * *", "`jan` is no hour"],
  ["1,,2 * * * *", "is no minute"],
  ["1, * * * *", "is no minute"],
])("the line `%s` is refused: %s", (line, reason) => {
  expect(() => new CronLine(line, "UTC")).toThrow(reason);
});

test("a line that cannot be read is refused whatever it contains", () => {
  for (const line of ["0 0 * * *\0", "١ * * * *", `${"1,".repeat(90)}1 * * * *`.replace("1,", "61,")]) {
    expect(() => new CronLine(line, "UTC")).toThrow("trigger.cron");
  }
});

test("zones are names of the IANA database", () => {
  for (const zone of ["", "Mars/Olympus", "Europe/Berlin\0", "../UTC"]) {
    expect(() => new CronLine("0 0 * * *", zone)).toThrow("trigger.timeZone");
  }
});

test("offsets are those of the zone, also with half hours", () => {
  const lordHowe = new Zone("Australia/Lord_Howe");
  expect([
    lordHowe.offsetAt(Date.parse("2026-07-01T00:00Z")),
    lordHowe.offsetAt(Date.parse("2026-01-01T00:00Z")),
  ]).toEqual([10.5 * 3_600_000, 11 * 3_600_000]);
  expect(
    new Date(lordHowe.changeBetween(Date.parse("2026-01-01T00:00Z"), Date.parse("2026-07-01T00:00Z"))!).toISOString(),
  ).toBe("2026-04-04T15:00:00.000Z");
});
