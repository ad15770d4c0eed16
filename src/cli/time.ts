import { InvalidArgumentError } from "commander";

/** An API time in this machine's time zone, to the minute: `2026-01-02 03:04`, in Sweden's format. */
export function localTime(time: string | null, absent = ""): string {
  if (time === null) return absent;
  return new Date(time).toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short" });
}

const hours = { h: 1, d: 24 } as const;

/** Parses a time from now (`12h`, `90d`) or in ISO 8601 into the API's format. For an option. */
export function futureTime(text: string): string {
  return timeFromNow(text, 1);
}

/** Parses a time ago (`12h`, `90d`) or in ISO 8601 into the API's format. For an option. */
export function pastTime(text: string): string {
  return timeFromNow(text, -1);
}

function timeFromNow(text: string, direction: 1 | -1): string {
  const [, number, unit] = /^(\d{1,6})([hd])$/.exec(text) ?? [];
  const ms = number
    ? Date.now() + direction * Number(number) * hours[unit as keyof typeof hours] * 3_600_000
    : isoTime(text);
  const time = new Date(ms);
  if (Number.isNaN(time.getTime())) {
    throw new InvalidArgumentError(
      "Expected hours (12h), days (90d) or a time such as 2030-01-31 or 2030-01-31T12:00Z.",
    );
  }
  return time.toISOString();
}

/** As in ISO 8601, a date without a time or zone is midnight UTC. A time without a zone is local. */
function isoTime(text: string): number {
  return /^\d{4}-\d\d-\d\d(T|$)/.test(text) ? Date.parse(text) : Number.NaN;
}
