import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../support/client.ts";
import { namespace, PodService } from "./pod-service.ts";

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

async function podOf(agent: string): Promise<string> {
  return `machine-${(await client.call("GET", `/agents/${agent}`)).body.id}-0`;
}

async function nodeOf(agent: string): Promise<string> {
  const pod = await podOf(agent);
  return (await service.pods()).find(({ metadata }) => metadata.name === pod)!.spec.nodeName;
}

/** Whether the machine's disk lies on a template's. */
async function isClone(agent: string): Promise<boolean> {
  const list = "console.log(require('fs').readdirSync('/data/machine/templates').length)";
  const found = await service.cluster.kubectl("-n", namespace, "exec", await podOf(agent), "--", "node", "-e", list);
  return found.trim() === "1";
}

/** In ms. */
async function created(name: string, fields: Record<string, unknown> = {}): Promise<number> {
  const began = performance.now();
  expect((await client.createAgent(name, fields)).body).toMatchObject({ status: "ready" });
  return performance.now() - began;
}

test("a new machine is a clone of the template, which a pod of its own has made and serves", async () => {
  await expect.poll(isServed, { timeout: 400_000, interval: 1_000 }).toBe(true);
  const cloned = await created("ada");
  expect(await isClone("ada")).toBe(true);
  // Another size than the template's.
  const booted = await created("bob", { resources: { cpus: 1 } });
  expect(await isClone("bob")).toBe(false);
  console.log(`create until ready: ${Math.round(cloned)} ms as a clone, ${Math.round(booted)} ms by a boot`);
  expect(await client.ask("ada", "run: hostname; cat /etc/machine-id")).toContain("ada");
  const { body } = await client.call("GET", "/agents");
  expect(body.data).toHaveLength(2);
  await client.call("DELETE", "/agents/bob");
}, 900_000);

test("a fork has its source's memory on another node, also of a source that sleeps, and outlives it", async () => {
  const { cluster } = service;
  await client.ask("ada", "run: setsid sh -c 'sleep 10000' & echo kept > ~/note");
  const look = "run: cat ~/note; pgrep -f 'sleep 1000[0]'";
  const node = await nodeOf("ada");
  await cluster.kubectl("cordon", node);
  const took = await created("fork", { from: { agent: "ada" } });
  console.log(`fork until ready: ${Math.round(took)} ms`);
  expect(await nodeOf("fork")).not.toBe(node);
  await cluster.kubectl("uncordon", node);
  expect(await client.ask("fork", look)).toMatch(/kept\n\d+/);
  expect(await client.ask("ada", look)).toMatch(/kept\n\d+/);
  await client.call("POST", "/agents/fork/suspend");
  await expect.poll(async () => (await service.pods()).length).toBe(1);
  await created("second", { from: { agent: "fork" } });
  // The source has slept on.
  await expect.poll(async () => (await service.pods()).length).toBe(2);
  for (const name of ["ada", "fork"]) await client.call("DELETE", `/agents/${name}`);
  await expect.poll(async () => (await service.pods()).length).toBe(1);
  expect(await client.ask("second", look)).toMatch(/kept\n\d+/);
  await client.call("POST", "/agents/second/suspend");
  expect(await client.ask("second", look)).toMatch(/kept\n\d+/);
  await client.call("DELETE", "/agents/second");
  await expect.poll(() => service.objects()).not.toContain("machine-");
}, 900_000);
