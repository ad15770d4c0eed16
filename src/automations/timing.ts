import { createHash } from "node:crypto";
import {
  type Automation,
  maximumWaitingRuns,
  missedAfterMs,
  missedForeverMs,
  type RunReason,
  type Trigger,
} from "../contract/automations.ts";
import { BerthError } from "../contract/errors.ts";
import type { NextRun } from "./automation.ts";
import { CronLine } from "./cron-line.ts";

/** The runs of a line that are compared with its jitter. */
const comparedRuns = 10;

/** Throws `request_invalid` for a trigger that cannot be used from now on. */
export function requireUsable(trigger: Trigger, now: Date): void {
  if (trigger.type === "hook") return;
  const { cron, timeZone, jitter = 0, at } = trigger;
  if (at !== undefined) {
    if (new Date(at) > now) return;
    throw new BerthError("request_invalid", "trigger.at: this time has passed.");
  }
  const line = new CronLine(cron!, timeZone!);
  let last = line.next(now.getTime());
  for (let left = comparedRuns; left > 0 && last !== null; left--) {
    const next = line.next(last);
    if (next !== null && next - last <= jitter * 1000) {
      const message = `trigger.jitter: use less than the time between two runs, which is ${(next - last) / 1000} s.`;
      throw new BerthError("request_invalid", message);
    }
    last = next;
  }
}

/** The line's next times, up to `count`. Throws `request_invalid` for one that cannot be used. */
export function timesOf(cron: string, timeZone: string, now: Date, count: number): Date[] {
  const line = new CronLine(cron, timeZone);
  const times: Date[] = [];
  for (let next = line.next(now.getTime()); next !== null && times.length < count; next = line.next(next))
    times.push(new Date(next));
  return times;
}

/** The automation's first run after now; null: none follows. */
export function firstRun(id: string, trigger: Trigger, now: Date): NextRun | null {
  if (trigger.type === "hook") return null;
  if (trigger.at === undefined) return nextRun(id, trigger, now, now);
  const at = new Date(trigger.at);
  return at > now ? { base: at, at } : null;
}

/**
 * The run after one that is planned now; null: none follows. One that is too old to be made up for is followed by the first
 * of the last 24 hours, which is due at once.
 */
export function followingRun({ id, trigger, base, dueAt, missed }: PlannedTime, now: Date): NextRun | null {
  const isForgotten = missed === "once" && now.getTime() - dueAt.getTime() > missedForeverMs;
  return nextRun(id, trigger, base, isForgotten ? new Date(now.getTime() - missedForeverMs) : now);
}

/** The first run after now whose time is also after `base`, which has run; null: none follows. */
export function nextRun(id: string, trigger: Trigger, base: Date, now: Date): NextRun | null {
  if (trigger.type === "hook" || trigger.at !== undefined) return null;
  const { cron, timeZone, jitter = 0 } = trigger;
  const line = new CronLine(cron!, timeZone!);
  const since = Math.max(base.getTime(), now.getTime() - jitter * 1000 - 1);
  for (let next = line.next(since); next !== null; next = line.next(next)) {
    const due = next + delayOf(id, next, jitter);
    if (due > now.getTime()) return { base: new Date(next), at: new Date(due) };
  }
  return null;
}

/** In milliseconds; the same whenever it is asked for. */
function delayOf(id: string, base: number, jitter: number): number {
  if (jitter === 0) return 0;
  const hash = createHash("sha256").update(`${id} ${base}`).digest();
  return (hash.readUInt32BE() % (jitter * 1000 + 1)) | 0;
}

/** A run that is due, and the runs of its automation that have not ended. */
export interface DueRun extends Pick<Automation, "overlap" | "missed"> {
  dueAt: Date;
  /** The number of runs that have not ended. */
  open: number;
}

/** The time of a run that is planned, and what the next one follows from. */
interface PlannedTime extends Pick<DueRun, "dueAt" | "missed"> {
  id: string;
  trigger: Trigger;
  base: Date;
}

/** The treatment of a run. `reason`: why it is skipped; null: it is not. `replaces`: the earlier ones are cancelled. */
export interface RunPlan {
  reason: RunReason | null;
  replaces: boolean;
}

const runs: RunPlan = { reason: null, replaces: false };

export function planRun(due: DueRun, now: Date): RunPlan {
  const late = now.getTime() - due.dueAt.getTime();
  if (late > missedForeverMs) return skipped("missed", "No server ran for 24 hours after this time.");
  if (late > missedAfterMs && due.missed === "skip") return skipped("missed", "No server ran at this time.");
  return planOverlap(due);
}

/** The plan for a run that may begin now. */
export function planOverlap({ overlap, open }: Pick<DueRun, "overlap" | "open">): RunPlan {
  if (open === 0) return runs;
  if (overlap === "cancel-previous") return { reason: null, replaces: true };
  if (overlap === "skip") return skipped("overlap", "The run before had not ended.");
  if (open <= maximumWaitingRuns) return runs;
  return skipped("queue_full", `${maximumWaitingRuns} runs waited for the one before, which is the most.`);
}

function skipped(code: string, message: string): RunPlan {
  return { reason: { code, message }, replaces: false };
}
