import { execFile } from "node:child_process";
import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../support/client.ts";
import { type MachinePod, namespace, PodService } from "./pod-service.ts";

// Transfers between machines' pods: the template that new machines are made of, and snapshots for forks.

let service: PodService;
let client: TestClient;
beforeAll(async () => {
  service = await PodService.start();
  client = service.client;
});
afterAll(() => service?.[Symbol.asyncDispose]());

/** The output of `kubectl` about templates' machines. */
function templates(what: string): Promise<string> {
  return service.cluster.kubectl("-n", namespace, "get", what, "-l", "berth.dev/template", "-o", "json");
}

/** Of how many templates the pods that have made them were replaced by the small ones that serve them from any node. */
const served = async () => {
  const pods = JSON.parse(await templates("pods")).items as TemplatePod[];
  const isServed = ({ spec, status }: TemplatePod) =>
    status.containerStatuses?.[0]?.ready && spec.containers[0]!.resources.limits.memory === "512Mi" && !spec.affinity;
  return pods.filter(isServed).length;
};

interface TemplatePod {
  spec: { nodeName: string; affinity?: object; containers: { resources: { limits: { memory: string } } }[] };
  status: { containerStatuses?: { ready: boolean }[] };
}

/** Whether the machine's disk lies on a template's. */
async function isClone({ metadata }: MachinePod): Promise<boolean> {
  const list = "console.log(require('fs').readdirSync('/data/machine/templates').length)";
  const exec = ["exec", metadata.name, "--", "node", "-e", list];
  return (await service.cluster.kubectl("-n", namespace, ...exec)).trim() === "1";
}

/** Creates an agent. `ms`: until it is ready. */
async function created(name: string, fields: Record<string, unknown> = {}): Promise<{ pod: MachinePod; ms: number }> {
  const before = (await service.pods()).map(({ metadata }) => metadata.uid);
  const began = performance.now();
  expect((await client.createAgent(name, fields)).body).toMatchObject({ status: "ready" });
  const ms = Math.round(performance.now() - began);
  return { pod: (await service.pods()).find(({ metadata }) => !before.includes(metadata.uid))!, ms };
}

const count = async () => (await service.pods()).length;

test("a new machine is a clone of the template that fits its node, which a pod of its own has made and serves", async () => {
  const first = await created("ann");
  expect(await isClone(first.pod)).toBe(false);
  await expect.poll(served, { timeout: 600_000, interval: 1_000 }).toBe(1);
  await client.call("DELETE", "/agents/ann");
  const clone = await created("eve");
  expect(await isClone(clone.pod)).toBe(true);
  // Another size than the template's.
  const other = await created("bob", { resources: { cpus: 1 } });
  expect(await isClone(other.pod)).toBe(false);
  console.log(`create until ready: ${clone.ms} ms as a clone, ${other.ms} ms by a boot`);
  expect(await client.ask("eve", "run: hostname")).toContain("eve");
  expect((await client.call("GET", "/agents")).body.data).toHaveLength(2);
  for (const name of ["eve", "bob"]) await client.call("DELETE", `/agents/${name}`);
  await expect.poll(count).toBe(0);
}, 900_000);

test("an agent leaves with its disk, which its pod has packed", async () => {
  await created("ada");
  await client.ask("ada", "run: echo kept > ~/note; sync");
  const began = performance.now();
  const response = await client.fetch("GET", "/agents/ada/export?disk=true");
  expect(response.status).toBe(200);
  const file = join(service.cluster.folder, "ada.berth");
  await writeFile(file, response.body!);
  console.log(`export with the disk: ${Math.round(performance.now() - began)} ms, ${(await stat(file)).size} bytes`);
  const shell = `cd "$1" && tar -xf ada.berth --wildcards 'disk.qcow2.*' && cat disk.qcow2.* > disk.qcow2 && rm disk.qcow2.*
    qemu-img check -q disk.qcow2 && qemu-img info --output=json disk.qcow2`;
  const { stdout } = await promisify(execFile)("sh", ["-c", shell, "-", service.cluster.folder]);
  expect(JSON.parse(stdout)).toMatchObject({ format: "qcow2", "virtual-size": 10 * 1024 ** 3 });
  expect(stdout).not.toContain("backing-filename");
  expect(await readdir(join(service.dataFolder, "exports"))).toEqual([]);
  await client.call("DELETE", "/agents/ada");
  await expect.poll(count).toBe(0);
}, 900_000);

test("a fork has its source's memory on another node, also of a source that sleeps, and outlives it", async () => {
  const { cluster } = service;
  const { pod } = await created("ada");
  await client.ask("ada", "run: setsid sh -c 'sleep 10000' & echo kept > ~/note");
  const look = "run: cat ~/note; pgrep -f 'sleep 1000[0]'";
  await cluster.kubectl("cordon", pod.spec.nodeName);
  const fork = await created("fork", { from: { agent: "ada" } });
  console.log(`fork until ready: ${fork.ms} ms`);
  expect(fork.pod.spec.nodeName).not.toBe(pod.spec.nodeName);
  await cluster.kubectl("uncordon", pod.spec.nodeName);
  expect(await client.ask("fork", look)).toMatch(/kept\n\d+/);
  expect(await client.ask("ada", look)).toMatch(/kept\n\d+/);
  expect((await client.call("POST", "/agents/fork/suspend")).body).toMatchObject({ status: "suspended" });
  await expect.poll(count).toBe(1);
  await created("second", { from: { agent: "fork" } });
  // The source sleeps on.
  await expect.poll(count).toBe(2);
  for (const name of ["ada", "fork"]) await client.call("DELETE", `/agents/${name}`);
  await expect.poll(count).toBe(1);
  expect(await client.ask("second", look)).toMatch(/kept\n\d+/);
  expect((await client.call("POST", "/agents/second/suspend")).body).toMatchObject({ status: "suspended" });
  expect(await client.ask("second", look)).toMatch(/kept\n\d+/);
  await client.call("DELETE", "/agents/second");
  await expect.poll(() => service.objects()).not.toContain("machine-");
}, 900_000);

test("a node with another processor has a template of its own", async () => {
  const { cluster } = service;
  // The last test: a machine that passes between the nodes has no memory from here on.
  await cluster.node("b").setProcessor("Another Processor");
  const on = async (node: string, name: string) => {
    const other = node === "a" ? "b" : "a";
    await cluster.kubectl("cordon", other);
    const { pod } = await created(name);
    await cluster.kubectl("uncordon", other);
    expect(pod.spec.nodeName).toBe(node);
    return pod;
  };
  // The first test's template is of the other processor, wherever its pod is.
  expect(await isClone(await on("b", "kay"))).toBe(false);
  await expect.poll(served, { timeout: 600_000, interval: 1_000 }).toBe(2);
  expect(await isClone(await on("b", "lou"))).toBe(true);
  expect(await isClone(await on("a", "moe"))).toBe(true);
  expect(await client.ask("lou", "run: grep -m1 'model name' /proc/cpuinfo; hostname")).toContain("lou");
  console.log(await templates("statefulsets").then((text) => JSON.parse(text).items.map(nameOf)));
  for (const name of ["kay", "lou", "moe"]) await client.call("DELETE", `/agents/${name}`);
  await expect.poll(count).toBe(0);
}, 1_500_000);

const nameOf = ({ metadata }: { metadata: { name: string } }) => metadata.name;
