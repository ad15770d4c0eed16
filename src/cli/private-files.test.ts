import { mkdir, mkdtempDisposable, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readJson, replaceFile, replaceJson } from "./private-files.ts";

test("a replaced file is readable by its user alone, whatever its mode was", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "berth-private-"));
  const path = join(folder.path, "new", "file");
  await replaceFile(path, "one");
  expect((await stat(join(folder.path, "new"))).mode & 0o777).toBe(0o700);
  await writeFile(path, "two", { mode: 0o644 });
  await replaceFile(path, "three");
  expect(await readFile(path, "utf8")).toBe("three");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("a file that cannot be replaced leaves no partial one behind", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "berth-private-"));
  await mkdir(join(folder.path, "busy", "child"), { recursive: true });
  await expect(replaceFile(join(folder.path, "busy"), "text")).rejects.toThrow();
  expect(await readdir(folder.path)).toEqual(["busy"]);
});

test("a damaged file is named with its remedy, and a missing one is null", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "berth-private-"));
  const path = join(folder.path, "file.json");
  const read = () => readJson<{ a?: number }>(path, ({ a }) => a !== undefined, "sign in again.");
  expect(read()).toBe(null);
  await replaceJson(path, { a: 1 });
  expect(read()).toEqual({ a: 1 });
  for (const text of ["{", "{}"]) {
    await writeFile(path, text);
    expect(read).toThrow(`${path} is damaged. Remove it and sign in again.`);
  }
});
