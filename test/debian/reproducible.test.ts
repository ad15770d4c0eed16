import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { newFolder } from "../support/config.ts";

const run = promisify(execFile);
const repository = join(import.meta.dirname, "../..");

test("the release of a commit has the same bytes with another umask, time zone, locale and folder", async () => {
  const folder = await newFolder();
  try {
    const program = 'umask 077 && exec "$0" scripts/release/main.ts --out "$1"';
    const env = { ...process.env, TZ: "Asia/Kathmandu", LC_ALL: "C" };
    await run("sh", ["-c", program, process.execPath, join(folder, "release")], { cwd: repository, env });
    const sums = (parent: string) => readFile(join(parent, "release/SHA256SUMS"), "utf8");
    expect(await sums(folder)).toBe(await sums(join(repository, "build")));
  } finally {
    await rm(folder, { recursive: true });
  }
});
