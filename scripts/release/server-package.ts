import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { assembleSources } from "./tree.ts";

const repository = join(import.meta.dirname, "../..");

/**
 * The npm package of the server: a program that runs on the host's Node, and the tree that it installs. npm installs no
 * dependencies of it: the program does, by the lock file, next to the tree. Returns `folder`.
 */
export async function stageServer(folder: string): Promise<string> {
  const { version, description, license } = JSON.parse(await readFile(join(repository, "package.json"), "utf8"));
  const tree = join(folder, "tree");
  await assembleSources(tree, version);
  const from = (path: string, to: string) => cp(join(repository, path), join(folder, to));
  for (const name of ["setup", "npm-packages"]) await from(`scripts/${name}`, `tree/scripts/${name}`);
  for (const name of ["up", "image"]) await from(`deploy/npm/${name}`, `tree/scripts/${name}`);
  await from("deploy/npm/berth", "tree/berth");
  await from("deploy/npm/berth-server.cjs", "berth-server.cjs");
  await from("LICENSE", "LICENSE");
  await from("docs/install-npm.md", "README.md");
  await writeFile(join(tree, "package-lock.json"), await lockText(await readFile(join(tree, "package.json"), "utf8")));
  await mkdir(join(tree, "node_modules"), { recursive: true });
  const described = {
    ...{ name: "@berth/server", version, description, license },
    engines: { node: ">=18" },
    os: ["linux"],
    cpu: ["x64"],
    bin: { "berth-server": "./berth-server.cjs" },
    files: ["berth-server.cjs", "tree"],
  };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(described, null, 2)}\n`);
  return folder;
}

interface LockedPackage {
  dev?: boolean;
  link?: boolean;
}

/** The repository's lock file for this `package.json`: without workspaces and without what only development needs. */
async function lockText(packageJson: string): Promise<string> {
  const lock = JSON.parse(await readFile(join(repository, "package-lock.json"), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  const { name, version, license, dependencies } = JSON.parse(packageJson);
  const isNeeded = ([path, { dev, link }]: [string, LockedPackage]) =>
    path.startsWith("node_modules/") && !dev && !link;
  const packages = Object.fromEntries(Object.entries(lock.packages).filter(isNeeded));
  const root = { name, version, license, dependencies };
  return `${JSON.stringify({ ...lock, name, version, packages: { "": root, ...packages } }, null, 2)}\n`;
}
