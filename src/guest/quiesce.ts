import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { endOf } from "./log.ts";

const run = promisify(execFile);

/**
 * Has all that was written reach the disk, so that the machine could boot from it; answers the end of the runner's log,
 * which is in memory and lost with it.
 */
export async function quiesce(logFile: string): Promise<string> {
  const [{ text }] = await Promise.all([endOf(logFile), run("/bin/sync")]);
  return text;
}
