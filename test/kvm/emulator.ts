import { execFile } from "node:child_process";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** QEMU 7.2 damages the state of a host's programs when its emulated SVM runs guests; Node ended within minutes. */
const leastVersion = 10;
const source = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian";
const suite = "bookworm-backports";
const packages = ["qemu-system-x86", "qemu-system-common", "qemu-system-data", "seabios"];

/** The QEMU that emulates the host: its program and the options that it needs. */
export interface Emulator {
  program: string;
  args: string[];
}

/** The installed QEMU, or Debian's backport of it in `folder`, where it is put once if the installed one is too old. */
export async function emulatorIn(folder: string): Promise<Emulator> {
  const { stdout } = await run("qemu-system-x86_64", ["--version"]);
  const version = Number(/version (\d+)\./.exec(stdout)?.[1]);
  if (version >= leastVersion) return { program: "qemu-system-x86_64", args: [] };
  const root = join(folder, "qemu");
  await readdir(root).catch(() => unpack(root));
  const firmware = ["qemu", "seabios"].flatMap((name) => ["-L", join(root, "usr/share", name)]);
  return { program: join(root, "usr/bin/qemu-system-x86_64"), args: firmware };
}

async function unpack(root: string): Promise<void> {
  const partial = `${root}.partial`;
  await rm(partial, { recursive: true, force: true });
  const lists = join(partial, "lists");
  await mkdir(join(lists, "partial"), { recursive: true });
  await writeFile(join(partial, "sources"), `${source} ${suite} main\n`);
  const options = [
    ...["-o", `Dir::Etc::sourcelist=${join(partial, "sources")}`, "-o", "Dir::Etc::sourceparts=-"],
    ...["-o", `Dir::State::lists=${lists}`, "-o", "APT::Sandbox::User=root"],
  ];
  await run("apt-get", [...options, "update"]);
  await run("apt-get", [...options, "download", ...packages.map((name) => `${name}/${suite}`)], { cwd: partial });
  const archives = (await readdir(partial)).filter((name) => name.endsWith(".deb"));
  for (const archive of archives) await run("dpkg", ["-x", join(partial, archive), join(partial, "root")]);
  await run("mv", [join(partial, "root"), root]);
  await rm(partial, { recursive: true });
}
