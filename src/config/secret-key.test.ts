import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { secretKeyOf } from "./secret-key.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-test-"));
});
afterEach(() => rm(folder, { recursive: true }));

test("a secret key is made once, for its owner alone to read", async () => {
  const key = await secretKeyOf(folder);
  expect(Buffer.from(key, "base64")).toHaveLength(32);
  expect(await secretKeyOf(folder)).toBe(key);
  expect(await readdir(folder)).toEqual(["secret.key"]);
  expect((await stat(join(folder, "secret.key"))).mode & 0o777).toBe(0o600);
});

test("a file that holds none stops the start, and is left as it is", async () => {
  const file = join(folder, "secret.key");
  await writeFile(file, "c2hvcnQ=\n");
  await expect(secretKeyOf(folder)).rejects.toThrow(/secret\.key holds no secret key: 32 bytes in base64/);
  expect(await readFile(file, "utf8")).toBe("c2hvcnQ=\n");
});

test("a file that cannot be read stops the start", async () => {
  await expect(secretKeyOf(join(folder, "secret.key", "nowhere"))).rejects.toThrow(/ENOENT/);
});
