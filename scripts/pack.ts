// Makes the npm packages in the folder of the first argument (`dist` by default): the client (@berth/client) and the tool
// (@berth/cli), which talk to a service elsewhere and run on Node 20 and newer, and the server (@berth/server). More arguments
// choose among them: `client`, `cli`, `server`.

import { execFileSync } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { stageServer } from "./release/server-package.ts";
import { bundleTool } from "./tool-bundle.ts";

const checkout = fileURLToPath(new URL("../", import.meta.url));
const target = resolve(process.argv[2] ?? join(checkout, "dist"));
const staging = await mkdtemp(join(tmpdir(), "berth-pack-"));
try {
  await mkdir(target, { recursive: true });
  const stages = { client: stageClient, cli: stageTool, server: () => stageServer(join(staging, "server")) };
  const chosen = process.argv.slice(3);
  for (const [name, stage] of Object.entries(stages)) {
    if (chosen.length === 0 || chosen.includes(name)) pack(await stage());
  }
} finally {
  await rm(staging, { recursive: true });
}

async function stageClient(): Promise<string> {
  const folder = join(staging, "client");
  const project = join(checkout, "packages/client/tsconfig.build.json");
  execFileSync("tsc", ["--project", project, "--outDir", join(folder, "dist")], { stdio: "inherit" });
  const { exports: _, ...described } = await readJson("packages/client/package.json");
  await stage(folder, "docs/client.md", {
    ...described,
    exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" } },
    files: ["dist"],
  });
  return folder;
}

/** In `src/cli`, as in the repository, so that its files find `package.json`. Each command is a file of its own. */
async function stageTool(): Promise<string> {
  const folder = join(staging, "tool");
  await bundleTool(join(folder, "src/cli"), "node20");
  const launcher = '#!/usr/bin/env node\nimport "./src/cli/main.js";\n';
  await writeFile(join(folder, "berth.js"), launcher, { mode: 0o755 });
  const { version, description, license } = await readJson("package.json");
  await stage(folder, "docs/cli.md", {
    ...{ name: "@berth/cli", version, description, license },
    type: "module",
    engines: { node: ">=20" },
    bin: { berth: "./berth.js" },
    files: ["berth.js", "src"],
  });
  return folder;
}

async function readJson(path: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(join(checkout, path), "utf8")) as Record<string, unknown>;
}

async function stage(folder: string, readme: string, described: Record<string, unknown>): Promise<void> {
  await writeFile(join(folder, "package.json"), `${JSON.stringify(described, null, 2)}\n`);
  await cp(join(checkout, readme), join(folder, "README.md"));
  await cp(join(checkout, "LICENSE"), join(folder, "LICENSE"));
}

function pack(folder: string): void {
  const args = ["pack", "--silent", "--pack-destination", target];
  console.log(join(target, execFileSync("npm", args, { cwd: folder, encoding: "utf8" }).trim()));
}
