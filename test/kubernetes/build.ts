import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";

// Builds Kubernetes from Debian's source package into a cache folder that is named by the hash of this recipe, and adds
// the other programs that a cluster needs. A folder is filled under another name and renamed when complete, so no partial
// build looks finished.

const run = promisify(execFile);

/** Debian's suite and its source package. apt takes the newest version of the suite, security updates included. */
const suite = "bookworm";
const sourcePackage = "kubernetes";
const programs = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet", "kube-proxy", "kubectl"];
/** Kubernetes 1.20 needs Go 1.15 or newer. */
const goFolder = "/usr/lib/go-1.19/bin";
/** Packages that are only unpacked. Installed, they would start services and enable them at each boot. */
const unpacked = ["etcd-server", "containerd", "runc", "containernetworking-plugins"];
const pauseFlags = ["-Os", "-Wall", "-Werror", "-static", "-DVERSION=debian"];

const cache = process.env.BERTH_CACHE_DIR ?? "/var/cache/berth";
/** A folder with enough space: sources and intermediate files take 2.5 GB. */
const workPlace = "/var/tmp";

if (import.meta.main) {
  const started = Date.now();
  const folder = await kubernetesPrograms();
  console.log(`Kubernetes ready: ${folder} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
}

/** The folder with all programs of a cluster, and in `cni` the plugins for the pods' network. Builds them where they are not in the cache, in about five minutes. */
export async function kubernetesPrograms(): Promise<string> {
  const inputs = JSON.stringify([suite, sourcePackage, programs, goFolder, unpacked, pauseFlags]);
  const name = `kubernetes-${createHash("sha256").update(inputs).digest("hex").slice(0, 16)}`;
  const folder = join(cache, name);
  if (await stat(folder).catch(() => null)) return folder;
  await mkdir(cache, { recursive: true });
  await removeAbandoned(cache, /^kubernetes-[0-9a-f]+\.partial-(\d+)$/);
  await removeAbandoned(workPlace, /^berth-kubernetes\.partial-(\d+)-\w+$/);
  const partial = `${folder}.partial-${process.pid}`;
  const work = await mkdtemp(join(workPlace, `berth-kubernetes.partial-${process.pid}-`));
  try {
    await mkdir(partial);
    await step("programs of Debian's packages", () => unpackPrograms(work, partial));
    const source = await step("source package", () => fetchSource(work));
    await step("Kubernetes, with Go", () => buildPrograms(source, work, partial));
    await run("gcc", [...pauseFlags, "-o", join(partial, "pause"), join(source, "build/pause/linux/pause.c")]);
    await rename(partial, folder);
  } catch (error) {
    if (!(await stat(folder).catch(() => null))) throw error; // Unless another build finished first.
  } finally {
    await rm(partial, { recursive: true, force: true });
    // Go makes its module cache read-only, which does not stop root.
    await rm(work, { recursive: true, force: true });
  }
  return folder;
}

/** Removes what killed builds left behind. The names contain their process ids. */
async function removeAbandoned(folder: string, pattern: RegExp): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = pattern.exec(name)?.[1];
    if (pid === undefined || (await stat(`/proc/${pid}`).catch(() => null))) continue;
    await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function unpackPrograms(work: string, folder: string): Promise<void> {
  const packages = join(work, "packages");
  await mkdir(packages);
  await run("apt-get", ["-qq", "update"]);
  await run("apt-get", ["-qq", "download", ...unpacked], { cwd: packages });
  for (const name of await readdir(packages)) {
    await run("dpkg-deb", ["--extract", join(packages, name), join(work, "root")]);
  }
  // runc's package has its program in both places.
  const copy = 'cp usr/bin/* "$1" && cp usr/sbin/* "$1" && cp -r usr/lib/cni "$1"';
  await run("sh", ["-c", copy, "sh", folder], { cwd: join(work, "root") });
}

/**
 * Fetches and unpacks the source package. apt verifies it: the release file's signature by Debian's keys, the rest by
 * checksums. Its package lists and settings are in `work`, so the machine's own stay as they are.
 */
async function fetchSource(work: string): Promise<string> {
  const settings = await aptSettings(work);
  const env = { ...process.env, APT_CONFIG: settings, DEBIAN_FRONTEND: "noninteractive" };
  const sources = join(work, "sources");
  await mkdir(sources);
  await run("apt-get", ["-qq", "update"], { env });
  const fetch = ["-qq", "source", "--only-source", `--target-release=${suite}`, sourcePackage];
  await run("apt-get", fetch, { env, cwd: sources, maxBuffer: 64 * 1024 ** 2 });
  const folders = (await readdir(sources, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  if (folders.length !== 1) throw new Error(`${sourcePackage} was not unpacked into one folder`);
  return join(sources, folders[0]!.name);
}

/** Settings by which apt reads the source entries of the machine's own package archives, and writes only into `work`. */
async function aptSettings(work: string): Promise<string> {
  const parts = join(work, "apt/sources.list.d");
  for (const folder of [parts, join(work, "apt/lists/partial"), join(work, "apt/archives/partial")]) {
    await mkdir(folder, { recursive: true });
  }
  const own = (await readdir("/etc/apt/sources.list.d").catch(() => [])).map((name) => `sources.list.d/${name}`);
  for (const name of ["sources.list", ...own]) {
    if (!/\.(list|sources)$/.test(name)) continue;
    const text = await readFile(join("/etc/apt", name), "utf8").catch(() => "");
    await writeFile(join(parts, name.split("/").at(-1)!), sourceEntries(text));
  }
  const settings = join(work, "apt/apt.conf");
  const values = {
    "Dir::Etc::sourcelist": "/dev/null",
    "Dir::Etc::sourceparts": parts,
    "Dir::State::lists": join(work, "apt/lists"),
    "Dir::Cache": join(work, "apt"),
  };
  await writeFile(
    settings,
    Object.entries(values)
      .map(([key, value]) => `${key} "${value}";\n`)
      .join(""),
  );
  return settings;
}

/** Turns entries for binary packages into entries for sources, in both of apt's formats (sources.list(5)). */
function sourceEntries(text: string): string {
  return text.replace(/^deb(?=\s)/gm, "deb-src").replace(/^Types:.*$/gim, "Types: deb-src");
}

/** Runs the source's own make, as Debian's rules do, and moves the programs into `folder`. */
async function buildPrograms(source: string, work: string, folder: string): Promise<void> {
  const goPath = join(work, "go");
  const env = {
    PATH: `${goFolder}:/usr/sbin:/usr/bin:/sbin:/bin`,
    HOME: work,
    GOPATH: goPath,
    GOCACHE: join(work, "go-cache"),
    GOPROXY: "off", // Everything is in the source package.
    CGO_ENABLED: "0",
  };
  const log = createWriteStream(join(work, "make.log"));
  const targets = programs.map((name) => `cmd/${name}`).join(" ");
  const make = spawn("nice", ["make", `WHAT=${targets}`], { cwd: source, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve, reject) => make.on("error", reject).on("close", resolve));
  make.stderr.pipe(log, { end: false });
  await pipeline(make.stdout, log, { end: false });
  if ((await ended) !== 0)
    throw new Error(`make failed:\n${(await readFile(join(work, "make.log"), "utf8")).slice(-4_000)}`);
  const { stdout } = await run("find", [join(source, "_output/local/bin"), "-type", "f", "-perm", "-u+x"]);
  const built = stdout.trim().split("\n");
  for (const name of programs) {
    const path = built.find((each) => each.endsWith(`/${name}`));
    if (!path) throw new Error(`make did not build ${name}`);
    // The work place may be on another file system.
    await run("cp", [path, join(folder, name)]);
  }
}

async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
  const begun = Date.now();
  console.log(`  ${name} …`);
  const result = await work();
  console.log(`  ${name} done (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
  return result;
}
