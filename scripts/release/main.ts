// Makes the Debian package in build/release, or in the folder of `--out`. `--version` replaces the version of package.json.

import { execFileSync } from "node:child_process";
import { mkdir, mkdtempDisposable, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { makeDebianPackage } from "./debian.ts";
import { licencesText } from "./licences.ts";
import { productionPackages } from "./production-packages.ts";
import { assembleTree } from "./tree.ts";

const repository = join(import.meta.dirname, "../..");
const { values } = parseArgs({ options: { out: { type: "string" }, version: { type: "string" } } });
const out = resolve(values.out ?? join(repository, "build/release"));
const version = values.version ?? (await packageVersion());

await mkdir(out, { recursive: true });
await using staging = await mkdtempDisposable(join(out, ".tree-"));
await assembleTree(staging.path, version);
const licences = await licencesText(await productionPackages(), repository);
console.log(await makeDebianPackage(staging.path, out, { version, epoch: releaseTime(), licences }));

async function packageVersion(): Promise<string> {
  return (JSON.parse(await readFile(join(repository, "package.json"), "utf8")) as { version: string }).version;
}

/** `SOURCE_DATE_EPOCH`, or the time of the commit. https://reproducible-builds.org/specs/source-date-epoch/ */
function releaseTime(): number {
  const text = process.env.SOURCE_DATE_EPOCH ?? execFileSync("git", ["log", "-1", "--format=%ct"], { cwd: repository });
  const epoch = Number(String(text).trim());
  if (!Number.isSafeInteger(epoch) || epoch <= 0) throw new Error("SOURCE_DATE_EPOCH is not a number of seconds.");
  return epoch;
}
