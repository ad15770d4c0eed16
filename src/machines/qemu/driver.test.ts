import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DiskReserve } from "../../core/disk-reserve.ts";
import { QemuDriver } from "./driver.ts";
import { Layout } from "./layout.ts";
import { Sandbox } from "./sandbox.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-driver-"));
});
afterEach(() => rm(folder, { recursive: true }));

function optionsWith(log: string[]) {
  return {
    layout: new Layout(join(folder, "data")),
    reserve: new DiskReserve(folder, 0),
    builtImage: join(folder, "image"),
    acceleration: { choice: "tcg", probeMs: 0 },
    usualResources: () => ({ cpus: 1, memoryMiB: 64, diskGiB: 1 }),
    serveTemplateUplink: () => {},
    log: (message: string) => log.push(message),
  } as const;
}

/** Opens the driver and closes it. Returns what it logged, also where it cannot be opened. */
async function opened(): Promise<{ log: string[]; code: string | null }> {
  const log: string[] = [];
  try {
    await (await QemuDriver.open(optionsWith(log))).close();
    return { log, code: null };
  } catch (error) {
    return { log, code: (error as { code: string }).code };
  }
}

async function writeImage(...names: string[]): Promise<void> {
  await mkdir(join(folder, "image"), { recursive: true });
  for (const name of names) await writeFile(join(folder, "image", name), "{}");
  await writeFile(join(folder, "image", "image.json"), JSON.stringify({ id: "img" }));
}

test("logs incomplete sandboxing once, after the driver opens", async () => {
  expect(await opened()).toEqual({ log: [], code: "image_missing" });
  await writeImage();
  expect(await opened()).toEqual({ log: [], code: "image_invalid" });
  await writeImage("rootfs.img", "services.img", "vmlinuz", "initrd.img");
  const { gaps } = await Sandbox.open({ onlyCheck: true });
  const told = gaps.map((gap) => `machines are not fully confined: ${gap}`);
  expect(await opened()).toEqual({ log: told, code: null });
});

test("removing a snapshot waits for no sweep of the host's files", async () => {
  await writeImage("rootfs.img", "services.img", "vmlinuz", "initrd.img");
  const driver = await QemuDriver.open(optionsWith([]));
  try {
    const namesIn = (name: string) => readdir(join(folder, "data", name));
    for (const path of ["layers/unused", "snapshots/5ee2"])
      await mkdir(join(folder, "data", path), { recursive: true });
    await driver.removeSnapshot("5ee2");
    expect([await namesIn("snapshots"), await namesIn("layers")]).toEqual([[], ["unused"]]);
    await driver.sweep();
    expect(await namesIn("layers")).toEqual([]);
  } finally {
    await driver.close();
  }
});
