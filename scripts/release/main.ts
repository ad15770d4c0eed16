// Makes the artefacts of a release in build/release, or in the folder of `--out`: with `deb`, only the Debian package;
// with `container`, only that and the container image.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtempDisposable, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { readVersion } from "../../src/config/version.ts";
import { materialsOf } from "./bill-of-materials.ts";
import { changesOf, commitsSinceTag } from "./changes.ts";
import { makeContainerImage } from "./container.ts";
import { makeDebianPackage } from "./debian.ts";
import { licencesText } from "./licences.ts";
import { assembleTree } from "./tree.ts";

const repository = join(import.meta.dirname, "../..");
const { values, positionals } = parseArgs({ options: { out: { type: "string" } }, allowPositionals: true });
const out = resolve(values.out ?? join(repository, "build/release"));
const version = await readVersion();
const epoch = releaseTime();
// Packed files have the modes that their programs give them.
process.umask(0o022);

if (values.out === undefined) await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
if ((await readdir(out)).length > 0) throw new Error(`${out} is not empty.`);
await using staging = await mkdtempDisposable(join(out, ".tree-"));
await assembleTree(staging.path, version);
const { bill, folders } = await materialsOf(version, epoch, join(staging.path, "npm"));
const licences = await licencesText(folders);
const debianPackage = await makeDebianPackage(staging.path, out, { version, epoch, licences });
const [only] = positionals;
if (only !== "deb") await makeContainerImage(debianPackage, out, version, epoch);
if (only === undefined) {
  execFileSync(process.execPath, [join(repository, "scripts/pack.ts"), out], { cwd: repository });
  await writeFile(join(out, `berth-${version}.cdx.json`), bill);
  await writeFile(join(out, `berth-${version}.licences.txt`), licences);
  const changelog = await readFile(join(repository, "CHANGELOG.md"), "utf8");
  const changes = changesOf(changelog, version) + commitsSinceTag(repository);
  await writeFile(join(out, `berth-${version}.changes.md`), changes);
  // The file for `berth version --check`.
  await writeFile(join(out, "release.json"), `${JSON.stringify({ version }, null, 2)}\n`);
}
const files = (await readdir(out)).filter((name) => !name.startsWith(".")).sort();
const sums = await Promise.all(files.map(async (name) => `${await sumOf(join(out, name))}  ${name}\n`));
await writeFile(join(out, "SHA256SUMS"), sums.join(""));
for (const name of [...files, "SHA256SUMS"]) console.log(join(out, name));

async function sumOf(file: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
}

/** `SOURCE_DATE_EPOCH`, or the time of the commit. https://reproducible-builds.org/specs/source-date-epoch/ */
function releaseTime(): number {
  const text = process.env.SOURCE_DATE_EPOCH ?? execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: repository });
  const seconds = Number(String(text).trim());
  if (!Number.isSafeInteger(seconds) || seconds <= 0) throw new Error("SOURCE_DATE_EPOCH is not a number of seconds.");
  return seconds;
}
