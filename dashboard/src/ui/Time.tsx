import { useSyncExternalStore } from "react";

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** How long ago, or until when; the exact time where the pointer rests. */
export function Time({ at }: { at: string }) {
  const now = useMinute();
  return (
    <time dateTime={at} title={exact.format(new Date(at))}>
      {relativeTo(now, Date.parse(at))}
    </time>
  );
}

/** `2 min. ago`, `in 3 days`. Both in milliseconds since 1970. */
function relativeTo(now: number, at: number): string {
  const seconds = Math.round((at - now) / 1000);
  for (const [unit, length] of units) {
    if (Math.abs(seconds) >= length) return relative.format(Math.trunc(seconds / length), unit);
  }
  return seconds > 0 ? "in a moment" : "just now";
}

/** Milliseconds as people say them: `0.4 s`, `12 s`, `3 min 20 s`. */
export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** New content is not compared with an older time than this. */
const staleMs = 1_000;
let now = Date.now();

/** The time, to the half minute. */
function useMinute(): number {
  return useSyncExternalStore(
    (changed) => {
      if (Date.now() - now > staleMs) {
        now = Date.now();
        changed();
      }
      const timer = setInterval(() => {
        now = Date.now();
        changed();
      }, 30_000);
      return () => clearInterval(timer);
    },
    () => now,
  );
}
