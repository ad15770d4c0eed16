import { execFile } from "node:child_process";
import { cp, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Copies a program with its libraries, which keep their places, into an image's folder `root`. */
export async function addProgram(root: string, program: string, place = program): Promise<void> {
  await addFiles(root, await librariesOf(program));
  await mkdir(dirname(join(root, place)), { recursive: true });
  await cp(program, join(root, place), { dereference: true });
}

/** Copies files and folders of this machine to the same places in `root`. Links are followed. */
export async function addFiles(root: string, paths: readonly string[]): Promise<void> {
  if (paths.length > 0) await run("cp", ["--parents", "--recursive", "--dereference", ...paths, root]);
}

/** The libraries of a program, or of a module that a program loads. */
export async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await run("ldd", [program]);
  return [...new Set([...stdout.matchAll(/\/\S+/g)].map(([path]) => path))].filter((path) => path !== `${program}:`);
}
