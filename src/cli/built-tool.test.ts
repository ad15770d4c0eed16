import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleTool } from "../../scripts/tool-bundle.ts";
import { readVersion } from "./checkout.ts";

const run = promisify(execFile);
const checkout = fileURLToPath(new URL("../../", import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-test-tool-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("the built tool", () => {
  let main: string;
  beforeAll(async () => {
    await bundleTool(join(folder, "whole/build/cli"), "node24");
    await cp(join(checkout, "package.json"), join(folder, "whole/package.json"));
    main = join(folder, "whole/build/cli/main.js");
  });

  test("prints its version, completes commands, and shows help", async () => {
    const printed = async (...args: string[]) => (await run(process.execPath, [main, ...args])).stdout;
    expect(await printed("--version")).toBe(`${readVersion()}\n`);
    expect(await printed("complete", "--", "agents", "res")).toBe("resume\nrestart\nreset\n");
    expect(await printed("complete", "--", "keys", "create", "--kind", "")).toBe("full\nagent\n");
    expect(await printed("agents", "--help")).toContain("Usage: berth agents ");
  });

  test("loads little code before it knows the command", async () => {
    const loaded = new Set<string>();
    const load = async (file: string) => {
      if (loaded.has(file)) return;
      loaded.add(file);
      const text = await readFile(file, "utf8");
      for (const [, name] of text.matchAll(/(?:from|import)"\.\/([^"]+)"/g)) await load(join(file, "..", name!));
    };
    await load(main);
    const sizes = await Promise.all([...loaded].map(async (file) => (await stat(file)).size));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(10_000);
  });
});

test("`berth` runs the built tool, its source where that is newer, and both through a symlink", async () => {
  const lone = join(folder, "lone");
  await mkdir(join(lone, "node_modules/.bin"), { recursive: true });
  await symlink(process.execPath, join(lone, "node_modules/.bin/node"));
  for (const path of ["src/cli", "build/cli", "packages/client/src"])
    await mkdir(join(lone, path), { recursive: true });
  await writeFile(join(lone, "package.json"), '{ "type": "module" }');
  await writeFile(join(lone, "src/cli/main.ts"), 'console.log("source");');
  await writeFile(join(lone, "build/cli/main.js"), 'console.log("built");');
  await cp(join(checkout, "berth"), join(lone, "berth"));
  await symlink(join(lone, "berth"), join(folder, "linked"));
  const later = new Date(Date.now() + 60_000);
  const printed = async (program: string) => (await run(program, [])).stdout.trim();
  await utimes(join(lone, "build/cli/main.js"), later, later);
  expect([await printed(join(lone, "berth")), await printed(join(folder, "linked"))]).toEqual(["built", "built"]);
  const { stdout } = await run("sh", ["berth"], { cwd: lone });
  expect(stdout).toBe("built\n");
  const evenLater = new Date(Date.now() + 120_000);
  await utimes(join(lone, "src/cli/main.ts"), evenLater, evenLater);
  expect([await printed(join(lone, "berth")), await printed(join(folder, "linked"))]).toEqual(["source", "source"]);
  await rm(join(lone, "build"), { recursive: true });
  expect(await printed(join(lone, "berth"))).toBe("source");
});
