import { execFile } from "node:child_process";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { lastBuiltImage } from "../../src/machines/qemu/open.ts";
import { seedFolder } from "./warm-seed.ts";

/**
 * The runtimes' npm packages from the guest image, for tests that run the real runtimes without a machine. Returns the
 * folder `node_modules`, extracted from the image once and kept, next to the files that the image's build has prepared.
 */
export async function guestPackages(): Promise<string> {
  const image = await lastBuiltImage();
  if (!image) throw new Error("there is no guest image; build it with: make image");
  const apart = join(`${image}.openclaw`, "services.img");
  // OpenClaw's has the others, too.
  const disk = (await stat(apart).catch(() => null)) ? apart : join(image, "services.img");
  // Images with the same base share it, whatever their runner.
  const { ino, mtimeMs } = await stat(disk);
  const folder = join(seedFolder, `runtimes-${ino}-${Math.round(mtimeMs)}`);
  if (!(await stat(folder).catch(() => null))) {
    const partial = `${folder}.partial-${process.pid}`;
    await mkdir(partial, { recursive: true });
    const command = `rdump /node_modules /openclaw ${partial}`;
    await promisify(execFile)("/usr/sbin/debugfs", ["-R", command, disk]);
    await rename(partial, folder).catch(() => rm(partial, { recursive: true }));
  }
  return join(folder, "node_modules");
}
