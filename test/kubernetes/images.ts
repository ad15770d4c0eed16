import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { makeImageArchive } from "../../deploy/container/image-archive.ts";

const run = promisify(execFile);

/** The image of the process that holds a pod's namespaces. */
export const pauseImage = "berth.test/pause:1";
export const busyboxImage = "berth.test/busybox:1";
export const qemuImage = "berth.test/qemu:1";

/** Makes the pause image from the program that is built with Kubernetes. */
export async function makePauseImage(archive: string, programs: string): Promise<void> {
  await withRoot(archive, async (root) => {
    await cp(join(programs, "pause"), join(root, "pause"));
    await makeImageArchive(archive, pauseImage, root, { command: ["/pause"] });
  });
}

/** Makes an image with Debian's static busybox and its commands. */
export async function makeBusyboxImage(archive: string): Promise<void> {
  await withRoot(archive, async (root) => {
    for (const folder of ["bin", "tmp", "etc"]) await mkdir(join(root, folder));
    await cp("/bin/busybox", join(root, "bin/busybox"));
    await run("/bin/busybox", ["--install", "-s", join(root, "bin")]);
    // The links name the program by its path here.
    await run("find", [join(root, "bin"), "-type", "l", "-exec", "ln", "-sf", "busybox", "{}", ";"]);
    await run("chmod", ["1777", join(root, "tmp")]);
    await makeImageArchive(archive, busyboxImage, root, { command: ["/bin/sh"] });
  });
}

/** Makes an image with this machine's QEMU, the libraries that it needs, a guest's kernel and its initial RAM disk. */
export async function makeQemuImage(archive: string, guest: string): Promise<void> {
  const program = "/usr/bin/qemu-system-x86_64";
  const emulator = "/usr/lib/x86_64-linux-gnu/qemu/accel-tcg-x86_64.so";
  const { stdout } = await run("ldd", [program, emulator]);
  const libraries = [...stdout.matchAll(/^\t(?:.* => )?(\/\S+)/gm)].map(([, path]) => path!);
  await withRoot(archive, async (root) => {
    // Paths keep their place; links are followed.
    const files = [program, emulator, ...new Set(libraries), "/usr/share/qemu", "/usr/share/seabios"];
    await run("cp", ["--parents", "--recursive", "--dereference", ...files, root]);
    await mkdir(join(root, "guest"));
    for (const name of ["vmlinuz", "initrd.img"]) await cp(join(guest, name), join(root, "guest", name));
    await mkdir(join(root, "tmp"), { mode: 0o1777 });
    await makeImageArchive(archive, qemuImage, root, { command: [program] });
  });
}

async function withRoot(archive: string, work: (root: string) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(dirname(archive), "root-"));
  try {
    await run("chmod", ["0755", root]);
    await work(root);
  } finally {
    await rm(root, { recursive: true });
  }
}
