import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { addFiles, addProgram } from "./debian-files.ts";
import { makeImageArchive } from "../container/image-archive.ts";
import { addImportedPackages } from "./imported-packages.ts";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");
const keeper = "src/kubernetes/keeper.ts";

/** What the keeper runs, and what confines QEMU. Debian's, as they are installed here. */
const programs = [
  "/usr/bin/qemu-system-x86_64",
  "/usr/bin/qemu-img",
  "/usr/bin/bwrap",
  "/usr/bin/prlimit",
  "/usr/bin/setpriv",
  "/usr/bin/test",
];

/** Of QEMU. */
const modules = ["/usr/lib/x86_64-linux-gnu/qemu/accel-tcg-x86_64.so"];

/** What is used here of the guest image's `image.json`. */
interface ImageRecord {
  id: string;
  /** The runtime with an image of its own, if there is one. */
  apart: [string?];
}

/**
 * Makes the archive of the OCI image that machines' pods run: the keeper with Node, QEMU and the guest image in the folder
 * `guest`. `root` is an empty folder in which it is put together.
 */
export async function makeMachineImage(archive: string, name: string, guest: string, root: string): Promise<void> {
  for (const program of [...programs, ...modules]) await addProgram(root, program);
  await addProgram(root, process.execPath, "/usr/bin/node");
  await addFiles(root, ["/usr/share/qemu", "/usr/share/seabios"]);
  const app = join(root, "berth");
  await cp(join(repository, "src"), join(app, "src"), { recursive: true });
  await addImportedPackages(app, keeper);
  await cp(join(repository, "package.json"), join(app, "package.json"));
  await addGuest(guest, join(root, "images"));
  await mkdir(join(root, "data"));
  await mkdir(join(root, "tmp"), { mode: 0o1777 });
  await makeImageArchive(archive, name, root, {
    command: ["/usr/bin/node", `/berth/${keeper}`],
  });
}

/**
 * The guest's root disk becomes a compressed qcow2 image, since archives know no holes. All runtimes' machines get what is
 * the service's from the image for OpenClaw's, which has the others, too, if there is one.
 */
async function addGuest(guest: string, images: string): Promise<void> {
  const { apart: [runtime], ...record } = JSON.parse(await readFile(join(guest, "image.json"), "utf8")) as ImageRecord;
  const folder = join(images, record.id);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "image.json"), JSON.stringify(record));
  for (const file of ["initrd.img", "vmlinuz"]) await cp(join(guest, file), join(folder, file));
  const services = runtime === undefined ? guest : `${guest}.${runtime}`;
  await cp(join(services, "services.img"), join(folder, "services.img"));
  const disk = ["convert", "-c", "-f", "raw", "-O", "qcow2", join(guest, "rootfs.img"), join(folder, "rootfs.img")];
  await run("qemu-img", disk);
  await run("chmod", ["-R", "a+rX", dirname(folder)]);
}
