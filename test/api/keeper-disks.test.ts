import { execFile } from "node:child_process";
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { DiskReserve } from "../../src/core/disk-reserve.ts";
import type { Passed } from "../../src/kubernetes/keeper-calls.ts";
import { askKeeper, type KeeperAddress, KeeperLost, passFiles, readFiles } from "../../src/kubernetes/keeper-client.ts";
import { PackedDisks } from "../../src/kubernetes/packed-disks.ts";
import { newFolder } from "../support/config.ts";
import {
  answering,
  fill,
  type Keeper,
  type Member,
  mebibyte,
  openKeeper,
  packed,
  record,
  resources,
  snapshot,
  templateIn,
} from "../support/keepers.ts";

// Disks of machines in pods, as a server exports them.

const maximumBytes = 100 * mebibyte;
const signal = new AbortController().signal;

let folder: string;
let template: Passed;
let one: Keeper;
let other: Keeper;
/** Where the server has disks. */
let exportsFolder: string;
let disks: PackedDisks;
/** The free space of a keeper's volume, in bytes. */
let free: number;

const run = promisify(execFile);
const pass = (passed: Passed, from: KeeperAddress = one.address, to: KeeperAddress = other.address) =>
  passFiles(passed, { from, to, maximumBytes, signal });

beforeAll(async () => {
  folder = await newFolder();
  template = await templateIn(folder);
});
beforeEach(async () => {
  free = 2 ** 40;
  exportsFolder = join(folder, "exports");
  disks = await PackedDisks.open(exportsFolder, new DiskReserve(folder, 0));
  one = await openKeeper(folder, "one", () => free);
  other = await openKeeper(folder, "other", () => free);
  await fill(one, template);
});
afterEach(async () => {
  await one[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});
afterAll(() => rm(folder, { recursive: true }));

const sparse = (extents: string) => extents.padEnd(512, "\0");
const disk = { kind: "disks", name: snapshot.name } as const;
const readDisk = (from: KeeperAddress) => {
  const files = readFiles(disk, { from, maximumBytes, signal });
  return disks.receive(snapshot.name, files, maximumBytes);
};

/** Gives a keeper's snapshot a real disk with `mebibytes` of data. */
async function fillDisk({ data }: Keeper, mebibytes: number): Promise<void> {
  const layer = join(data, "layers/layer/disk.qcow2");
  await run("qemu-img", ["create", "-q", "-f", "qcow2", layer, "100M"]);
  await run("qemu-io", ["-c", `write -q -P 7 0 ${mebibytes}M`, layer]);
  const lone = JSON.stringify(record(template, { template: null, resources: { ...resources, diskGiB: 1 } }));
  await writeFile(join(data, `snapshots/${snapshot.name}/snapshot.json`), lone);
}

test("a disk is packed, comes whole, and is given once", async () => {
  await fillDisk(one, 4);
  await askKeeper(one.address, "packDisk", [snapshot.name]);
  const path = await readDisk(one.address);
  const { stdout } = await run("qemu-img", ["info", "--output=json", path]);
  expect(JSON.parse(stdout)).toMatchObject({ format: "qcow2", "virtual-size": 100 * mebibyte });
  await run("qemu-io", ["-c", "read -P 7 0 4M", path]);
  expect((await stat(path)).size).toBeLessThan(6 * mebibyte);
  await rm(path);
  expect(await readdir(join(one.data, "exports"))).toEqual([]);
  await expect(readDisk(one.address)).rejects.toMatchObject({ code: "snapshot_not_found" });
  await expect(askKeeper(one.address, "packDisk", ["5ee3"])).rejects.toMatchObject({ code: "snapshot_not_found" });
  expect(await readdir(exportsFolder)).toEqual([]);
});

test("a disk that does not fit into the volume is refused and leaves nothing", async () => {
  await fillDisk(one, 4);
  free = 2 * mebibyte;
  await expect(askKeeper(one.address, "packDisk", [snapshot.name])).rejects.toMatchObject({
    code: "disk_full",
    message: expect.stringContaining("not enough disk space for the disk as one file"),
  });
  expect(await readdir(join(one.data, "exports"))).toEqual([]);
});

test("no keeper takes a disk, and what a pod gives for one is a disk and no more", async () => {
  await fillDisk(one, 1);
  await askKeeper(one.address, "packDisk", [snapshot.name]);
  await expect(pass(disk)).rejects.toMatchObject({ code: "path_not_found" });
  const name = `disks/${snapshot.name}/disk.qcow2`;
  const gives = async (...members: Member[]) => {
    await using source = await answering(one, (response) => {
      const archive = packed(response);
      for (const { content = "", ...header } of members) archive.entry(header, content);
      archive.finalize();
    });
    return await readDisk(source.address);
  };
  const end = { name: "manifest.json", content: '{"files":[]}' };
  await expect(gives(end)).rejects.toMatchObject({ code: "machine_failed" });
  await expect(gives({ name })).rejects.toThrow("is cut off");
  for (const content of [" ".repeat(3_000), `{"files":[${"0,".repeat(100)}0]}`]) {
    await expect(gives({ name: "manifest.json", content })).rejects.toThrow(
      "manifest.json of the archive is too large",
    );
  }
  await expect(gives({ name, content: "x" }, end)).rejects.toMatchObject({ code: "machine_failed" });
  await expect(gives({ name: `disks/${snapshot.name}/other` })).rejects.toThrow("no file with the name");
  await expect(gives({ name, type: "symlink", linkname: "/etc/passwd" })).rejects.toThrow("is a symlink");
  const huge = `disks/${snapshot.name}/GNUSparseFile.0/disk.qcow2`;
  await expect(gives({ name: huge, content: sparse("1\n9007199254740000\n0\n") })).rejects.toThrow("more than");
  await using cut = await answering(one, (response) => response.destroy());
  await expect(readDisk(cut.address)).rejects.toBeInstanceOf(KeeperLost);
  expect(await readdir(exportsFolder)).toEqual([]);
});
