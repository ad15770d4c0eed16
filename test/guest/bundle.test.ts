import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { bundle } from "../../image/bundle.ts";

test("the bundled runner is a module that Node can load", async () => {
  const folder = await mkdtemp(join(tmpdir(), "berth-test-bundle-"));
  try {
    const file = join(folder, "runner.mjs");
    await writeFile(file, await bundle(fileURLToPath(new URL("../../src/guest/program.ts", import.meta.url))));
    await expect(promisify(execFile)(process.execPath, ["--check", file])).resolves.toBeDefined();
  } finally {
    await rm(folder, { recursive: true });
  }
});
