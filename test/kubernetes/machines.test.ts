import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../support/client.ts";
import type { Cluster } from "./cluster.ts";
import { PodService } from "./pod-service.ts";

// Real agents in virtual machines in pods, led by a server outside the cluster.

let service: PodService;
let cluster: Cluster;
let client: TestClient;
beforeAll(async () => {
  service = await PodService.start();
  ({ cluster, client } = service);
});
afterAll(() => service?.[Symbol.asyncDispose]());

const pods = () => service.pods();

test("an agent is created, answers, sleeps without a pod, wakes with its memory, and is deleted", async () => {
  const created = await client.createAgent("ada");
  expect(created.body.status).toBe("ready");
  expect(await client.ask("ada", "run: setsid sh -c 'sleep 10000' & echo kept > ~/note; hostname")).toContain("ada");
  const [pod] = await pods();
  await client.call("POST", "/agents/ada/suspend");
  await expect.poll(pods).toEqual([]);
  expect(await client.ask("ada", "run: cat ~/note; pgrep -f 'sleep 1000[0]'")).toMatch(/kept\n\d+/);
  expect((await pods())[0]!.metadata.uid).not.toBe(pod!.metadata.uid);
  expect(await client.ask("ada", "And?")).toContain("Your message 3 of this conversation");
  await client.call("DELETE", "/agents/ada");
  await expect.poll(pods).toEqual([]);
  await expect.poll(() => service.objects()).not.toContain("machine-");
});

test("a container that is killed comes again from the disk, and a pod that is evicted with its memory", async () => {
  const sleeper = "pgrep -f 'sleep 1000[0]' || echo gone";
  await client.createAgent("bob");
  await client.ask("bob", "run: echo kept > ~/note; setsid sh -c 'sleep 10000' &");
  const [first] = await pods();
  const container = first!.status.containerStatuses[0]!.containerID.replace("containerd://", "");
  await cluster.node(first!.spec.nodeName).ctr("tasks", "kill", "--signal", "SIGKILL", container);
  await expect.poll(async () => (await pods())[0]?.status.containerStatuses[0]?.restartCount).toBe(1);
  expect(await client.ask("bob", `run: cat ~/note; ${sleeper}`)).toMatch(/kept\ngone/);
  await client.ask("bob", "run: setsid sh -c 'sleep 10000' &");
  const { nodeName } = (await pods())[0]!.spec;
  await cluster.kubectl("drain", nodeName, "--ignore-daemonsets", "--delete-emptydir-data", "--force");
  await expect.poll(async () => (await pods())[0]?.spec.nodeName).toMatch(nodeName === "a" ? "b" : "a");
  expect(await client.ask("bob", `run: cat ~/note; ${sleeper}`)).toMatch(/kept\n\d+/);
  await cluster.kubectl("uncordon", nodeName);
  await client.call("DELETE", "/agents/bob");
  await expect.poll(pods).toEqual([]);
});

test("while the API server is away, what runs answers, and what needs it waits", async () => {
  await client.createAgent("eve");
  await client.ask("eve", "run: echo kept > ~/note");
  await cluster.stopApiServer();
  expect(await client.ask("eve", "run: cat ~/note")).toContain("kept");
  // A request that needs the cluster waits for it.
  const creating = client.createAgent("max");
  await cluster.startApiServer();
  expect((await creating).body).toMatchObject({ status: "ready" });
  // A deletion that takes longer than a minute continues after its response.
  for (const name of ["max", "eve"]) {
    await client.call("DELETE", `/agents/${name}`);
    await expect.poll(async () => (await client.call("GET", `/agents/${name}`)).status).toBe(404);
  }
  await expect.poll(pods).toEqual([]);
}, 600_000);

test("the agents of a disconnected node fail, start nowhere else, and continue when it is back", async () => {
  await client.createAgent("eve");
  await client.ask("eve", "run: echo kept > ~/note");
  const [pod] = await pods();
  const { nodeName } = pod!.spec;
  await cluster.node(nodeName).disconnect();
  await expect.poll(() => cluster.isReady(nodeName)).toBe(false);
  const { events } = await client.chat("eve", "run: cat ~/note");
  expect(events.at(-1)!.event).toMatchObject({ type: "response.failed", error: { code: "machine_lost" } });
  const failed = await client.call("GET", "/agents/eve");
  expect(failed.body).toMatchObject({ status: "failed", error: { code: "machine_lost" } });
  // Its pod is abandoned, and not recreated while the first one may run.
  const givenUp = async () =>
    (await pods()).map(({ metadata }) => [metadata.uid, metadata.deletionTimestamp !== undefined]);
  await expect.poll(givenUp).toEqual([[pod!.metadata.uid, true]]);
  await cluster.node(nodeName).reconnect();
  await expect.poll(async () => (await pods())[0]?.metadata.uid, { timeout: 240_000 }).not.toBe(pod!.metadata.uid);
  expect((await client.restartAgent("eve")).body).toMatchObject({ status: "ready" });
  expect(await client.ask("eve", "run: cat ~/note")).toContain("kept");
  await client.call("DELETE", "/agents/eve");
}, 600_000);
