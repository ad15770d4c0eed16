import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { lastBuiltImage } from "../../src/machines/qemu/open.ts";
import { runtimes } from "../support/real-runtimes.ts";

/** The names in a folder of what is the service's; none where there is no such folder. */
async function namesIn(image: string, folder: string): Promise<string[]> {
  const list = ["-R", `ls -p ${folder}`, join(image, "services.img")];
  const { stdout } = await promisify(execFile)("/usr/sbin/debugfs", list);
  // Its fields are the inode, mode, user, group, name and size.
  const names = stdout.split("\n").map((line) => line.split("/")[5] ?? "");
  return names.filter((name) => name !== "" && !name.startsWith("."));
}

test("OpenClaw's image has all runtimes and what its build prepared; the other has the rest of the runtimes", async () => {
  const plain = (await lastBuiltImage())!;
  const apart = `${plain}.openclaw`;
  expect(await namesIn(plain, "/")).toEqual(["lost+found", "modules", "node_modules", "system"]);
  expect(await namesIn(apart, "/")).toEqual(["lost+found", "modules", "node_modules", "openclaw", "system"]);
  expect(await namesIn(apart, "/openclaw")).toEqual(["compile-cache", "state"]);
  for (const { name, package: path } of runtimes) {
    expect(await namesIn(apart, `/node_modules/${path}`)).toContain("package.json");
    if (name === "openclaw") expect(await namesIn(plain, `/node_modules/${path}`)).toEqual([]);
    else expect(await namesIn(plain, `/node_modules/${path}`)).toContain("package.json");
  }
});

test("the images of all runtimes have one root file system", async () => {
  const plain = (await lastBuiltImage())!;
  const [one, other] = await Promise.all([plain, `${plain}.openclaw`].map((image) => stat(join(image, "rootfs.img"))));
  expect(one!.ino).toBe(other!.ino);
});
