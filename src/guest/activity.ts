import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type ProcessStat, processTable } from "../platform/process-table.ts";

/** How long processes are looked at. */
const sampleMs = 1_000;
/** Processor time within the sample from which on somebody works; below it a process only keeps its timers. */
const busyMs = 20;
/** Among a process's flags: PF_KTHREAD of the kernel's include/linux/sched.h. */
const kernelThread = 0x00200000;
/** The unit of /proc/PID/stat: USER_HZ is 100 on x86-64. */
const msPerTick = 10;

/**
 * The processes of a user, or those of all but this one and the kernel's own: the processor time that each has used, in
 * ms, by its name in the process table.
 */
export function processesOf(uid: number | null): Map<string, number> {
  const isCounted = ({ pid, flags }: ProcessStat) =>
    uid === null ? pid !== process.pid && !(flags & kernelThread) : userOf(pid) === uid;
  const counted = processTable().filter(isCounted);
  return new Map(counted.map(({ name, ticks }) => [name, ticks * msPerTick]));
}

function userOf(pid: number): number | undefined {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;
}

/**
 * Whether programs of the agent's, other than `own`, work: looks for a second, and answers then. They may be any user's,
 * since the agent may become any; this process and the kernel's own are none.
 */
export async function busy(own: ReadonlySet<string>): Promise<boolean> {
  const before = processesOf(null);
  await sleep(sampleMs);
  let used = 0;
  for (const [name, time] of processesOf(null)) {
    if (!own.has(name)) used += time - (before.get(name) ?? 0);
  }
  return used > busyMs;
}
