import { readdirSync, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** How long processes are looked at. */
const sampleMs = 1_000;
/** Processor time within the sample from which on somebody works; below it a process only keeps its timers. */
const busyMs = 20;
/** The unit of /proc/PID/stat: USER_HZ is 100 on x86-64. */
const msPerTick = 10;

/**
 * The processes of a user: the processor time that each has used, in ms, by its number and the time of its start,
 * which together name a process for good. Read from /proc (proc_pid_stat(5)). Synchronous: small files, and no disk.
 */
export function processesOf(uid: number): Map<string, number> {
  const found = new Map<string, number>();
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      if (statSync(`/proc/${pid}`).uid !== uid) continue;
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      // After the name, which may hold anything: field 3 (state) is the first, 14 and 15 the times, 22 the start.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      found.set(`${pid}@${fields[19]}`, (Number(fields[11]) + Number(fields[12])) * msPerTick);
    } catch {
      // It has ended.
    }
  }
  return found;
}

/** Whether processes of a user, other than `own`, work: looks for a second, and answers then. */
export async function busy(uid: number, own: ReadonlySet<string>): Promise<boolean> {
  const before = processesOf(uid);
  await sleep(sampleMs);
  let used = 0;
  for (const [name, time] of processesOf(uid)) {
    if (!own.has(name)) used += time - (before.get(name) ?? 0);
  }
  return used > busyMs;
}
