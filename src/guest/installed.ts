import { execFile } from "node:child_process";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Installed, Package } from "../contract/archives.ts";

const run = promisify(execFile);
const packageFolder = "/var/lib/dpkg/info";
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what dpkg-query fills in.
const packageFormat = "--showformat=${binary:Package}\t${Version}\n";
const most = 10_000;

export async function installed(): Promise<Installed> {
  // The link to Node is the last step of the image's build.
  const built = await lstat("/usr/local/bin/node").then(
    ({ mtimeMs }) => mtimeMs,
    () => Number.POSITIVE_INFINITY,
  );
  const [apt, npm] = await Promise.all([aptPackages(built), npmPackages()]);
  const told = (each: object) => Package.safeParse(each).success;
  return { apt: apt.filter(told).slice(0, most), npm: npm.filter(told).slice(0, most) };
}

/** Debian's packages that were requested, without dependencies. */
async function aptPackages(since: number): Promise<Installed["apt"]> {
  const fresh: string[] = [];
  for (const name of await readdir(packageFolder).catch(() => [])) {
    if (!name.endsWith(".list")) continue;
    if ((await lstat(join(packageFolder, name))).mtimeMs > since) fresh.push(name.slice(0, -".list".length));
  }
  if (fresh.length === 0) return [];
  const asked = new Set((await output("apt-mark", ["showmanual"])).split("\n"));
  const rows = (await output("dpkg-query", ["--show", packageFormat])).split("\n");
  const versions = new Map(rows.map((row) => row.split("\t") as [string, string]));
  return fresh.sort().flatMap((name) => {
    const short = name.split(":")[0]!;
    const version = versions.get(name) ?? versions.get(short);
    return version !== undefined && (asked.has(name) || asked.has(short)) ? [{ name: short, version }] : [];
  });
}

async function npmPackages(): Promise<Installed["npm"]> {
  const found = await packagesIn("/usr/local/lib/node_modules");
  return found.filter(({ name }) => name !== "npm" && name !== "corepack");
}

async function packagesIn(folder: string): Promise<Installed["npm"]> {
  const names = await readdir(folder).catch(() => []);
  const paths = await Promise.all(
    names.map(async (name) =>
      name.startsWith("@") ? (await readdir(join(folder, name))).map((each) => `${name}/${each}`) : [name],
    ),
  );
  const found = await Promise.all(
    paths
      .flat()
      .sort()
      .map((name) => packageAt(join(folder, name), name)),
  );
  return found.filter((each) => each !== null);
}

async function packageAt(path: string, name: string): Promise<Installed["npm"][number] | null> {
  try {
    const { version } = JSON.parse(await readFile(join(path, "package.json"), "utf8")) as { version: unknown };
    return { name, version: String(version) };
  } catch {
    return null;
  }
}

async function output(program: string, args: string[]): Promise<string> {
  const { stdout } = await run(program, args, { maxBuffer: 16 * 1024 * 1024 }).catch(() => ({ stdout: "" }));
  return stdout;
}
