import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Config } from "../../src/config/config.ts";
import type { Driver } from "../../src/machines/driver.ts";
import type { MachineSpec } from "../../src/service/lifecycle/reconciler.ts";
import { openKubernetes } from "../../src/wiring/kubernetes.ts";
import { newFolder, testConfig } from "../support/config.ts";
import { ScriptedCluster, type StoredSet } from "../support/scripted-cluster.ts";

// What the driver of a cluster makes of its objects. The keepers are real; there are neither containers nor guests.

const resources = { cpus: 1, memoryMiB: 512, diskGiB: 10 };
const silent = { plan: () => {}, begin: () => {} };
const [amd, intel] = ["0123456789abcdef", "fedcba9876543210"];
const day = 86_400_000;

let folder: string;
let cluster: ScriptedCluster;
let config: Config;
let driver: Driver;
let log: string[];

beforeEach(async () => {
  folder = await newFolder();
  const nodes = { a: { kind: amd, isReady: true }, b: { kind: intel, isReady: true } };
  cluster = await ScriptedCluster.start(join(folder, "cluster"), nodes);
  config = await testConfig({ databaseUrl: "postgres://", imageFolder: join(folder, "image") });
  config.kubernetes = {
    namespace: "machines",
    image: "machine:1",
    imagePullPolicy: "Never",
    storageClass: null,
    kvmResource: null,
    kubeconfig: cluster.kubeconfig,
  };
  await mkdir(config.imageFolder!);
  await setImage("1mage1");
  log = [];
  driver = await open();
});
afterEach(async () => {
  await driver.close();
  await cluster[Symbol.asyncDispose]();
  await rm(config.dataFolder, { recursive: true });
  await rm(folder, { recursive: true });
});

const setImage = (id: string) => writeFile(join(config.imageFolder!, "image.json"), JSON.stringify({ id }));
const open = () => openKubernetes(config, () => resources, () => {}, (line) => log.push(line), () => 1); // biome-ignore format: a line

const specOf = (id: string, changes: Partial<MachineSpec> = {}): MachineSpec => ({
  id,
  generation: 1,
  restarts: 0,
  restores: 0,
  snapshot: null,
  isImporting: false,
  runtime: "claude-code",
  hostname: id,
  resources,
  ...changes,
});

/** Creates a machine on a node. */
async function createOn(node: string, id: string, runtime = "claude-code") {
  for (const [name, each] of Object.entries(cluster.nodes)) each.isReady = name === node;
  const machine = await driver.create(specOf(id, { runtime }), silent);
  for (const each of Object.values(cluster.nodes)) each.isReady = true;
  return machine;
}

const setOf = (name: string): StoredSet => cluster.sets.get(name)!;
const templates = () => [...cluster.sets.keys()].filter((name) => name.startsWith("template-"));
const templateOf = (kind: string) => `template-claude-code-${kind}-1mage1`;
const madeOf = (kind: string) => setOf(templateOf(kind))?.metadata.annotations?.["berth.dev/made"];
/** Resolves when a kind's template was made and is served. */
const served = (kind: string) =>
  expect.poll(() => [madeOf(kind) !== undefined, cluster.nodeOf(templateOf(kind)) !== undefined]).toEqual([true, true]);

test("each kind of nodes has a template of its own, which is made on a node of that kind and served from any", async () => {
  expect(await createOn("b", "m1")).toMatchObject({ origin: "boot" });
  expect(setOf(templateOf(intel)).spec.template.spec).toMatchObject({
    affinity: { nodeAffinity: expect.objectContaining({}) },
  });
  await served(intel);
  expect(templates()).toEqual([templateOf(intel)]);
  expect(setOf(templateOf(intel)).spec.template.spec).not.toHaveProperty("affinity");
  expect(await createOn("b", "m2")).toMatchObject({ origin: "clone" });
  expect(await createOn("a", "m3")).toMatchObject({ origin: "boot" });
  await served(amd);
  expect(await createOn("a", "m4")).toMatchObject({ origin: "clone" });
  expect([...cluster.volumes.get("machine-m4")!.templates]).toEqual([madeOf(amd)]);
  expect([...cluster.volumes.get("machine-m2")!.templates]).toEqual([madeOf(intel)]);
  // Another size than the templates' has none.
  const other = specOf("m5", { resources: { ...resources, cpus: 2 } });
  expect(await driver.create(other, silent)).toMatchObject({ origin: "boot" });
  expect(templates()).toHaveLength(2);
});

test("a template is made by a node of its kind alone", async () => {
  const kinds = [intel, amd];
  // It is started anew, with another kernel, right after the first machine has come.
  const changing = {
    isReady: true,
    get kind() {
      return kinds.shift() ?? amd;
    },
  };
  cluster.nodes.b = changing;
  expect(await createOn("b", "m1")).toMatchObject({ origin: "boot" });
  await expect.poll(() => log.join()).toContain("of another kind by now");
  await expect.poll(templates).toEqual([]);
  expect(await createOn("b", "m2")).toMatchObject({ origin: "boot" });
  await served(amd);
});

test("a runtime has templates of eight kinds at most, and a keeper that names none has its machine boot", async () => {
  for (let at = 0; at < 8; at++) {
    const kind = `${at}`.repeat(16);
    cluster.nodes.a!.kind = kind;
    await createOn("a", `m${at}`);
    await served(kind);
  }
  for (const kind of [amd, "../../etc/passwd", "", "x".repeat(5_000)]) {
    cluster.nodes.a!.kind = kind;
    expect(await createOn("a", "more")).toMatchObject({ origin: "boot" });
  }
  await expect.poll(() => log.join()).toContain("templates of 8 kinds of nodes already");
  expect(templates()).toHaveLength(8);
  await createOn("b", "other", "opencode");
  await expect.poll(() => templates().length).toBe(9);
});

test("a template whose clones do not come to life twice in a row is made anew, and one that lives ends the row", async () => {
  await createOn("a", "m1");
  await served(amd);
  const first = madeOf(amd);
  const fails = async (id: string) => {
    expect(await createOn("a", id)).toMatchObject({ origin: "clone" });
    await driver.invalidate(id);
  };
  await fails("m2");
  await createOn("a", "m3");
  await driver.adopting("m3", "token", "next");
  await driver.adopted("m3");
  await fails("m4");
  expect(madeOf(amd)).toBe(first);
  await fails("m5");
  expect(templates()).toEqual([]);
  expect(await createOn("a", "m6")).toMatchObject({ origin: "boot" });
  await served(amd);
  expect(madeOf(amd)).not.toBe(first);
});

test("templates of another image, and those that nobody has wanted for thirty days, are swept", async () => {
  await createOn("a", "m1");
  await createOn("b", "m2");
  await served(amd);
  await served(intel);
  const wanted = (kind: string, days: number) => {
    const at = new Date(Date.now() - days * day).toISOString();
    setOf(templateOf(kind)).metadata.annotations!["berth.dev/wanted"] = at;
  };
  wanted(amd, 29);
  wanted(intel, 31);
  await driver.sweep();
  expect(templates()).toEqual([templateOf(amd)]);
  expect([...cluster.volumes.keys()].toSorted()).toEqual(["machine-m1", "machine-m2", templateOf(amd)]);
  // Whoever is made of it wants it.
  await createOn("a", "m3");
  await driver.close();
  await setImage("2mage2");
  driver = await open();
  await driver.sweep();
  expect(templates()).toEqual([]);
});

test("a fork of an agent whose node is out of reach says so, and leaves nothing", async () => {
  await createOn("b", "m1");
  await driver.snapshot("m1", "s1", { memory: false });
  cluster.nodes.b!.isReady = false;
  const fork = specOf("m2", { snapshot: "s1", restores: 1 });
  await expect(driver.restore(fork)).rejects.toMatchObject({
    code: "machine_lost",
    message: "The snapshot is on a node of the cluster that is out of reach.",
  });
  expect(cluster.sets.has("machine-m2")).toBe(false);
});

test.each([
  ["no JSON", "{"],
  ["another shape", '{"id":"m1","phase":"lost"}'],
  ["another machine", '{"id":"m2","generation":1,"restarts":0,"restores":0,"phase":"stopped","image":null}'],
])("a machine of which %s is noted is asked what it is", async (_, text) => {
  await createOn("a", "m1");
  await createOn("a", "m2");
  await driver.suspend("m1");
  const seen = await driver.observe("m1");
  setOf("machine-m1").metadata.annotations!["berth.dev/observed"] = text;
  setOf("machine-m1").metadata.annotations!["berth.dev/snapshots"] = text;
  expect(await driver.list()).toEqual(expect.arrayContaining([seen, expect.objectContaining({ id: "m2" })]));
  expect(await driver.snapshots()).toEqual([]);
  expect(log.join()).toContain("what was last seen of machine m1 cannot be read");
  // It sleeps on.
  await expect.poll(() => cluster.nodeOf("machine-m1")).toBeUndefined();
  expect(JSON.parse(setOf("machine-m1").metadata.annotations!["berth.dev/observed"]!)).toEqual(seen);
});

const exportsFolder = () => readdir(join(config.dataFolder, "exports"));

test("a machine's disk is packed in its pod and comes to the server, also of one that sleeps, and nothing is left", async () => {
  await createOn("a", "m1");
  await driver.snapshot("m1", "s1", { memory: false });
  await driver.suspend("m1");
  const path = await driver.packDisk("s1");
  expect(await readFile(path, "utf8")).toBe("the disk of snapshot s1\n");
  expect(await exportsFolder()).toEqual(["s1.qcow2"]);
  await expect.poll(() => cluster.nodeOf("machine-m1")).toBeUndefined();
  const files = await readdir(join(folder, "cluster/machine-m1"), { recursive: true });
  expect(files.filter((name) => /pack|disks/.test(name))).toEqual([]);
  await expect(driver.packDisk("s2")).rejects.toMatchObject({ code: "snapshot_not_found" });
  // A server that ended before its reader did.
  await driver.close();
  driver = await open();
  expect(await exportsFolder()).toEqual([]);
});

test("a disk that nobody waits for, or for which there is no room, is told and leaves nothing", async () => {
  await createOn("a", "m1");
  await driver.snapshot("m1", "s1", { memory: false });
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  cluster.volumes.get("machine-m1")!.packing = async (signal) => {
    begun.resolve();
    await new Promise((_, reject) => signal!.addEventListener("abort", () => reject(signal!.reason))).finally(() =>
      ended.resolve(),
    );
  };
  const gone = new AbortController();
  const packing = driver.packDisk("s1", gone.signal);
  await begun.promise;
  // A machine whose pod ends does not wait for it.
  await driver.suspend("m1");
  gone.abort(new Error("gone"));
  await expect(packing).rejects.toThrow("gone");
  await ended.promise;
  cluster.volumes.get("machine-m1")!.packing = async () => {};
  await driver.close();
  config.diskReserveBytes = 2 ** 60;
  driver = await open();
  await expect(driver.packDisk("s1")).rejects.toMatchObject({ code: "disk_full" });
  expect(await exportsFolder()).toEqual([]);
  const files = await readdir(join(folder, "cluster/machine-m1"), { recursive: true });
  expect(files.filter((name) => /pack|disks/.test(name))).toEqual([]);
});
