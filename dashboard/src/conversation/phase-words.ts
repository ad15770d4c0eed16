import { duration } from "../ui/Time.tsx";
import type { Phase } from "./turn-state.ts";

/** A shorter wait was none: the machine was awake. */
const shortestWakeMs = 50;
const ordinals = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];

/** A running turn's activity. `isAsleep`: its machine was, when last known. */
export function phaseWords(phase: Phase, isAsleep: boolean, hasSaid: boolean): string {
  switch (phase.name) {
    case "sent":
      return isAsleep ? "waking…" : "starting…";
    case "queued":
      return `${ordinals[phase.position - 1] ?? `number ${phase.position}`} in the queue for a machine…`;
    case "working":
      return hasSaid
        ? "working…"
        : phase.wakeMs >= shortestWakeMs
          ? `woke in ${duration(phase.wakeMs)}, thinking…`
          : "thinking…";
    default:
      return "";
  }
}
