import { execFile } from "node:child_process";
import { open } from "node:fs/promises";
import { promisify } from "node:util";
import { maximumLogBytes } from "../contract/guest.ts";

const run = promisify(execFile);

/** Where `image/rootfs/usr/lib/berth/runner` has this program write. */
const logFile = "/run/berth/runner.log";

/**
 * Has all that was written reach the disk, so that the machine could boot from it; answers the last 64 KiB of the
 * runner's log, which is in memory and lost with it.
 */
export async function quiesce(): Promise<string> {
  const [log] = await Promise.all([tail(logFile), run("/bin/sync")]);
  return log;
}

async function tail(file: string): Promise<string> {
  await using handle = await open(file, "r");
  const { size } = await handle.stat();
  const length = Math.min(size, maximumLogBytes);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.toString("utf8", 0, bytesRead);
}
