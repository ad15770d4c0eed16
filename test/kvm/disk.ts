import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const suite = "bookworm";
/** The cloud kernel has no KVM. */
const packages = ["linux-image-amd64", "iproute2", "procps", "openssh-client"];
const diskGiB = 8;
/** For the folders of tests and for templates. */
const workGiB = 100;
const repository = join(import.meta.dirname, "../..");
/** The files that go into the disk. */
const inputs = ["test/kvm/customize.sh", "test/kvm/init", "scripts/setup"];
/** How long a disk is kept that no run uses, in milliseconds. */
const keptMs = 30 * 86_400_000;
const cache = process.env.BERTH_CACHE_DIR ?? "/var/cache/berth";

/** A Debian with Berth's packages and users. Only `work` is written to, and keeps templates from run to run. */
export interface Disk {
  vmlinuz: string;
  initrd: string;
  root: string;
  work: string;
}

/**
 * Builds the disk where the cache lacks it, which takes two minutes. Its folder is named by the hash of its recipe, and is
 * filled under another name, so that no partial disk looks finished.
 */
export async function kvmDisk(): Promise<Disk> {
  const hash = createHash("sha256").update(JSON.stringify([suite, packages, diskGiB, workGiB]));
  for (const file of inputs) hash.update(await readFile(join(repository, file)));
  const folder = join(cache, `kvm-${hash.digest("hex").slice(0, 16)}`);
  if (!(await stat(folder).catch(() => null))) await build(folder);
  await utimes(folder, new Date(), new Date());
  const file = (name: string) => join(folder, name);
  return { vmlinuz: file("vmlinuz"), initrd: file("initrd.img"), root: file("disk.img"), work: file("work.img") };
}

async function build(folder: string): Promise<void> {
  console.log("  the Debian disk for KVM, once: two minutes …");
  await mkdir(cache, { recursive: true });
  await removeUnused();
  const partial = await mkdtemp(`${folder}.partial-`);
  try {
    const customize = [join(repository, "test/kvm/customize.sh"), '"$1"', repository, partial, diskGiB].join(" ");
    await run(
      "mmdebstrap",
      [
        ...["--variant=minbase", "--format=null", "--dpkgopt=force-unsafe-io"],
        ...[`--include=${packages.join(",")}`, `--customize-hook=sh ${customize}`],
        ...[suite, "/dev/null"],
      ],
      { maxBuffer: 64 * 1024 ** 2, env: { ...process.env, TMPDIR: "/var/tmp" } },
    );
    await run("truncate", [`--size=${workGiB}G`, join(partial, "work.img")]);
    await run("mkfs.ext4", ["-q", join(partial, "work.img")]);
    await rename(partial, folder);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Removes old disks, and what killed builds left. */
async function removeUnused(): Promise<void> {
  for (const name of await readdir(cache)) {
    if (!/^kvm-[0-9a-f]+(\.partial-\w+)?$/.test(name)) continue;
    const { mtimeMs } = await stat(join(cache, name));
    if (Date.now() - mtimeMs > keptMs) await rm(join(cache, name), { recursive: true });
  }
}
