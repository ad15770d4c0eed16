import { readdirSync, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** How long processes are looked at. */
const sampleMs = 1_000;
/** Processor time within the sample from which on somebody works; below it a process only keeps its timers. */
const busyMs = 20;
/** Among a process's flags: PF_KTHREAD of the kernel's include/linux/sched.h. */
const kernelThread = 0x00200000;
/** The unit of /proc/PID/stat: USER_HZ is 100 on x86-64. */
const msPerTick = 10;

/**
 * The processes of a user, or those of all but this one and the kernel's own: the processor time that each has used, in ms, by its number and the time of its start,
 * which together name a process for good. Read from /proc (proc_pid_stat(5)). Synchronous: small files, and no disk.
 */
export function processesOf(uid: number | null): Map<string, number> {
  const found = new Map<string, number>();
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      if (uid === null ? Number(pid) === process.pid : statSync(`/proc/${pid}`).uid !== uid) continue;
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      // After the name, which may hold anything: field 3 (state) is the first, 9 the flags, 14 and 15 the times, 22 the start.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (uid === null && Number(fields[6]) & kernelThread) continue;
      found.set(`${pid}@${fields[19]}`, (Number(fields[11]) + Number(fields[12])) * msPerTick);
    } catch {
      // It has ended.
    }
  }
  return found;
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
