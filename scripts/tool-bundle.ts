import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { treeOf } from "../src/cli/completion.ts";
import { createProgram } from "../src/cli/program.ts";

const entry = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));

/**
 * Builds the command line tool: `main.js`, a file for each command, and the tree of commands for completion. `target` is
 * the oldest Node that it has to run on, such as `node20`.
 */
export async function bundleTool(folder: string, target: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "node",
    target,
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  await writeFile(join(folder, "commands.json"), JSON.stringify(treeOf(await createProgram([]))));
}
