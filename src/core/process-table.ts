import { readdirSync, readFileSync } from "node:fs";

/** A process's entry in /proc/PID/stat (proc_pid_stat(5)). */
export interface ProcessStat {
  pid: number;
  /** Its pid and start time, which together identify a process until the machine reboots. */
  name: string;
  /** Its start time, in clock ticks since boot. */
  start: string;
  /** One letter; `Z` for a zombie. */
  state: string;
  parent: number;
  /** The kernel's PF_ flags. */
  flags: number;
  /** The processor time used, in units of USER_HZ. */
  ticks: number;
}

/** Synchronous, like `statOf`: the files are small and not on disk. */
export function processTable(): ProcessStat[] {
  return readdirSync("/proc").flatMap((entry) => (/^\d+$/.test(entry) ? (statOf(Number(entry)) ?? []) : []));
}

/** The process may be a zombie; null if there is none. */
export function statOf(pid: number): ProcessStat | null {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return null; // It has ended.
  }
  // After the name, which may contain anything: field 3 (state) comes first, 4 is the parent, 9 the flags, 14 and 15
  // the times, 22 the start.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [parent, flags, user, system] = [fields[1], fields[6], fields[11], fields[12]].map(Number);
  const [state, start] = [fields[0]!, fields[19]!];
  return { pid, name: `${pid} ${start}`, start, state, parent: parent!, flags: flags!, ticks: user! + system! };
}

/** The start time of the process with this pid, as in `ProcessStat.start`; null if it has ended. */
export function startOf(pid: number): string | null {
  const stat = statOf(pid);
  return stat === null || isOver(stat) ? null : stat.start;
}

/** True if no process has this pid, or none of its threads runs any more and its files and locks are free. */
export function hasEnded(pid: number): boolean {
  const stat = statOf(pid);
  return stat === null || isOver(stat);
}

export function kill(pid: number, signal: NodeJS.Signals = "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** True for a zombie whose other threads have ended too. While others run they hold its memory, files and locks. */
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
