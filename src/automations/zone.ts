import { setRecent } from "../core/recent.ts";

const dayMs = 86_400_000;
/** No two changes of a zone's offset are closer than this. */
const stepMs = dayMs / 4;

/** The formatters of the zones that were used last: one takes longer to create than a thousand answers. */
const formatters = new Map<string, Intl.DateTimeFormat>();
const maximumFormatters = 1_000;

/**
 * A time zone's offsets. Instants are milliseconds since 1970. A wall time is the instant at which a clock in UTC shows it.
 */
export class Zone {
  readonly #format: Intl.DateTimeFormat;

  /** `name`: of the IANA database. Throws `RangeError` for an unknown one. */
  constructor(name: string) {
    this.#format = formatters.get(name) ?? formatterOf(name);
    setRecent(formatters, name, this.#format, maximumFormatters);
  }

  /** The wall time minus the instant, in milliseconds. */
  offsetAt(instant: number): number {
    const second = Math.floor(instant / 1000) * 1000;
    const parts: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(second)) parts[type] = Number(value);
    const { year, month, day, hour, minute } = parts as Record<"year" | "month" | "day" | "hour" | "minute", number>;
    return Date.UTC(year, month - 1, day, hour, minute, parts.second) - second;
  }

  /** The first instant after `from`, up to `until`, that has another offset than `from`; null: none has. */
  changeBetween(from: number, until: number): number | null {
    const offset = this.offsetAt(from);
    for (let at = from; at < until; ) {
      const next = Math.min(at + stepMs, until);
      if (this.offsetAt(next) !== offset) return this.#firstOther(offset, at, next);
      at = next;
    }
    return null;
  }

  /** The first instant that shows this wall time; for one that the zone skips, the first after the gap. */
  instantOf(wall: number): number {
    const [before, after] = [this.offsetAt(wall - dayMs), this.offsetAt(wall + dayMs)];
    const [early, late] = [wall - before, wall - after];
    if (this.offsetAt(early) === before) return early;
    if (this.offsetAt(late) === after) return late;
    return this.changeBetween(late, early) ?? early;
  }

  /** Between `before`, which has the offset, and `other`, which has another one. */
  #firstOther(offset: number, before: number, other: number): number {
    let [low, high] = [before, other];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.offsetAt(middle) === offset) low = middle;
      else high = middle;
    }
    return high;
  }
}

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
}
