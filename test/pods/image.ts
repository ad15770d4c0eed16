import { execFile } from "node:child_process";
import { cp, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeImageArchive } from "../../deploy/container/image-archive.ts";
import { addFiles, addProgram } from "../../deploy/kubernetes/debian-files.ts";
import { addImportedPackages } from "../../deploy/kubernetes/imported-packages.ts";
import { idOfBuilt } from "../../src/machines/qemu/image.ts";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");
const keeper = "test/pods/keeper.ts";

/** The Debian packages whose programs the runner and the tests' commands use. */
const debianPackages = "bash coreutils findutils grep gzip inotify-tools procps sed tar util-linux zip".split(" ");

/**
 * Makes the image of the pods of the API's tests: the keeper of `keeper.ts`, at the paths that it has here. `guest` is the folder of
 * the guest image, which the server knows by its id. `root` is an empty folder in which it is put together.
 */
export async function makePodImage(archive: string, name: string, guest: string, root: string): Promise<void> {
  await addProgram(root, process.execPath, "/usr/bin/node");
  for (const debianPackage of debianPackages) {
    for (const program of await programsOf(debianPackage)) await addProgram(root, program);
  }
  await addFiles(root, ["/etc/passwd", "/etc/group"]);
  await run("ln", ["-sf", "bash", join(root, "bin/sh")]);
  const app = join(root, repository);
  for (const folder of ["src", "test"]) {
    await cp(join(repository, folder), join(app, folder), { recursive: true });
  }
  await addImportedPackages(app, keeper);
  await cp(join(repository, "package.json"), join(app, "package.json"));
  await mkdir(join(root, "images", await idOfBuilt(guest)), { recursive: true });
  for (const folder of ["data", "root"]) await mkdir(join(root, folder));
  await mkdir(join(root, "tmp"), { mode: 0o1777 });
  await makeImageArchive(archive, name, root, { command: ["/usr/bin/node", join(repository, keeper)] });
}

async function programsOf(debianPackage: string): Promise<string[]> {
  const { stdout } = await run("dpkg", ["-L", debianPackage]);
  const programs: string[] = [];
  for (const path of stdout.split("\n").filter((path) => /^\/(usr\/)?bin\//.test(path))) {
    if (await isBinary(path)) programs.push(path);
  }
  return programs;
}

/** Scripts would need their interpreters. */
async function isBinary(path: string): Promise<boolean> {
  if (!(await stat(path)).isFile()) return false;
  const { stdout } = await run("head", ["-c", "4", path], { encoding: "latin1" });
  return stdout === "\x7fELF";
}
