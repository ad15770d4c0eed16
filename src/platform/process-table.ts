import { readdirSync, readFileSync } from "node:fs";

/** What /proc/PID/stat tells of a process (proc_pid_stat(5)). */
export interface ProcessStat {
  pid: number;
  /** Its number and the time of its start, which together name a process for as long as the machine runs. */
  name: string;
  /** When it started, in clock ticks since the machine's boot. */
  start: string;
  /** One letter; `Z` is a zombie's. */
  state: string;
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

/** The process of that number, which may be a zombie; null where there is none. */
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
  const [state, start] = [fields[0]!, fields[19]!];
  return { pid, name: `${pid} ${start}`, start, state, parent: parent!, flags: flags!, ticks: user! + system! };
}

/** When the process of that number started, as `ProcessStat.start`; null when it has ended. */
export function startOf(pid: number): string | null {
  const stat = statOf(pid);
  return stat === null || isOver(stat) ? null : stat.start;
}

/** True when there is no process of that number, or nothing of it runs any more and its files and locks are free. */
export function hasEnded(pid: number): boolean {
  const stat = statOf(pid);
  return stat === null || isOver(stat);
}

/** A zombie, but only when it is the last of its threads: while others run they hold its memory, files and locks. */
function isOver({ pid, state }: ProcessStat): boolean {
  return (state === "Z" || state === "X") && threadsOf(pid) <= 1;
}

function threadsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length;
  } catch {
    return 0;
  }
}
