import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { openKubernetes } from "../../src/kubernetes/open.ts";
import type { Driver } from "../../src/machines/driver.ts";
import type { MachineSpec } from "../../src/machines/spec.ts";
import { makePodImage } from "../pods/image.ts";
import { newFolder, testConfig } from "../support/config.ts";
import { machineSpec } from "../support/machine-spec.ts";
import type { Cluster } from "./cluster.ts";
import { startClusterWith } from "./cluster-with-images.ts";

// The driver alone, against a real cluster. In the pods are real keepers with scripted machines, whose templates are names: of
// what kind a node is, the name of its processor says.

const resources = { cpus: 1, memoryMiB: 512, diskGiB: 10 };
const image = "berth.test/scripted:1";
const silent = { plan: () => {}, begin: () => {} };
const [amd, intel] = ["0123456789abcdef", "fedcba9876543210"];
const day = 86_400_000;

let cluster: Cluster;
let namespace: string;
let count = 0;
let imageFolder: string;
let config: Config;
let driver: Driver;
let log: string[];

beforeAll(async () => {
  cluster = await startClusterWith({ [image]: makePodImage });
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

beforeEach(async () => {
  await setKinds(amd, intel);
  namespace = `machines-${++count}`;
  await cluster.kubectl("create", "namespace", namespace);
  imageFolder = await newFolder();
  config = await testConfig({ databaseUrl: "postgres://", imageFolder });
  const { kubeconfig } = cluster;
  const options = { imagePullPolicy: "Never", storageClass: null, kvmResource: null } as const;
  config.kubernetes = { namespace, image, kubeconfig, ...options };
  await setImage("1mage1");
  log = [];
  driver = await open();
});
afterEach(async () => {
  await driver.close();
  await cluster.kubectl("delete", "namespace", namespace, "--wait=false");
  for (const folder of [config.dataFolder, imageFolder]) await rm(folder, { recursive: true });
});

const setImage = (id: string) => writeFile(join(imageFolder, "image.json"), JSON.stringify({ id }));
const open = () => openKubernetes(config, () => resources, () => {}, (line) => log.push(line), () => 1); // biome-ignore format: a line

async function setKinds(ofA: string, ofB: string): Promise<void> {
  await cluster.node("a").setProcessor(ofA);
  await cluster.node("b").setProcessor(ofB);
}

const specOf = (id: string, changes: Partial<MachineSpec> = {}) => machineSpec(id, { resources, ...changes });

/** Creates a machine on a node. */
async function createOn(node: "a" | "b", id: string, runtime = "claude-code") {
  const other = node === "a" ? "b" : "a";
  await cluster.kubectl("cordon", other);
  const machine = await driver.create(specOf(id, { runtime }), silent);
  await cluster.kubectl("uncordon", other);
  return machine;
}

interface Found {
  metadata: { name: string; annotations?: Record<string, string> };
  spec: { template?: { spec: object }; affinity?: object };
  status: { conditions?: { type: string; status: string }[] };
}

const kubectl = (...args: string[]) => cluster.kubectl("--namespace", namespace, ...args);
/** Everything of a kind in the namespace. */
async function found(what: "pods" | "persistentvolumeclaims" | "statefulsets"): Promise<Found[]> {
  const group = what === "statefulsets" ? "/apis/apps/v1" : "/api/v1";
  return (await cluster.api.get<{ items: Found[] }>(`${group}/namespaces/${namespace}/${what}`)).items;
}
const namesOf = async (what: Parameters<typeof found>[0]) => (await found(what)).map(({ metadata }) => metadata.name);
const setOf = async (name: string) => (await found("statefulsets")).find(({ metadata }) => metadata.name === name);
const inPod = (machine: string, ...command: string[]) => kubectl("exec", `machine-${machine}-0`, "--", ...command);
const annotate = (set: string, key: string, value: string) =>
  kubectl("annotate", "--overwrite", "statefulset", set, `berth.dev/${key}=${value}`);

const templates = async () => (await namesOf("statefulsets")).filter((name) => name.startsWith("template-"));
const templateOf = (kind: string) => `template-claude-code-${kind}-1mage1`;
const madeOf = async (kind: string) => (await setOf(templateOf(kind)))?.metadata.annotations?.["berth.dev/made"];

/** Whether a kind's template was made, and is served by the pod that is bound to no node. */
async function isServed(kind: string): Promise<boolean> {
  const pod = (await found("pods")).find(({ metadata }) => metadata.name === `${templateOf(kind)}-0`);
  const isReady = pod?.status.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
  return Boolean(isReady) && !pod?.spec.affinity && (await madeOf(kind)) !== undefined;
}
const served = (kind: string) => expect.poll(() => isServed(kind)).toBe(true);

test("each kind of nodes has a template of its own, which is made on a node of that kind and served from any", async () => {
  expect(await createOn("b", "m1")).toMatchObject({ origin: "boot" });
  await served(intel);
  expect(await templates()).toEqual([templateOf(intel)]);
  await expect.poll(async () => (await setOf(templateOf(intel)))!.spec.template!.spec).not.toHaveProperty("affinity");
  expect(await createOn("b", "m2")).toMatchObject({ origin: "clone" });
  expect(await createOn("a", "m3")).toMatchObject({ origin: "boot" });
  await served(amd);
  expect(await createOn("a", "m4")).toMatchObject({ origin: "clone" });
  expect((await inPod("m4", "ls", "/data/machine/templates")).trim()).toBe(await madeOf(amd));
  expect((await inPod("m2", "ls", "/data/machine/templates")).trim()).toBe(await madeOf(intel));
  // Another size than the templates' has none.
  const other = specOf("m5", { resources: { ...resources, memoryMiB: 600 } });
  expect(await driver.create(other, silent)).toMatchObject({ origin: "boot" });
  expect(await templates()).toHaveLength(2);
});

test("a template is made by a node of its kind alone", async () => {
  expect(await createOn("b", "m1")).toMatchObject({ origin: "boot" });
  // It is started again, with another kernel, before the template's pod is there.
  await cluster.node("b").setProcessor(amd);
  await expect.poll(() => log.join()).toContain("of another kind by now");
  await expect.poll(templates).toEqual([]);
  expect(await createOn("b", "m2")).toMatchObject({ origin: "boot" });
  await served(amd);
});

test("a runtime has templates of eight kinds at most, and a keeper that names none has its machine boot", async () => {
  for (let at = 0; at < 8; at++) {
    const kind = `${at}`.repeat(16);
    await cluster.node("a").setProcessor(kind);
    await createOn("a", `m${at}`);
    await served(kind);
    await driver.destroy(`m${at}`);
  }
  for (const kind of [amd, "../../etc/passwd", "", "x".repeat(5_000)]) {
    await cluster.node("a").setProcessor(kind);
    expect(await createOn("a", "more")).toMatchObject({ origin: "boot" });
  }
  await expect.poll(() => log.join()).toContain("templates of 8 kinds of nodes already");
  expect(await templates()).toHaveLength(8);
  await createOn("b", "other", "opencode");
  await expect.poll(async () => (await templates()).length).toBe(9);
}, 1_800_000);

test("a template is recreated if clones fail to start twice in a row; one that starts resets the count", async () => {
  await createOn("a", "m1");
  await served(amd);
  const first = await madeOf(amd);
  const fails = async (id: string) => {
    expect(await createOn("a", id)).toMatchObject({ origin: "clone" });
    await driver.invalidate(id);
  };
  await fails("m2");
  await createOn("a", "m3");
  await driver.adopting("m3", "token", "next");
  await driver.adopted("m3");
  await fails("m4");
  expect(await madeOf(amd)).toBe(first);
  await fails("m5");
  expect(await templates()).toEqual([]);
  expect(await createOn("a", "m6")).toMatchObject({ origin: "boot" });
  await served(amd);
  expect(await madeOf(amd)).not.toBe(first);
});

test("templates of another image, and those that nobody has wanted for thirty days, are swept", async () => {
  await createOn("a", "m1");
  await createOn("b", "m2");
  await served(amd);
  await served(intel);
  const wanted = (kind: string, days: number) =>
    annotate(templateOf(kind), "wanted", new Date(Date.now() - days * day).toISOString());
  await wanted(amd, 29);
  await wanted(intel, 31);
  await driver.sweep();
  expect(await templates()).toEqual([templateOf(amd)]);
  const claims = ["machine-m1", "machine-m2", templateOf(amd)].map((name) => `data-${name}-0`);
  await expect.poll(() => namesOf("persistentvolumeclaims")).toEqual(claims);
  // Any clone of it needs it.
  await createOn("a", "m3");
  await driver.close();
  await setImage("2mage2");
  driver = await open();
  await driver.sweep();
  expect(await templates()).toEqual([]);
});

test("a fork of an agent whose node is out of reach says so, and leaves nothing", async () => {
  await createOn("b", "m1");
  await driver.snapshot("m1", "s1", { memory: false });
  await cluster.node("b").disconnect();
  await expect.poll(() => cluster.isReady("b")).toBe(false);
  const fork = specOf("m2", { snapshot: "s1", restores: 1 });
  await expect(driver.restore(fork)).rejects.toMatchObject({
    code: "machine_lost",
    message: "The snapshot is on a node of the cluster that is out of reach.",
  });
  expect(await setOf("machine-m2")).toBeUndefined();
  await cluster.node("b").reconnect();
  await expect.poll(() => cluster.isReady("b")).toBe(true);
});

test("a machine without a readable note is observed again", async () => {
  await createOn("a", "m1");
  await createOn("a", "m2");
  const notes = [
    "{",
    '{"id":"m1","phase":"lost"}',
    '{"id":"m2","generation":1,"restarts":0,"restores":0,"phase":"stopped","image":null}',
  ];
  for (const text of notes) {
    await driver.suspend("m1");
    const seen = await driver.observe("m1");
    for (const key of ["observed", "snapshots"]) await annotate("machine-m1", key, text);
    // A scripted machine does not remember across its keeper's starts that no agent used it.
    const kept = { ...seen, isUnused: false, phase: expect.stringMatching(/suspended|stopped/) };
    expect(await driver.list()).toEqual(expect.arrayContaining([kept, expect.objectContaining({ id: "m2" })]));
    expect(await driver.snapshots()).toEqual([]);
    expect(log.join()).toContain("what was last seen of machine m1 cannot be read");
    // It sleeps on.
    await expect.poll(() => namesOf("pods")).not.toContain("machine-m1-0");
    await driver.boot(specOf("m1"));
  }
});

test("a machine that has no pod tells its last log, and a new one of its name has none", async () => {
  await createOn("a", "m1");
  expect(await driver.keptLog("m1")).toBe("");
  const log = "línea\n".repeat(8_000);
  await driver.keepLog("m1", log);
  await driver.suspend("m1");
  expect(await driver.keptLog("m1")).toBe(log);
  await driver.destroy("m1");
  expect(await driver.keptLog("m1")).toBe("");
  await createOn("a", "m1");
  expect(await driver.keptLog("m1")).toBe("");
});

const exportsFolder = () => readdir(join(config.dataFolder, "exports"));
const packed = async () => (await inPod("m1", "find", "/data/machine")).match(/packed|disks/g);

test("a machine's disk is packed in its pod and comes to the server, also of one that sleeps, and nothing is left", async () => {
  await createOn("a", "m1");
  await driver.snapshot("m1", "s1", { memory: false });
  await driver.suspend("m1");
  const path = await driver.packDisk("s1");
  expect(await readFile(path, "utf8")).toBe("the disk of snapshot s1\n");
  expect(await exportsFolder()).toEqual(["s1.qcow2"]);
  await expect.poll(() => namesOf("pods")).not.toContain("machine-m1-0");
  await expect(driver.packDisk("s2")).rejects.toMatchObject({ code: "snapshot_not_found" });
  await driver.boot(specOf("m1"));
  expect(await packed()).toBeNull();
  // A server that ended before its reader did.
  await driver.close();
  driver = await open();
  expect(await exportsFolder()).toEqual([]);
});

test("reports a disk that no reader waits for or that has no space, and leaves nothing", async () => {
  await createOn("a", "m1");
  await driver.snapshot("m1", "s1", { memory: false });
  await inPod("m1", "touch", "/data/machine/packing");
  const gone = new AbortController();
  const packing = driver.packDisk("s1", gone.signal);
  packing.catch(() => {});
  await sleep(2_000);
  gone.abort(new Error("gone"));
  await expect(packing).rejects.toThrow("gone");
  // A machine whose pod ends does not wait for it.
  await driver.suspend("m1");
  await driver.boot(specOf("m1"));
  await inPod("m1", "rm", "/data/machine/packing");
  await driver.close();
  config.diskReserveBytes = 2 ** 60;
  driver = await open();
  await expect(driver.packDisk("s1")).rejects.toMatchObject({ code: "disk_full" });
  expect(await exportsFolder()).toEqual([]);
  expect(await packed()).toBeNull();
});
