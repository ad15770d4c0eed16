import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../support/client.ts";
import { type MachinePod, namespace, PodService } from "./pod-service.ts";

// What passes from one machine's pod to another's: the template that new machines are made of, and snapshots for forks.

let service: PodService;
let client: TestClient;
beforeAll(async () => {
  service = await PodService.start();
  client = service.client;
});
afterAll(() => service?.[Symbol.asyncDispose]());

/** What `kubectl` tells of templates' machines. */
function templates(what: string): Promise<string> {
  return service.cluster.kubectl("-n", namespace, "get", what, "-l", "berth.dev/template", "-o", "json");
}

/** Whether the pod that has made the template was replaced by the small one that serves it. */
const isServed = async () => {
  const [pod] = JSON.parse(await templates("pods")).items;
  const [container] = pod?.status.containerStatuses ?? [];
  return Boolean(container?.ready) && pod.spec.containers[0].resources.limits.memory === "512Mi";
};

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

test("a new machine is a clone of the template, which a pod of its own has made and serves", async () => {
  await expect.poll(isServed, { timeout: 600_000, interval: 1_000 }).toBe(true);
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
