import type { Automation } from "@berth/client";
import { senders } from "./hook.ts";

export type Trigger = Extract<Automation["trigger"], { type: "schedule" }>;

/** How often an automation runs, as its form offers it; `line`: at the times of any line of cron. */
export const repeats = {
  hourly: "Every hour",
  daily: "Every day",
  weekdays: "Monday to Friday",
  weekly: "Every week",
  once: "Once",
  line: "By a line of cron",
} as const;
export type Repeat = keyof typeof repeats;

/** From Sunday on, as cron counts. */
export const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;

/** The content of the form's fields. Those that `repeat` has no use for keep their text. */
export interface Schedule {
  repeat: Repeat;
  /** `HH:MM`. */
  time: string;
  /** A number of `days`. */
  day: string;
  /** The only time, on the browser's clock: `YYYY-MM-DDTHH:MM`. */
  at: string;
  line: string;
  timeZone: string;
  /** Seconds; empty: none. */
  jitter: string;
}

export function newSchedule(timeZone: string): Schedule {
  return { repeat: "daily", time: "03:00", day: "1", at: "", line: "0 3 * * *", timeZone, jitter: "" };
}

/** The fields that show a trigger. */
export function scheduleOf({ cron, timeZone, at, jitter }: Trigger, zone: string): Schedule {
  const rest = newSchedule(timeZone ?? zone);
  if (cron === undefined) return { ...rest, repeat: "once", at: localTime(at!) };
  return { ...rest, line: cron, jitter: jitter ? String(jitter) : "", ...knownLine(cron) };
}

/** The repeat that a line stands for. */
function knownLine(cron: string): Partial<Schedule> & { repeat: Repeat } {
  const [minute = "", hour = "", ofMonth, month, ofWeek = ""] = cron.trim().split(/\s+/);
  const isTime = /^\d{1,2}$/.test(minute) && /^(\d{1,2}|\*)$/.test(hour);
  if (!isTime || ofMonth !== "*" || month !== "*") return { repeat: "line" };
  const time = `${hour === "*" ? "00" : hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (hour === "*") return ofWeek === "*" ? { repeat: "hourly", time } : { repeat: "line" };
  if (ofWeek === "*") return { repeat: "daily", time };
  if (ofWeek === "1-5") return { repeat: "weekdays", time };
  return /^[0-6]$/.test(ofWeek) ? { repeat: "weekly", time, day: ofWeek } : { repeat: "line" };
}

/** The line of cron of the fields; null: they say a single time. */
export function lineOf({ repeat, time, day, line }: Schedule): string | null {
  const [hour, minute] = time.split(":").map(Number);
  switch (repeat) {
    case "hourly":
      return `${minute} * * * *`;
    case "daily":
      return `${minute} ${hour} * * *`;
    case "weekdays":
      return `${minute} ${hour} * * 1-5`;
    case "weekly":
      return `${minute} ${hour} * * ${day}`;
    case "line":
      return line.trim();
    case "once":
      return null;
  }
}

/** The trigger of the fields, which the server checks. */
export function triggerOf(schedule: Schedule): Trigger {
  const cron = lineOf(schedule);
  if (cron === null) return { type: "schedule", at: new Date(schedule.at).toISOString() };
  const { timeZone, jitter } = schedule;
  return { type: "schedule", cron, timeZone: timeZone.trim(), ...(jitter !== "" && { jitter: Number(jitter) }) };
}

/** `Monday to Friday at 03:00, Europe/Berlin`, or `Deliveries of GitHub`. */
export function scheduleWords(trigger: Automation["trigger"]): string {
  if (trigger.type === "hook") return `Deliveries of ${senders[trigger.verify]}`;
  const { repeat, time, day, line, timeZone } = scheduleOf(trigger, "UTC");
  if (trigger.at !== undefined) return `Once: ${timeIn(trigger.at)}`;
  if (repeat === "line") return `${line}, ${timeZone}`;
  if (repeat === "hourly") return `${repeats.hourly} at minute ${Number(time.slice(3))}`;
  const often = repeat === "weekly" ? `Every ${days[Number(day)]}` : repeats[repeat];
  return `${often} at ${time}, ${timeZone}`;
}

/** A time in words, on the clock of a zone or, if the browser does not know the zone, on its own. */
export function timeIn(time: string, timeZone?: string): string {
  const style = { dateStyle: "full", timeStyle: "short" } as const;
  const at = new Date(time);
  try {
    return new Intl.DateTimeFormat(undefined, { ...style, ...(timeZone && { timeZone }) }).format(at);
  } catch {
    return new Intl.DateTimeFormat(undefined, style).format(at);
  }
}

/** A time on the browser's clock, as its date fields have it. */
function localTime(time: string): string {
  const at = new Date(time);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
