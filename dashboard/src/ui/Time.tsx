import { useEffect, useState, useSyncExternalStore } from "react";

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

/** The time since then, in seconds that count. `since`: milliseconds since 1970. */
export function Elapsed({ since }: { since: number }) {
  const [at, setAt] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setAt(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(Math.floor((at - since) / 1000), 0);
  return <span className="tabular-nums">{seconds < 60 ? `${seconds} s` : duration(seconds * 1000)}</span>;
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
