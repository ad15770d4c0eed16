import { InvalidArgumentError } from "commander";

/** A time of the API in this machine's time zone, to the minute: `2026-01-02 03:04`, which is how Sweden writes it. */
export function localTime(time: string): string {
  return new Date(time).toLocaleString("sv-SE", { dateStyle: "short", timeStyle: "short" });
}

const hours = { h: 1, d: 24 } as const;

/** A time from now on (`12h`, `90d`), or one in ISO 8601, as the API takes it. For an option. */
export function futureTime(text: string): string {
  return timeFromNow(text, 1);
}

/** A time so long ago (`12h`, `90d`), or one in ISO 8601, as the API takes it. For an option. */
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
      "Hours (12h), days (90d) or a time such as 2030-01-31 or 2030-01-31T12:00Z is allowed.",
    );
  }
  return time.toISOString();
}

/** What has no time of day and no zone is midnight in UTC, what has only no zone is this machine's time: as in ISO 8601. */
function isoTime(text: string): number {
  return /^\d{4}-\d\d-\d\d(T|$)/.test(text) ? Date.parse(text) : Number.NaN;
}
