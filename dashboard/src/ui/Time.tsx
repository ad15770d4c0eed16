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

/** Milliseconds as people say them: `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  return wholeSeconds(Math.round(seconds));
}

function wholeSeconds(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

/** How long ago, counting up each second. `since`: milliseconds since 1970. */
export function Elapsed({ since }: { since: number }) {
  const second = useSyncExternalStore(eachSecond, () => Math.floor(Date.now() / 1000));
  const seconds = Math.max(0, second - Math.floor(since / 1000));
  return <time className="tabular-nums">{wholeSeconds(seconds)}</time>;
}

function eachSecond(changed: () => void): () => void {
  const timer = setInterval(changed, 1_000);
  return () => clearInterval(timer);
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
