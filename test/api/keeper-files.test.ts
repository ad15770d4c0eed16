import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { type Header, type Pack, pack } from "tar-stream";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { DiskReserve } from "../../src/core/disk-reserve.ts";
import type { Passed } from "../../src/kubernetes/keeper-calls.ts";
import { askKeeper, type KeeperAddress, KeeperLost, passFiles, readFiles } from "../../src/kubernetes/keeper-client.ts";
import { KeeperServer } from "../../src/kubernetes/keeper-server.ts";
import { PackedDisks } from "../../src/kubernetes/packed-disks.ts";
import { PassedFiles } from "../../src/kubernetes/passed-files.ts";
import { TemplateUplinks } from "../../src/kubernetes/template-uplinks.ts";
import { QemuDriver } from "../../src/machines/qemu/driver.ts";
import { hostKhz, hostProcessor } from "../../src/machines/qemu/probe.ts";
import { qemuVersion } from "../../src/machines/qemu/process.ts";
import { templateKey } from "../../src/machines/qemu/template.ts";
import { newFolder } from "../support/config.ts";
import { machineSpec } from "../support/machine-spec.ts";

// Files that pass between the keepers of two machines. Keepers and drivers are real; there are no guests.

const mebibyte = 1024 ** 2;
const resources = { cpus: 1, memoryMiB: 64, diskGiB: 10 };
const snapshot = { kind: "snapshots", name: "5ee2" } as const;
const maximumBytes = 100 * mebibyte;
const signal = new AbortController().signal;

let folder: string;
let template: Passed;
let one: Keeper;
let other: Keeper;
/** Where the server has disks. */
let exportsFolder: string;
let disks: PackedDisks;
/** What a keeper's volume has left, in bytes. */
let free: number;

const run = promisify(execFile);

interface Keeper extends AsyncDisposable {
  address: KeeperAddress;
  data: string;
}

async function openKeeper(name: string): Promise<Keeper> {
  const data = join(folder, name);
  await mkdir(data);
  const images = join(folder, "images");
  const driver = await QemuDriver.open({
    dataFolder: data,
    reserve: new (class extends DiskReserve {
      override async left() {
        return free;
      }
    })(data, 0),
    builtImage: join(images, "img"),
    imagesApart: images,
    accelerator: "tcg",
    usualResources: () => resources,
    serveTemplateUplink: () => {},
    onlyMadeTemplates: true,
    onlyWholeMemory: true,
    log: () => {},
  });
  const server = await KeeperServer.listen({
    driver,
    files: await PassedFiles.open(driver, join(data, "passed")),
    uplinks: new TemplateUplinks(),
    token: name,
    epochFile: join(data, "epoch"),
    host: "127.0.0.1",
    port: 0,
  });
  return {
    address: { host: "127.0.0.1", port: server.port, token: name, epoch: 1 },
    data,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await driver.close();
      await rm(data, { recursive: true });
    },
  };
}

const put = async (keeper: Keeper, path: string, content: string | Buffer) => {
  const file = join(keeper.data, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
};

const record = (changes: object = {}) => ({
  runtime: "claude-code",
  resources,
  imageId: "img",
  bootImageId: "img",
  template: template.name,
  layers: ["layer"],
  memory: null,
  token: "secret",
  nextToken: null,
  ...changes,
});

/** A template with 64 MiB of memory, most of it holes, and a snapshot that lies on it. */
async function fill(keeper: Keeper): Promise<void> {
  const of = (part: string) => `templates/${template.name}/${part}`;
  await put(keeper, of("disk.qcow2"), "a template's disk");
  await put(keeper, of("state"), "its devices");
  await put(keeper, of("memory"), "");
  {
    await using memory = await open(join(keeper.data, of("memory")), "w");
    await memory.write(Buffer.from("its memory"), 0, 10, 20 * mebibyte);
    await memory.truncate(64 * mebibyte);
  }
  const parts: Record<string, object> = {};
  for (const part of ["disk.qcow2", "memory", "state"]) {
    const { size, mtimeMs } = await stat(join(keeper.data, of(part)));
    parts[part] = { size, mtimeMs };
  }
  await put(keeper, of("template.json"), JSON.stringify({ imageId: "img", token: "t", parts }));
  await put(keeper, "layers/layer/disk.qcow2", Buffer.alloc(mebibyte, "layer"));
  await put(keeper, `snapshots/${snapshot.name}/snapshot.json`, JSON.stringify(record()));
}

/** The files of a machine, beside what every keeper has. */
async function filesOf({ data }: Keeper): Promise<string[]> {
  const found = await readdir(data, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => !entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
  return files
    .map((file) => file.slice(data.length + 1))
    .filter((file) => file !== "epoch")
    .toSorted();
}

const pass = (passed: Passed, from: KeeperAddress = one.address, to: KeeperAddress = other.address) =>
  passFiles(passed, { from, to, maximumBytes, signal });

beforeAll(async () => {
  folder = await newFolder();
  const image = join(folder, "images/img");
  await mkdir(image, { recursive: true });
  await writeFile(join(image, "image.json"), JSON.stringify({ id: "img", handshake: "proof" }));
  const host = { qemu: await qemuVersion(), ...(await hostProcessor("tcg")), hostKhz: await hostKhz() };
  const basis = { ...host, accelerator: "tcg", image: { id: "img" }, runtime: "claude-code", resources } as const;
  template = { kind: "templates", name: `${templateKey(basis as Parameters<typeof templateKey>[0])}-0123abcd` };
});
beforeEach(async () => {
  free = 2 ** 40;
  exportsFolder = join(folder, "exports");
  disks = await PackedDisks.open(exportsFolder, new DiskReserve(folder, 0));
  one = await openKeeper("one");
  other = await openKeeper("other");
  await fill(one);
});
afterEach(async () => {
  await one[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});
afterAll(() => rm(folder, { recursive: true }));

test("a snapshot passes with all that it lies on, and without what only new machines need", async () => {
  await pass(snapshot);
  expect(await filesOf(other)).toEqual([
    "layers/layer/disk.qcow2",
    `snapshots/${snapshot.name}/snapshot.json`,
    `templates/${template.name}/disk.qcow2`,
    `templates/${template.name}/template.json`,
  ]);
  const layer = (keeper: Keeper) => readFile(join(keeper.data, "layers/layer/disk.qcow2"));
  expect((await layer(other)).equals(await layer(one))).toBe(true);
  expect(await askKeeper(other.address, "snapshots", [])).toMatchObject([{ id: snapshot.name }]);
  // Once more, as after a crash.
  await pass(snapshot);
  expect(await filesOf(other)).toHaveLength(4);
  expect(await readdir(join(one.data, "passed"))).toEqual([]);
});

test("a template passes with its holes, and is one that passes on", async () => {
  await pass(template);
  const memory = await stat(join(other.data, "templates", template.name, "memory"));
  expect(memory.size).toBe(64 * mebibyte);
  expect(memory.blocks * 512).toBeLessThan(2 * mebibyte);
  // It counts as unchanged there, whatever the times of its files are.
  await using third = await openKeeper("third");
  await pass(template, other.address, third.address);
  expect(await filesOf(third)).toHaveLength(4);
  await rm(join(one.data, "templates", template.name, "state"));
  await expect(pass(template)).rejects.toMatchObject({ code: "template_failed" });
});

test("a template of another processor, image or size is refused before it comes", async () => {
  const name = "claude-code-0123456789abcdef-01234567";
  await expect(pass({ kind: "templates", name })).rejects.toMatchObject({ code: "template_failed" });
  await using source = await answering((response) => response.write(Buffer.alloc(mebibyte)));
  await expect(pass({ kind: "templates", name }, source.address)).rejects.toThrow("does not fit this machine");
});

test("a snapshot that is not there is told, and a path that leads elsewhere is none", async () => {
  await expect(pass({ ...snapshot, name: "5ee3" })).rejects.toMatchObject({ code: "snapshot_not_found" });
  for (const name of ["..", "../../epoch", "a/b", ""]) {
    await expect(pass({ ...snapshot, name })).rejects.toMatchObject({ code: "path_not_found" });
  }
});

test("who has not the machine's key, or an older term, neither reads nor brings files", async () => {
  await expect(pass(snapshot, { ...one.address, token: "other" })).rejects.toMatchObject({ code: "forbidden" });
  await expect(pass(snapshot, one.address, { ...other.address, token: "one" })).rejects.toMatchObject({
    code: "forbidden",
  });
  for (const keeper of [one, other]) await askKeeper({ ...keeper.address, epoch: 2 }, "snapshots", []);
  await expect(pass(snapshot)).rejects.toMatchObject({ code: "agent_elsewhere" });
  await expect(pass(snapshot, { ...one.address, epoch: 2 })).rejects.toMatchObject({ code: "agent_elsewhere" });
  expect(await filesOf(other)).toEqual([]);
});

test("a server that is deposed in the middle brings nothing", async () => {
  const begun = Promise.withResolvers<void>();
  await using source = await answering((response) => {
    const archive = packed(response);
    archive.entry({ name: `snapshots/${snapshot.name}/snapshot.json` }, JSON.stringify(record()));
    archive
      .entry({ name: "layers/layer/disk.qcow2", size: 4096 })
      .on("error", () => {})
      .write(Buffer.alloc(1024));
    begun.resolve();
  });
  const passing = pass(snapshot, source.address);
  await begun.promise;
  await expect.poll(() => filesOf(other)).toHaveLength(2);
  await askKeeper({ ...other.address, epoch: 2 }, "snapshots", []);
  await expect(passing).rejects.toThrow();
  await expect.poll(() => filesOf(other)).toEqual([]);
});

const listed = (path: string, text: string) => ({
  path,
  size: text.length,
  sha256: createHash("sha256").update(text).digest("hex"),
});

type Member = Partial<Header> & { name: string } & { content?: string };
const own = `snapshots/${snapshot.name}/snapshot.json`;
const sparse = (extents: string) => extents.padEnd(512, "\0");

test.each<[string, Member[], string]>([
  ["a path that leads out", [{ name: `snapshots/${snapshot.name}/../../x` }], "no file with the name"],
  ["an absolute path", [{ name: "/etc/passwd" }], "no file with the name"],
  ["a file of another kind", [{ name: "machines/a1/machine.json" }], "no file with the name"],
  ["a file of another snapshot", [{ name: "snapshots/5ee3/snapshot.json" }], "no file with the name"],
  ["a hidden file", [{ name: "layers/.ssh/keys" }], "no file with the name"],
  ["a link", [{ name: "layers/layer/disk.qcow2", type: "symlink", linkname: "/etc/passwd" }], "is a symlink"],
  ["a hard link", [{ name: "layers/layer/disk.qcow2", type: "link", linkname: own }], "is a link"],
  ["a device", [{ name: "layers/layer/disk.qcow2", type: "block-device" }], "is a block-device"],
  [
    "a file that is larger than any disk",
    [{ name: "layers/layer/GNUSparseFile.0/disk.qcow2", content: sparse("1\n9007199254740000\n0\n") }],
    "more than the machine's volume holds",
  ],
  ["too many files", Array.from({ length: 1001 }, (_, at) => ({ name: `layers/l${at}/disk` })), "more than"],
  ["a file twice", [{ name: "layers/layer/disk.qcow2" }, { name: "layers/layer/disk.qcow2" }], "already exists"],
  ["an end that is missing", [{ name: own, content: "{}" }], "is cut off"],
  ["no record", [{ name: "manifest.json", content: '{"files":[]}' }], "has no record"],
])("an archive with %s is refused, and leaves nothing", async (_, members, complaint) => {
  await using source = await answering((response) => {
    const archive = packed(response);
    for (const { content = "", ...header } of members) archive.entry(header, content);
    archive.finalize();
  });
  await expect(pass(snapshot, source.address)).rejects.toThrow(complaint);
  await expect.poll(() => filesOf(other)).toEqual([]);
});

test.each([
  ["layers", { layers: ["../../x"] }],
  ["a template", { template: "../x" }],
  ["memory", { memory: { kind: "stream", folder: "/etc" } }],
])("a record that looks for its %s elsewhere is refused", async (_, changes) => {
  // A machine that somebody has taken over gives what its own keeper would not make.
  await rm(join(one.data, "templates"), { recursive: true });
  await mkdir(join(one.data, "templates"));
  const text = JSON.stringify(record({ template: null, ...changes }));
  await using source = await answering((response) => {
    const archive = packed(response);
    archive.entry({ name: own }, text);
    archive.entry({ name: "manifest.json" }, JSON.stringify({ files: [listed(own, text)] }));
    archive.finalize();
  });
  await expect(pass(snapshot, source.address)).rejects.toThrow();
  expect(await filesOf(other)).toEqual([]);
});

test("a keeper that gives without end, or ends in the middle, is told as lost, and leaves nothing", async () => {
  await using endless = await answering(async (response) => {
    const archive = packed(response);
    const entry = archive.entry({ name: "layers/layer/disk.qcow2", size: 2 ** 40 });
    const zeros = async function* () {
      for (;;) yield Buffer.alloc(mebibyte);
    };
    await pipeline(zeros, entry).catch(() => {});
  });
  await expect(pass(snapshot, endless.address)).rejects.toBeInstanceOf(KeeperLost);
  await using cut = await answering((response) => {
    const archive = packed(response);
    archive
      .entry({ name: "layers/layer/disk.qcow2", size: 4096 })
      .on("error", () => {})
      .write(Buffer.alloc(1024));
    setTimeout(() => response.destroy(), 50);
  });
  await expect(pass(snapshot, cut.address)).rejects.toBeInstanceOf(KeeperLost);
  await using refusing = await answering((response) => {
    response.statusCode = 500;
    response.end("x".repeat(100_000));
  });
  await expect(pass(snapshot, refusing.address)).rejects.toBeInstanceOf(KeeperLost);
  await expect.poll(() => filesOf(other)).toEqual([]);
});

test("a template that came and is not usable is removed again", async () => {
  await using source = await answering(async (response) => {
    const record = JSON.stringify({ imageId: "img", token: "t", parts: {} });
    const path = `templates/${template.name}/template.json`;
    const archive = packed(response);
    archive.entry({ name: path }, record);
    archive.entry({ name: "manifest.json" }, JSON.stringify({ files: [listed(path, record)] }));
    archive.finalize();
  });
  await pass(template, source.address);
  expect(await filesOf(other)).toHaveLength(1);
  const spec = machineSpec("a1", { resources });
  // There is no guest image to boot from.
  await expect(askKeeper(other.address, "create", [spec])).rejects.toThrow();
  expect(await filesOf(other)).toEqual([]);
});

const disk = { kind: "disks", name: snapshot.name } as const;
const readDisk = (from: KeeperAddress) => {
  const files = readFiles(disk, { from, maximumBytes, signal });
  return disks.receive(snapshot.name, files, maximumBytes);
};

/** Has a keeper's snapshot have a real disk, of which `mebibytes` are written. */
async function fillDisk({ data }: Keeper, mebibytes: number): Promise<void> {
  const layer = join(data, "layers/layer/disk.qcow2");
  await run("qemu-img", ["create", "-q", "-f", "qcow2", layer, "100M"]);
  await run("qemu-io", ["-c", `write -q -P 7 0 ${mebibytes}M`, layer]);
  const lone = JSON.stringify(record({ template: null, resources: { ...resources, diskGiB: 1 } }));
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

test("a disk for which the volume has no room is told, and leaves nothing", async () => {
  await fillDisk(one, 4);
  free = 2 * mebibyte;
  await expect(askKeeper(one.address, "packDisk", [snapshot.name])).rejects.toMatchObject({
    code: "disk_full",
    message: expect.stringContaining("no room for the disk as one file"),
  });
  expect(await readdir(join(one.data, "exports"))).toEqual([]);
});

test("no keeper takes a disk, and what a pod gives for one is a disk and no more", async () => {
  await fillDisk(one, 1);
  await askKeeper(one.address, "packDisk", [snapshot.name]);
  await expect(pass(disk)).rejects.toMatchObject({ code: "path_not_found" });
  const name = `disks/${snapshot.name}/disk.qcow2`;
  const gives = async (...members: Member[]) => {
    await using source = await answering((response) => {
      const archive = packed(response);
      for (const { content = "", ...header } of members) archive.entry(header, content);
      archive.finalize();
    });
    return await readDisk(source.address);
  };
  const end = { name: "manifest.json", content: '{"files":[]}' };
  await expect(gives(end)).rejects.toMatchObject({ code: "machine_failed" });
  await expect(gives({ name })).rejects.toThrow("is cut off");
  await expect(gives({ name, content: "x" }, end)).rejects.toMatchObject({ code: "machine_failed" });
  await expect(gives({ name: `disks/${snapshot.name}/other` })).rejects.toThrow("no file with the name");
  await expect(gives({ name, type: "symlink", linkname: "/etc/passwd" })).rejects.toThrow("is a symlink");
  const huge = `disks/${snapshot.name}/GNUSparseFile.0/disk.qcow2`;
  await expect(gives({ name: huge, content: sparse("1\n9007199254740000\n0\n") })).rejects.toThrow("more than");
  await using cut = await answering((response) => response.destroy());
  await expect(readDisk(cut.address)).rejects.toBeInstanceOf(KeeperLost);
  expect(await readdir(exportsFolder)).toEqual([]);
});

/** An archive that is written as it is answered. Whoever reads it may leave. */
function packed(response: ServerResponse): Pack {
  const archive = pack();
  archive.on("error", () => {});
  archive.pipe(response, () => {});
  return archive;
}

/** Somebody in a machine's pod, in place of its keeper. */
async function answering(answer: (response: ServerResponse) => unknown) {
  const server: Server = createServer((_, response) => {
    response.on("error", () => {});
    void answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: { ...one.address, port },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
