import { Cron } from "croner";
import { BerthError } from "../contract/errors.ts";
import { Zone } from "./zone.ts";

const options = { timezone: "UTC", mode: "5-part", domAndDow: false, sloppyRanges: true } as const;
/** More than the longest shift of a zone, which is a day at the date line. */
const beyondShiftMs = 26 * 3_600_000;

/** The most days that each month has. */
const lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const days = "sun mon tue wed thu fri sat".split(" ");

/** The five fields. Croner knows more, such as `L`, which other programs read differently. */
const fields: readonly { name: string; names: string[] }[] = [
  { name: "minute", names: [] },
  { name: "hour", names: [] },
  { name: "day of month", names: [] },
  { name: "month", names: months },
  { name: "day of week", names: days },
];

/**
 * A line of cron in a time zone: minute, hour, day of month, month and day of week. If both days are restricted, one of them
 * has to match.
 *
 * A line whose minute and hour are given runs once at each of its wall times: at the first instant after the gap for one that
 * the zone skips, and at the first of two. A line whose minute or hour begins with `*` follows elapsed time: it runs at each
 * instant whose wall time matches. Croner alone knows no such difference, so it is asked for wall times only.
 */
export class CronLine {
  readonly #line: Cron;
  readonly #zone: Zone;
  readonly #isElapsed: boolean;

  /** Throws `request_invalid`. */
  constructor(line: string, timeZone: string) {
    this.#zone = zoneOf(timeZone);
    const given = fieldsOf(line);
    this.#isElapsed = given[0]!.startsWith("*") || given[1]!.startsWith("*");
    this.#line = parse(given.join(" "));
    if (!isPossible(given)) throw invalid("cron", `\`${line.trim()}\` never happens: no month has such a day.`);
  }

  /** The first run after this instant, in milliseconds since 1970; null after the year 9999. */
  next(after: number): number | null {
    return this.#isElapsed ? this.#nextElapsed(after) : this.#nextFixed(after);
  }

  #nextFixed(after: number): number | null {
    let wall = this.#wallAfter(after + this.#zone.offsetAt(after));
    for (; wall !== null; wall = this.#wallAfter(wall)) {
      const instant = this.#zone.instantOf(wall);
      if (instant > after) return instant;
    }
    return null;
  }

  #nextElapsed(after: number): number | null {
    for (let from = after + 1; ; ) {
      const offset = this.#zone.offsetAt(from);
      const wall = this.#wallAfter(from + offset - 1);
      if (wall === null) return null;
      const instant = wall - offset;
      // Further away, no clock shows a time that matches.
      const isFar = instant - from > 3 * beyondShiftMs;
      const change = this.#zone.changeBetween(from, isFar ? from + beyondShiftMs : instant);
      if (change !== null) from = change;
      else if (isFar) from = instant - beyondShiftMs;
      else return instant;
    }
  }

  /** The first wall time of the line after this one. */
  #wallAfter(wall: number): number | null {
    return this.#line.nextRun(new Date(wall))?.getTime() ?? null;
  }
}

function zoneOf(name: string): Zone {
  try {
    return new Zone(name);
  } catch {
    throw invalid("timeZone", "use a name of the IANA database, such as Europe/Berlin or UTC.");
  }
}

/** The five fields in lowercase. Throws `request_invalid`. */
function fieldsOf(line: string): string[] {
  const given = line.trim().toLowerCase().split(/\s+/);
  if (given.length !== fields.length) {
    const found = `\`${line}\` has ${given.length} ${given.length === 1 ? "field" : "fields"}`;
    throw invalid("cron", `${found}; a line has five: minute, hour, day of month, month, day of week.`);
  }
  return given.map((text, index) => {
    const { name, names } = fields[index]!;
    const word = `(?:\\d{1,2}${names.map((each) => `|${each}`).join("")})`;
    const item = new RegExp(`^(?:\\*|${word}(?:-${word})?)(?:/\\d{1,2})?$`);
    if (!text.split(",").every((each) => item.test(each))) {
      throw invalid("cron", `\`${text}\` is no ${name}; use numbers, lists, ranges, \`*\` and steps such as \`*/5\`.`);
    }
    return text;
  });
}

function parse(line: string): Cron {
  try {
    return new Cron(line, options);
  } catch (error) {
    throw invalid("cron", `\`${line}\` is not a line of cron: ${messageOf(error)}.`);
  }
}

/** Whether a month has a day of the line. Croner would look for one until its stack overflows. */
function isPossible([, , day, month, weekday]: string[]): boolean {
  if (weekday !== "*" || day!.startsWith("*")) return true;
  const first = Math.min(...day!.split(",").map((item) => Number.parseInt(item, 10)));
  const inMonth = new Cron(`0 0 1 ${month} *`, options);
  return lengths.some((length, index) => first <= length && inMonth.match(new Date(Date.UTC(2000, index, 1))));
}

/** Croner's own prefix names its classes. */
function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/^\w+: /, "").replace(/\.$/, "");
}

function invalid(field: string, message: string): BerthError {
  return new BerthError("request_invalid", `trigger.${field}: ${message}`);
}
