import { createHash } from "node:crypto";
import { lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chosenRuntimes } from "../src/config/chosen-runtimes.ts";
import { imageCache } from "../src/config/image-cache.ts";
import { architecture, processor } from "../src/core/processor.ts";
import listed from "./runtimes/package.json" with { type: "json" };
import { elapsed, endPrograms, run, step, workPlace } from "./steps.ts";

// Builds the guest image (`make image`) in two layers: the base (Debian, Node, the runtimes; takes a minute) and the
// image (base plus runner; takes a second). The runtimes are those that `BERTH_RUNTIMES` lists. OpenClaw has an image of its
// own, with a file system of all runtimes and what its build prepares, which takes another minute: it comes last, so that
// other agents need not wait for it. Each has a cache folder named by the hash of all its inputs. A folder is filled under
// another name and renamed when complete, so no partial build looks finished.

const recipe = dirname(fileURLToPath(import.meta.url));
const repository = dirname(recipe);
const suite = "bookworm";
const diskGiB = 10;
/** The runtime that has an image of its own. */
const apart = "openclaw";
const leastPriority = 19;

/** Documentation and translations that no agent reads, 200 MB of the disk. */
const leftOut = ["/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*"];
/** Source maps and type declarations, a third of the runtimes' files. TypeScript itself reads its own. */
const unread = ["*.map", "*.d.ts", "*.d.mts", "*.d.cts"];

const { values: options } = parseArgs({
  options: {
    /** The process whose end ends the build, in a session of its own. */
    while: { type: "string" },
    /** The process that installs the repository's npm packages. The base needs none of them. */
    after: { type: "string" },
  },
});
if (options.while) setInterval(endWithOwner, 1_000).unref();

const packagesOf: Record<string, string[]> = listed.runtimes;
const cache = imageCache();
/** How long a folder of the cache that no build asks for is kept, in milliseconds. */
const keptMs = 30 * 86_400_000;
try {
  const chosen = chosenRuntimes(process.env.BERTH_RUNTIMES).toSorted();
  const others = chosen.filter((name) => name !== apart && packagesOf[name]!.length > 0);
  const base = await buildBase(others);
  while (options.after && isThere(Number(options.after))) await setTimeout(200);
  const { bundle } = await import("./bundle.ts");
  const preparation = await bundle(join(recipe, "prepare.ts"));
  const runner = await bundle(join(repository, "src/guest/program.ts"));
  const servicesApart = chosen.includes(apart) ? await nameOfServicesApart(base, preparation) : null;
  const image = await buildImage(base, runner, chosen, servicesApart);
  await writeFile(join(recipe, ".built"), `${image}\n`);
  console.log(`guest image ready: ${image} (${elapsed()})`);
  if (servicesApart !== null) {
    // A server that starts meanwhile makes its first agents' template.
    await giveWay();
    await buildImageApart(image, await buildServicesApart(servicesApart, base, chosen, preparation));
    console.log(`guest image for OpenClaw ready (${elapsed()})`);
  }
} catch (error) {
  console.error(`berth: the guest image could not be built: ${(error as Error).message}`);
  process.exitCode = 1;
}

/**
 * Has this process and all that it starts take what processor time others leave. Linux may weigh sessions before the
 * processes in them (sched(7), autogroup), so `make up` starts the build in a session of its own.
 */
async function giveWay(): Promise<void> {
  setPriority(leastPriority);
  if (options.while) await writeFile("/proc/self/autogroup", `${leastPriority}`).catch(() => {});
}

function endWithOwner(): void {
  if (isThere(Number(options.while))) return;
  endPrograms();
  process.exit(1);
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Builds the root file system, the kernel and the initial RAM disk without the runner. Returns the folder. */
async function buildBase(chosen: readonly string[]): Promise<string> {
  const inputs = [
    "packages.txt",
    "customize.sh",
    "services.sh",
    "initrd/init",
    "runtimes/package.json",
    "runtimes/package-lock.json",
  ];
  const rootfs = (await readdir(join(recipe, "rootfs"), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => relative(recipe, join(entry.parentPath, entry.name)));
  const hash = createHash("sha256").update(JSON.stringify([suite, diskGiB, leftOut, unread, chosen, processorNames()]));
  for (const file of [...inputs, ...rootfs].sort())
    hash.update(`\0${file}\0`).update(await readFile(join(recipe, file)));
  return inFolder(`base-${hash.digest("hex").slice(0, 16)}`, (folder) =>
    inWorkFolder(async (work) => {
      console.log("  the guest image, once: one to two minutes");
      // Both at once: one waits for the network while the other unpacks. The Debian packages wait for the runtimes.
      const [runtimes, root] = await Promise.allSettled([
        installRuntimes(work, chosen),
        makeRootFileSystem(folder, work),
      ]);
      for (const part of [runtimes, root]) if (part.status === "rejected") throw part.reason;
    }),
  );
}

/** Not in the cache, which may be in a home folder that the package tools' users cannot enter. */
async function inWorkFolder(build: (work: string) => Promise<void>): Promise<void> {
  const work = await mkdtemp(join(workPlace, `berth-image.partial-${process.pid}-`));
  try {
    await build(work);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * Combines the base with this checkout's runner. Returns the folder for the server. Its name changes with OpenClaw's
 * preparation, too, since that image is named after this one.
 */
async function buildImage(
  base: string,
  runner: Uint8Array,
  runtimes: readonly string[],
  servicesApart: string | null,
): Promise<string> {
  // By which `berth admin image export` finds the other folders. The second changes with the preparation.
  const parts = { base: basename(base), openclaw: servicesApart };
  const id = createHash("sha256").update(JSON.stringify(parts)).update(runner).digest("hex").slice(0, 16);
  return inFolder(`image-${id}`, async (folder) => {
    await writeFile(join(folder, "runner.mjs"), runner);
    // Initial RAM disks can be concatenated: the runner follows the base. So a changed runner makes a new image in a second,
    // and a machine that boots again gets the server's runner, however old its disk.
    const initrd = `cp --reflink=auto "${base}/initrd-base.img" initrd.img && echo runner.mjs | cpio --quiet -o -H newc -R 0:0 >>initrd.img`;
    const shared = ["rootfs.img", "services.img", "vmlinuz"].map((name) => `"${base}/${name}"`).join(" ");
    await run("sh", ["-c", `${initrd} && ln ${shared} . && rm runner.mjs`], { cwd: folder });
    const record = { id, handshake: "proof", runtimes, apart: servicesApart === null ? [] : [apart], parts };
    await writeFile(join(folder, "image.json"), JSON.stringify(record));
  });
}

async function nameOfServicesApart(base: string, preparation: Uint8Array): Promise<string> {
  const script = await readFile(join(recipe, "prepare.sh"));
  const prepared = createHash("sha256").update(script).update(preparation).digest("hex");
  return `${apart}-${createHash("sha256").update(basename(base)).update(prepared).digest("hex").slice(0, 16)}`;
}

/** Builds the file system of what is the service's once more, with OpenClaw. Returns its folder. */
async function buildServicesApart(
  name: string,
  base: string,
  chosen: readonly string[],
  preparation: Uint8Array,
): Promise<string> {
  return inFolder(name, (folder) =>
    inWorkFolder(async (work) => {
      await writeFile(join(work, "prepare.mjs"), preparation, { mode: 0o644 });
      const runtimes = join(work, "runtimes");
      await step("OpenClaw from npm", () => installPackages(runtimes, chosen));
      await step("what OpenClaw need not do again", () => prepareRuntimes(work, runtimes));
      await step("OpenClaw's file system", () => makeServicesApart(base, work, join(folder, "services.img")));
    }),
  );
}

/** Joins the installed runtimes with what else the base's file system holds. */
async function makeServicesApart(base: string, work: string, file: string): Promise<void> {
  const rest = `PATH=$PATH:/usr/sbin debugfs -R 'rdump /modules /system services' '${join(base, "services.img")}'`;
  const script = [
    "mkdir services",
    rest,
    "mv runtimes/node_modules runtimes/openclaw services/",
    `sh '${join(recipe, "services.sh")}' services '${file}'`,
  ];
  const command = ["sh", "-c", script.join(" && ")];
  // All is root's in the file system.
  const [program, ...args] = process.getuid?.() === 0 ? command : ["unshare", "--map-root-user", ...command];
  await run(program!, args, { cwd: work });
}

/** The image for OpenClaw's machines: a separate one with other runtimes. Its name says which. */
async function buildImageApart(image: string, services: string): Promise<void> {
  const name = `${basename(image)}.${apart}`;
  await inFolder(name, async (folder) => {
    const shared = ["rootfs.img", "vmlinuz", "initrd.img"].map((file) => `"${image}/${file}"`).join(" ");
    await run("sh", ["-c", `ln ${shared} "${services}/services.img" .`], { cwd: folder });
    const id = name.replace(/^image-/, "");
    await writeFile(join(folder, "image.json"), JSON.stringify({ id, handshake: "proof" }));
  });
}

/** Fills a cache folder with `fill` if it does not exist yet. */
async function inFolder(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cache, name);
  const now = new Date();
  // Keeps it from `removeUnused`.
  const isComplete = await utimes(folder, now, now).then(
    () => true,
    () => false,
  );
  if (isComplete) return folder;
  await mkdir(cache, { recursive: true });
  await removeAbandoned();
  await removeUnused();
  const partial = `${folder}.partial-${process.pid}`;
  await mkdir(partial);
  try {
    await fill(partial);
    await run("chmod", ["-R", "a+rX", partial]);
    await rename(partial, folder);
    return folder;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    if (await stat(folder).catch(() => null)) return folder; // Another build finished first.
    throw error;
  }
}

/**
 * Removes what killed builds left behind. The names end in their process ids. One with this process's id is of an earlier
 * container, whose processes had the same ids.
 */
async function removeAbandoned(): Promise<void> {
  for (const folder of [cache, workPlace]) {
    for (const name of await readdir(folder)) {
      const pid = /^(?:base|image|openclaw|berth-image)\b.*\.partial-(\d+)(?:-\w+)?$/.exec(name)?.[1];
      const isOurs = pid === String(process.pid);
      if (pid === undefined || (!isOurs && (await stat(`/proc/${pid}`).catch(() => null)))) continue;
      const { uid } = await lstat(join(folder, name));
      // The work place is open to all: what others put there under such a name is not ours to remove.
      if (uid === process.getuid!()) await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}

/** Removes what no build has asked for in a while. Servers have files of their own, so nobody needs it. */
async function removeUnused(): Promise<void> {
  for (const name of await readdir(cache)) {
    if (!/^(?:base|image|openclaw)-[0-9a-f]+(?:\.openclaw)?$/.test(name)) continue;
    const { mtimeMs } = await stat(join(cache, name));
    if (Date.now() - mtimeMs > keptMs) await rm(join(cache, name), { recursive: true, force: true });
  }
}

/**
 * Installs Node and the chosen runtimes in the folder `runtimes` of `work`. Writes `result` there at the end, `done` or
 * `failed`, for which customize.sh waits.
 */
async function installRuntimes(work: string, chosen: readonly string[]): Promise<void> {
  const folder = join(work, "runtimes");
  const result = (word: "done" | "failed") => writeFile(join(folder, "result"), `${word}\n`, { mode: 0o644 });
  try {
    await step("runtimes from npm", () => installPackages(folder, chosen));
    await result("done");
  } catch (error) {
    await result("failed");
    throw error;
  }
}

/** Makes a folder with `node_modules` from the lock file, without the packages of other runtimes than the chosen ones. */
async function installPackages(folder: string, chosen: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const lock = JSON.parse(await readFile(join(recipe, "runtimes/package-lock.json"), "utf8"));
  const others = Object.keys(packagesOf).filter((runtime) => !chosen.includes(runtime));
  const left = others.flatMap((runtime) => packagesOf[runtime]!);
  const dependencies = Object.fromEntries(Object.entries(listed.dependencies).filter(([name]) => !left.includes(name)));
  lock.packages[""].dependencies = dependencies;
  await writeFile(join(folder, "package.json"), JSON.stringify({ ...listed, dependencies }));
  await writeFile(join(folder, "package-lock.json"), JSON.stringify(lock));
  const platform = ["--os=linux", `--cpu=${architecture}`, "--libc=glibc"];
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...platform];
  await run("npm", ["ci", ...options], { cwd: folder });
  await removeUnread(join(folder, "node_modules"));
  await run("chmod", ["-R", "a+rX", folder]);
}

/**
 * Runs prepare.sh where the runtimes have the paths and the user that they have in a machine, and no other part of the
 * host is writable. Work that OpenClaw need not repeat is then in the folder `openclaw` next to `node_modules`.
 */
async function prepareRuntimes(work: string, runtimes: string): Promise<void> {
  await run("sh", ["-c", `cp "${recipe}/prepare.sh" . && mkdir runtimes/openclaw`], { cwd: work });
  const inMemory = ["/tmp", "/run", "/home", "/opt"].flatMap((path) => ["--tmpfs", path]);
  const places = ["node_modules", "openclaw"].flatMap((name) => ["--bind", join(runtimes, name), `/opt/berth/${name}`]);
  const options = [
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    ...inMemory,
    "--dir",
    "/home/agent",
    ...places,
  ];
  const agent = ["--unshare-user", "--uid", "1000", "--gid", "1000"];
  const apart = ["--unshare-net", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--clearenv"];
  await run("bwrap", [
    ...options,
    ...agent,
    ...apart,
    "sh",
    join(work, "prepare.sh"),
    join(work, "prepare.mjs"),
    processor.packages.node,
  ]);
  await run("chmod", ["-R", "a+rX", join(runtimes, "openclaw")]);
}

async function removeUnread(packages: string): Promise<void> {
  const names = unread.flatMap((name) => ["-o", "-name", name]).slice(1);
  const isOther = ["-not", "-path", "*/node_modules/typescript/*"];
  await run("find", [packages, "-type", "f", ...isOther, "(", ...names, ")", "-delete"]);
  // A machine has no microphone.
  await run("find", [
    packages,
    "-type",
    "d",
    "-path",
    "*/codex-resources/voice",
    "-prune",
    "-exec",
    "rm",
    "-r",
    "{}",
    "+",
  ]);
}

/**
 * Without root, mmdebstrap runs as users of a user namespace, who have no rights here. They read the recipe in `work`,
 * and write their results into a folder of it that is given to the namespace's root. Nobody else can write to either.
 * The results are copied so that the builder owns them; root's are moved.
 */
async function makeRootFileSystem(folder: string, work: string): Promise<void> {
  const isPackage = (line: string) => /^[a-z]/.test(line);
  const packages = (await readFile(join(recipe, "packages.txt"), "utf8")).split("\n").filter(isPackage);
  const out = join(work, "out");
  await run("sh", ["-c", `cp -r "${recipe}/rootfs" "${recipe}/initrd" "${recipe}"/*.sh . && mkdir out`], { cwd: work });
  // The runtimes are installed next to it.
  await run("sh", ["-c", "chmod a+rx . && chmod -R a+rX rootfs initrd *.sh && chmod 0700 out"], { cwd: work });
  await writeFile(join(work, "processor.sh"), processorNames(), { mode: 0o644 });
  if (process.getuid?.() !== 0) await giveToNamespace(out);
  const customize = [join(work, "customize.sh"), '"$1"', work, join(work, "runtimes"), out, diskGiB].join(" ");
  const options = [
    "--variant=minbase",
    "--format=null",
    // No cleanup after the hook: the root is thrown away. The hook has removed apt's settings with all of /tmp, so apt
    // would clean up the host's package lists instead.
    "--skip=cleanup",
    // An interrupted build starts over. customize.sh undoes it.
    "--dpkgopt=force-unsafe-io",
    `--include=${packages.join(",")}`,
    `--customize-hook=${customize}`,
  ];
  await step("Debian packages", () =>
    run("mmdebstrap", [...options, ...leftOut.map((path) => `--dpkgopt=path-exclude=${path}`), suite, "/dev/null"], {
      steps: true,
    }),
  );
  console.log(`  its file systems hold ${(await readFile(join(out, "size-mib"), "utf8")).trim()} MiB`);
  const results = ["rootfs.img", "services.img", "vmlinuz", "initrd-base.img"].map((name) => join(out, name));
  if (process.getuid?.() === 0) await run("mv", [...results, folder]);
  else await run("cp", ["--sparse=always", "--reflink=auto", ...results, folder]);
}

/** The names that depend on the processor, as variables for customize.sh. */
function processorNames(): string {
  const { kernelPackage, packages, codexProgram } = processor;
  const { node, claude, opencode } = packages;
  return `kernel_package=${kernelPackage} node=${node} claude=${claude} opencode=${opencode} codex=${codexProgram}\n`;
}

/** In the namespace that unshare makes, the builder is 0 and the root of mmdebstrap's namespace is 1. */
async function giveToNamespace(folder: string): Promise<void> {
  const give = ["sh", "-c", 'chgrp 1 "$1" && chmod 0770 "$1"', "sh", folder];
  await run("unshare", ["--map-root-user", "--map-auto", ...give]);
}
