import { spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import { maximumLogBytes } from "../contract/guest.ts";

/** Where `image/rootfs/usr/lib/berth/runner` has this program write. */
const logFile = "/run/berth/runner.log";

/**
 * At each line, sync(2): syscall 162 on x86-64, which Node cannot make. Perl for the reasons that `renew` gives, and kept
 * running for the same one: under emulation, to start a program takes longer than to suspend the machine.
 */
const syncer = '$| = 1; while (<STDIN>) { syscall(162); print "ok\\n" }';

/** Has all that was written in the guest reach its disk. */
export type Syncer = () => Promise<void>;

/** Starts a syncer ahead of the moment in which it is needed. */
export function startSyncer(): Syncer {
  const child = spawn("/usr/bin/perl", ["-e", syncer], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.on("error", () => {}); // That it has ended is seen below.
  const lines = createInterface({ input: child.stdout });
  lines.on("error", () => {});
  return async () => {
    child.stdin.write("\n");
    const [line] = (await Promise.race([once(lines, "line"), once(child, "close")])) as unknown[];
    if (line !== "ok") throw new Error("the guest's disk cannot be written out");
  };
}

/**
 * Has all that was written reach the disk, so that the machine could boot from it; answers the last 64 KiB of the
 * runner's log, which is in memory and lost with it.
 */
export async function quiesce(sync: Syncer): Promise<string> {
  const [log] = await Promise.all([tail(logFile), sync()]);
  return log;
}

async function tail(file: string): Promise<string> {
  await using handle = await open(file, "r");
  const { size } = await handle.stat();
  const length = Math.min(size, maximumLogBytes);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.toString("utf8", 0, bytesRead);
}
