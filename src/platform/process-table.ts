import { readdirSync, readFileSync } from "node:fs";

/** What /proc/PID/stat tells of a process (proc_pid_stat(5)). */
export interface ProcessStat {
  pid: number;
  /** Its number and the time of its start, which together name a process for as long as the machine runs. */
  name: string;
  parent: number;
  /** The kernel's PF_ flags. */
  flags: number;
  /** The processor time that it has used, in units of USER_HZ. */
  ticks: number;
}

/** Every process that runs. Synchronous, as `statOf` is: small files, and no disk. */
export function processTable(): ProcessStat[] {
  return readdirSync("/proc").flatMap((entry) => (/^\d+$/.test(entry) ? (statOf(Number(entry)) ?? []) : []));
}

/** The process of that number; null where there is none. */
export function statOf(pid: number): ProcessStat | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return null; // It has ended.
  }
  // After the name, which may hold anything: field 3 (state) is the first, 4 the parent, 9 the flags, 14 and 15 the times,
  // 22 the start.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [parent, flags, user, system] = [fields[1], fields[6], fields[11], fields[12]].map(Number);
  return { pid, name: `${pid} ${fields[19]}`, parent: parent!, flags: flags!, ticks: user! + system! };
}
