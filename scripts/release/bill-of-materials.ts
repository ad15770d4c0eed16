import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");

/** The parts of CycloneDX 1.5 that this file changes. https://cyclonedx.org/docs/1.5/json/ */
interface Bill {
  serialNumber: string;
  metadata: { timestamp: string; component: Record<string, unknown> };
  components: { "bom-ref": string }[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

/** Everything from npm that a release has. */
export interface Materials {
  /** A CycloneDX document: the same for the same inputs. */
  bill: string;
  /** The packages' folders. */
  folders: string[];
}

/** This repository's own workspace of tests has no production packages. */
const unreleased = /^berth-package-tests@/;

/** Lists the production packages of the lock files that are installed here. `npm` is the folder of the package's own npm. */
export async function materialsOf(version: string, epoch: number, npm: string): Promise<Materials> {
  // Its own npm writes both, so that the host's makes no difference.
  const program = join(npm, "node_modules/.bin/npm");
  const [own, added] = await Promise.all([repository, npm].map((folder) => billOf(folder, program)));
  const [installed, installedToo] = await Promise.all([repository, npm].map(installedPackages));
  const [bill, other] = [own!, added!];
  const isReleased = (ref: string) =>
    (installed!.has(ref) || installedToo!.has(ref) || ref.startsWith("@berth/")) && !unreleased.test(ref);
  const byRef = new Map([...other.components, ...bill.components].map((each) => [each["bom-ref"], each]));
  const refs = [...byRef.keys()].filter(isReleased).sort();
  bill.components = refs.map((ref) => byRef.get(ref)!);
  const root = String(bill.metadata.component["bom-ref"]);
  const dependencies = new Map([...other.dependencies, ...bill.dependencies].map((each) => [each.ref, each]));
  bill.dependencies = [root, ...refs].map((ref) => ({
    ref,
    dependsOn: (dependencies.get(ref)?.dependsOn ?? []).filter(isReleased).sort(),
  }));
  // npm gives the name of the checkout's folder.
  Object.assign(bill.metadata.component, { name: "berth", version, type: "application" });
  bill.metadata.timestamp = new Date(epoch * 1000).toISOString();
  bill.serialNumber = "";
  bill.serialNumber = `urn:uuid:${uuidOf(JSON.stringify(bill))}`;
  const folders = refs.flatMap((ref) => installed!.get(ref) ?? installedToo!.get(ref) ?? []);
  return { bill: `${JSON.stringify(bill, null, 2)}\n`, folders };
}

async function billOf(folder: string, program: string): Promise<Bill> {
  const words = ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only"];
  const { stdout } = await run(program, words, { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout) as Bill;
}

/** The folders of the lock file's packages, by `NAME@VERSION`. Those for other platforms are not installed. */
async function installedPackages(folder: string): Promise<Map<string, string>> {
  const { packages } = JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8")) as {
    packages: Record<string, { name?: string; version?: string; link?: true }>;
  };
  const found = new Map<string, string>();
  for (const [path, { name = path.split("node_modules/").at(-1)!, version, link }] of Object.entries(packages)) {
    if (path === "" || link || version === undefined || !existsSync(join(folder, path))) continue;
    found.set(`${name}@${version}`, join(folder, path));
  }
  return found;
}

/** A UUID of version 8 out of a hash (RFC 9562). */
function uuidOf(text: string): string {
  const digest = createHash("sha256").update(text).digest("hex");
  return digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, "$1-$2-8$3-8$4-$5");
}
