import { cp } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const repository = join(import.meta.dirname, "../..");

/** Copies the npm packages that a program of this repository imports, and those that they import, to `node_modules` in `app`. */
export async function addImportedPackages(app: string, program: string): Promise<void> {
  const { metafile } = await build({
    absWorkingDir: repository,
    entryPoints: [program],
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    metafile: true,
  });
  const folders = Object.keys(metafile.inputs).map((path) => /^node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  for (const folder of new Set(folders)) {
    if (folder !== undefined) await cp(join(repository, folder), join(app, folder), { recursive: true });
  }
}
