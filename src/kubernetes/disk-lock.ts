import { execFile } from "node:child_process";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { childEnvironment } from "../core/child-environment.ts";

const pollMs = 1_000;

/**
 * Resolves when no QEMU has a disk in the data folder open. Two nodes can have one volume at once: files on it must not
 * change while another pod's QEMU runs.
 */
export async function disksFree(dataFolder: string, log: (message: string) => void): Promise<void> {
  for (let told = false; await isTaken(dataFolder); told = true) {
    if (!told) log("another pod's QEMU has the machine's disk; waiting until it ends");
    await sleep(pollMs);
  }
}

async function isTaken(dataFolder: string): Promise<boolean> {
  for await (const disk of glob("machines/*/{disk,disks/*}.qcow2", { cwd: dataFolder })) {
    if (await isLocked(join(dataFolder, disk))) return true;
  }
  return false;
}

/** Other problems with a disk are left to its driver. */
async function isLocked(disk: string): Promise<boolean> {
  return promisify(execFile)("qemu-img", ["info", disk], { env: childEnvironment }).then(
    () => false,
    ({ stderr }: { stderr: string }) => /failed to get .* lock/i.test(stderr),
  );
}
