import type { ReactNode } from "react";
import { classes } from "./classes.ts";

export type Tone = "neutral" | "accent" | "good" | "warn" | "bad";

const tones: Readonly<Record<Tone, string>> = {
  neutral: "bg-sunken text-muted",
  accent: "bg-accent-soft text-accent",
  good: "bg-good-soft text-good",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
};

/** A word for a state. `isLive`: it is in progress. */
export function Badge({
  tone = "neutral",
  isLive = false,
  children,
}: {
  tone?: Tone;
  isLive?: boolean;
  children: ReactNode;
}) {
  return (
    <span
      className={classes(
        "inline-flex items-center gap-1.5 rounded-full px-2 py-0.5 text-xs font-medium whitespace-nowrap",
        tones[tone],
      )}
    >
      <span className={classes("size-1.5 rounded-full bg-current", isLive && "animate-pulse")} aria-hidden />
      {children}
    </span>
  );
}
