import { execFile } from "node:child_process";
import { cp, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");
/** Is in this repository. */
const workspace = "@berth/client";

/**
 * The folders of all npm packages that the server needs at run time, nested ones too. Throws if a dependency is missing,
 * because npm's list can be empty then.
 */
export async function productionPackages(): Promise<string[]> {
  const list = ["ls", "--omit=dev", "--all", "--parseable", "--workspaces=false"];
  // npm complains of what is optional, or not installed here, and lists all the same.
  const { stdout } = await run("npm", list, { cwd: repository }).catch((error: { stdout: string }) => error);
  const modules = `${repository}/node_modules/`;
  const found = stdout.split("\n").filter((path) => path.startsWith(modules));
  const { dependencies } = JSON.parse(await readFile(join(repository, "package.json"), "utf8"));
  const isMissing = (name: string) => name !== workspace && !found.includes(modules + name);
  const missing = Object.keys(dependencies).filter(isMissing);
  if (missing.length > 0) throw new Error(`These npm packages are not installed: ${missing.join(", ")}. Run npm ci.`);
  return found;
}

/** Copies packages of the repository to the same places in `app`. `isNeeded` decides on each file. */
export async function copyPackages(
  folders: readonly string[],
  app: string,
  isNeeded: (path: string) => boolean = () => true,
): Promise<void> {
  for (const folder of folders) {
    // Each nested package has an entry of its own.
    const filter = (path: string) => !relative(folder, path).split("/").includes("node_modules") && isNeeded(path);
    await cp(folder, join(app, relative(repository, folder)), { recursive: true, filter, dereference: true });
  }
}
