// Builds the command line tool of this checkout, which `berth` runs while no source is newer.

import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleTool } from "./tool-bundle.ts";

const target = fileURLToPath(new URL("../build/", import.meta.url));
// As deep as `src/cli`: its files find the checkout by their own path.
const partial = `${target.slice(0, -1)}.partial`;
await rm(partial, { recursive: true, force: true });
await bundleTool(join(partial, "cli"), `node${process.versions.node}`);
await mkdir(target, { recursive: true });
await rm(join(target, "cli"), { recursive: true, force: true });
await rename(join(partial, "cli"), join(target, "cli"));
await rm(partial, { recursive: true });
