import { execFile } from "node:child_process";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { seedFolder } from "./warm-seed.ts";

/**
 * The folder with these packages of npm, unmodified. They are large, so they are installed once and kept, apart from what
 * a checkout needs. `packages` name exact versions.
 */
export async function installedClient(name: string, packages: readonly string[]): Promise<string> {
  const versions = packages.map((each) => each.slice(each.lastIndexOf("@") + 1)).join("-");
  const folder = join(seedFolder, `${name}-${versions}`);
  if (await stat(folder).catch(() => null)) return folder;
  const partial = `${folder}.partial-${process.pid}`;
  await mkdir(partial, { recursive: true });
  const install = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", partial];
  await promisify(execFile)("npm", [...install, ...packages]);
  await rename(partial, folder).catch(() => rm(partial, { recursive: true }));
  return folder;
}
