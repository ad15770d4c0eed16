import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { lastBuiltImage } from "../../src/server.ts";
import { seedFolder } from "./warm-seed.ts";

/**
 * The runtimes' npm packages as they are in the guest image, for tests that run the real runtimes without a machine:
 * the folder `node_modules`, taken out of the image once and kept.
 */
export async function guestPackages(): Promise<string> {
  const image = await lastBuiltImage();
  if (!image) throw new Error("there is no guest image; build it with: make image");
  const lock = await readFile(new URL("../../image/runtimes/package-lock.json", import.meta.url));
  const folder = join(seedFolder, `packages-${createHash("sha256").update(lock).digest("hex").slice(0, 16)}`);
  if (!(await stat(folder).catch(() => null))) {
    const partial = `${folder}.partial-${process.pid}`;
    await mkdir(partial, { recursive: true });
    const command = `rdump /opt/berth/node_modules ${partial}`;
    await promisify(execFile)("/usr/sbin/debugfs", ["-R", command, join(image, "rootfs.img")]);
    await rename(partial, folder).catch(() => rm(partial, { recursive: true }));
  }
  return join(folder, "node_modules");
}
