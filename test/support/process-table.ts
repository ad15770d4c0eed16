import { startOf } from "../../src/core/process-table.ts";

export function isAlive({ pid, start }: { pid: number; start: string }): boolean {
  return startOf(pid) === start;
}

/** Kills a process. It may already have ended. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It already has.
  }
}
