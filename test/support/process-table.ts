import { readFile } from "node:fs/promises";

/** When a process started, in ticks since the host's boot: with its id, its name for ever. Null when it has ended. */
export async function startOf(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return !fields || fields[0] === "Z" || fields[0] === "X" ? null : fields[19]!;
}

export async function isAlive({ pid, start }: { pid: number; start: string }): Promise<boolean> {
  return (await startOf(pid)) === start;
}

/** Kills a process, which may have ended already. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has.
  }
}
