import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Passed } from "../../src/kubernetes/keeper-calls.ts";
import { askKeeper, type KeeperAddress, KeeperLost, passFiles } from "../../src/kubernetes/keeper-client.ts";
import { newFolder } from "../support/config.ts";
import {
  answering,
  filesOf,
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
import { machineSpec } from "../support/machine-spec.ts";

// Files that pass between the keepers of two machines. Keepers and drivers are real; there are no guests.

const maximumBytes = 100 * mebibyte;
const signal = new AbortController().signal;

let folder: string;
let template: Passed;
let one: Keeper;
let other: Keeper;
const pass = (passed: Passed, from: KeeperAddress = one.address, to: KeeperAddress = other.address) =>
  passFiles(passed, { from, to, maximumBytes, signal });

beforeAll(async () => {
  folder = await newFolder();
  template = await templateIn(folder);
});
beforeEach(async () => {
  one = await openKeeper(folder, "one", () => 2 ** 40);
  other = await openKeeper(folder, "other", () => 2 ** 40);
  await fill(one, template);
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
  await using third = await openKeeper(folder, "third", () => 2 ** 40);
  await pass(template, other.address, third.address);
  expect(await filesOf(third)).toHaveLength(4);
  await rm(join(one.data, "templates", template.name, "state"));
  await expect(pass(template)).rejects.toMatchObject({ code: "template_failed" });
});

test("a template of another processor, image or size is refused before it comes", async () => {
  const name = "claude-code-0123456789abcdef-01234567";
  await expect(pass({ kind: "templates", name })).rejects.toMatchObject({ code: "template_failed" });
  await using source = await answering(one, (response) => response.write(Buffer.alloc(mebibyte)));
  await expect(pass({ kind: "templates", name }, source.address)).rejects.toThrow("does not fit this machine");
});

test("a missing snapshot and an invalid path are refused", async () => {
  await expect(pass({ ...snapshot, name: "5ee3" })).rejects.toMatchObject({ code: "snapshot_not_found" });
  for (const name of ["..", "../../epoch", "a/b", ""]) {
    await expect(pass({ ...snapshot, name })).rejects.toMatchObject({ code: "path_not_found" });
  }
});

test("rejects a wrong machine key or an older term", async () => {
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
  await using source = await answering(one, (response) => {
    const archive = packed(response);
    archive.entry({ name: `snapshots/${snapshot.name}/snapshot.json` }, JSON.stringify(record(template)));
    archive
      .entry({ name: "layers/layer/disk.qcow2", size: 4096 })
      .on("error", () => {})
      .write(Buffer.alloc(1024));
    begun.resolve();
  });
  // It may reject before the keeper has answered below.
  const refused = expect(pass(snapshot, source.address)).rejects.toThrow();
  await begun.promise;
  await expect.poll(() => filesOf(other)).toHaveLength(2);
  await askKeeper({ ...other.address, epoch: 2 }, "snapshots", []);
  await refused;
  await expect.poll(() => filesOf(other)).toEqual([]);
});

const listed = (path: string, text: string) => ({
  path,
  size: text.length,
  sha256: createHash("sha256").update(text).digest("hex"),
});

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
  ["a list that is long", [{ name: "manifest.json", content: " ".repeat(3 * mebibyte) }], "is too large"],
  [
    "a list with more values than its files can have",
    [{ name: "manifest.json", content: `{"files":[${"0,".repeat(4_100)}0]}` }],
    "is too large",
  ],
  ["no record", [{ name: "manifest.json", content: '{"files":[]}' }], "has no record"],
])("an archive with %s is refused, and leaves nothing", async (_, members, complaint) => {
  await using source = await answering(one, (response) => {
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
  const text = JSON.stringify(record(template, { template: null, ...changes }));
  await using source = await answering(one, (response) => {
    const archive = packed(response);
    archive.entry({ name: own }, text);
    archive.entry({ name: "manifest.json" }, JSON.stringify({ files: [listed(own, text)] }));
    archive.finalize();
  });
  await expect(pass(snapshot, source.address)).rejects.toThrow();
  expect(await filesOf(other)).toEqual([]);
});

test("an endless or broken keeper counts as lost and leaves no file", async () => {
  await using endless = await answering(one, async (response) => {
    const archive = packed(response);
    const entry = archive.entry({ name: "layers/layer/disk.qcow2", size: 2 ** 40 });
    const zeros = async function* () {
      for (;;) yield Buffer.alloc(mebibyte);
    };
    await pipeline(zeros, entry).catch(() => {});
  });
  await expect(pass(snapshot, endless.address)).rejects.toBeInstanceOf(KeeperLost);
  await using cut = await answering(one, (response) => {
    const archive = packed(response);
    archive
      .entry({ name: "layers/layer/disk.qcow2", size: 4096 })
      .on("error", () => {})
      .write(Buffer.alloc(1024));
    setTimeout(() => response.destroy(), 50);
  });
  await expect(pass(snapshot, cut.address)).rejects.toBeInstanceOf(KeeperLost);
  await using refusing = await answering(one, (response) => {
    response.statusCode = 500;
    response.end("x".repeat(100_000));
  });
  await expect(pass(snapshot, refusing.address)).rejects.toBeInstanceOf(KeeperLost);
  await expect.poll(() => filesOf(other)).toEqual([]);
});

test("a template that came and is not usable is removed again", async () => {
  await using source = await answering(one, async (response) => {
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
