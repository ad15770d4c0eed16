import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type ProcessStat, processTable } from "../core/process-table.ts";

const sampleMs = 1_000;
/** CPU time within the sample from which a process counts as busy; below it, it only runs its timers. */
const busyMs = 20;
/** The process flag PF_KTHREAD, from the kernel's include/linux/sched.h. */
const kernelThread = 0x00200000;
/** The unit of /proc/PID/stat: USER_HZ is 100 on x86-64. */
const msPerTick = 10;

/**
 * CPU time in milliseconds of a user's processes, by their names in the process table. Without a user: of all
 * processes except this one and kernel threads.
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
 * Whether the agent's programs, other than `own`, are busy. Observes for a second. The programs may belong to any user,
 * because the agent may become any.
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
