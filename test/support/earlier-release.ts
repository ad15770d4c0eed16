import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");

/** Version 0.1.0, by its package.json: the last commit of it whose machines had the runtimes on their own disk. */
const commit = "1e0b5330201943afd26775b741c4ea8cca0d6ed6";

/** Whether this checkout's history goes back to the earlier release. */
export async function hasEarlierRelease(): Promise<boolean> {
  return run("git", ["cat-file", "-e", commit], { cwd: repository }).then(
    () => true,
    () => false,
  );
}

/** Lays the code of an earlier release into a new folder. It uses the packages of this checkout. */
export async function layEarlierCode(folder: string): Promise<void> {
  await mkdir(folder);
  await run("sh", ["-c", `git archive ${commit} | tar -x -C "$1"`, "sh", folder], { cwd: repository });
  await symlink(join(repository, "node_modules"), join(folder, "node_modules"));
}

/** The same with its guest image, which the cache keeps. The program is `src/main.ts` there. */
export async function layEarlierRelease(folder: string): Promise<void> {
  await layEarlierCode(folder);
  await run(process.execPath, ["image/build.ts"], { cwd: folder, maxBuffer: 16 * 1024 * 1024 });
}
