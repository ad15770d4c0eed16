import { expect, test } from "vitest";
import { lineOf, newSchedule, type Schedule, scheduleOf, scheduleWords, type Trigger, triggerOf } from "./schedule.ts";

const cron = (line: string): Trigger => ({ type: "schedule", cron: line, timeZone: "Europe/Berlin" });

test.each<[string, Partial<Schedule>, string]>([
  ["5 * * * *", { repeat: "hourly", time: "00:05" }, "Every hour at minute 5"],
  ["30 3 * * *", { repeat: "daily", time: "03:30" }, "Every day at 03:30, Europe/Berlin"],
  ["0 16 * * 1-5", { repeat: "weekdays", time: "16:00" }, "Monday to Friday at 16:00, Europe/Berlin"],
  ["0 16 * * 0", { repeat: "weekly", time: "16:00", day: "0" }, "Every Sunday at 16:00, Europe/Berlin"],
])("the line %s has fields of its own, which give the same line again", (line, fields, words) => {
  const schedule = scheduleOf(cron(line), "UTC");
  expect(schedule).toMatchObject({ ...fields, timeZone: "Europe/Berlin" });
  expect(triggerOf(schedule)).toEqual(cron(line));
  expect(scheduleWords(cron(line))).toBe(words);
});

test.each([
  "*/5 * * * *",
  "0 3 1 * *",
  "0 3 * 2 *",
  "0 3 * * fri",
  "0 3 * * 1,3",
  "0 3,4 * * *",
  "0 * * * 1",
  "0 3 * * 7",
])("the line %s is shown as it is", (line) => {
  const schedule = scheduleOf(cron(line), "UTC");
  expect(schedule).toMatchObject({ repeat: "line", line });
  expect(triggerOf(schedule)).toEqual(cron(line));
  expect(scheduleWords(cron(line))).toBe(`${line}, Europe/Berlin`);
});

test("a single time stays the same instant, and jitter is kept", () => {
  const at: Trigger = { type: "schedule", at: "2030-01-31T12:00:00.000Z" };
  expect(triggerOf(scheduleOf(at, "UTC"))).toEqual(at);
  const late: Trigger = { ...cron("0 3 * * *"), jitter: 120 };
  expect(triggerOf(scheduleOf(late, "UTC"))).toEqual(late);
});

test("a new schedule is daily in the browser's time zone", () => {
  expect(lineOf(newSchedule("Asia/Tokyo"))).toBe("0 3 * * *");
  expect(triggerOf(newSchedule("Asia/Tokyo"))).toMatchObject({ timeZone: "Asia/Tokyo" });
});
