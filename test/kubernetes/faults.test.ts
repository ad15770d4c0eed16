import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Cluster } from "./cluster.ts";
import { makeBusyboxImage } from "./images.ts";
import { createSet, findPod, inPod, placeSet, podsPath, readyPod, volumeFolder } from "./workloads.ts";

// That the cluster can fail as clusters do, and how Kubernetes itself behaves then.

let cluster: Cluster;
beforeAll(async () => {
  cluster = await Cluster.start({ nodes: 2 });
  const archive = join(cluster.folder, "busybox.tar");
  await makeBusyboxImage(archive);
  await cluster.load(archive);
});
afterAll(() => cluster?.[Symbol.asyncDispose]());

/** How many seconds the pod has counted, as its volume's folder has them: nothing of Kubernetes is asked. */
async function seconds(folder: string): Promise<number> {
  return (await readFile(join(folder, "seconds"), "utf8")).split("\n").length;
}

test("pods keep running while the API server is stopped, and are the same afterwards", async () => {
  await createSet(cluster, "steady", { node: "a" });
  const before = await readyPod(cluster, "steady-0");
  const folder = await volumeFolder(cluster, "steady-0");
  await cluster.stopApiServer();
  const then = await seconds(folder);
  await expect.poll(() => seconds(folder)).toBeGreaterThan(then + 3);
  expect(await (await fetch(`http://${before.status.podIP}:8080/seconds`)).text()).not.toBe("");
  await expect(cluster.api.get("/api/v1/nodes")).rejects.toThrow();
  await cluster.startApiServer();
  const after = await readyPod(cluster, "steady-0");
  expect(after.metadata.uid).toBe(before.metadata.uid);
  expect(after.status.containerStatuses![0]!.restartCount).toBe(0);
});

test("the pod of a disconnected node keeps running there, and is recreated when the node is back", async () => {
  await createSet(cluster, "cut", { node: "b" });
  const before = await readyPod(cluster, "cut-0");
  const folder = await volumeFolder(cluster, "cut-0");
  await cluster.node("b").disconnect();
  try {
    await expect.poll(() => cluster.isReady("b"), { timeout: 120_000 }).toBe(false);
    // Kubernetes wants it gone, and cannot know whether it is.
    await expect.poll(async () => (await findPod(cluster, "cut-0"))?.metadata.deletionTimestamp).toBeDefined();
    const then = await seconds(folder);
    await expect.poll(() => seconds(folder)).toBeGreaterThan(then + 3);
    expect((await findPod(cluster, "cut-0"))!.metadata.uid).toBe(before.metadata.uid);
  } finally {
    await cluster.node("b").reconnect();
  }
  await expect.poll(() => cluster.isReady("b"), { timeout: 120_000 }).toBe(true);
  const after = await readyPod(cluster, "cut-0", before);
  expect(after.spec.nodeName).toBe("b");
});

test("the pod of a dead node is not started elsewhere until it is deleted by force; the node can be started again", async () => {
  await createSet(cluster, "dead", { node: "b" });
  const before = await readyPod(cluster, "dead-0");
  await inPod(cluster, "dead-0", "echo kept >/data/file; sync");
  const folder = await volumeFolder(cluster, "dead-0");
  await cluster.node("b").kill();
  const then = await seconds(folder);
  await placeSet(cluster, "dead", null);
  await expect.poll(() => cluster.isReady("b"), { timeout: 120_000 }).toBe(false);
  await expect.poll(async () => (await findPod(cluster, "dead-0"))?.metadata.deletionTimestamp).toBeDefined();
  await sleep(10_000);
  expect((await findPod(cluster, "dead-0"))!.metadata.uid).toBe(before.metadata.uid);
  expect(await seconds(folder)).toBe(then);

  await cluster.api.delete(`${podsPath}/dead-0`, { gracePeriodSeconds: 0 });
  const after = await readyPod(cluster, "dead-0", before);
  expect(after.spec.nodeName).toBe("a");
  expect(await inPod(cluster, "dead-0", "cat /data/file")).toBe("kept\n");

  await cluster.node("b").start();
  await expect.poll(() => cluster.isReady("b"), { timeout: 120_000 }).toBe(true);
  await expect
    .poll(() => cluster.node("b").ctr("containers", "list"), { timeout: 120_000 })
    .not.toContain(before.metadata.uid);
  expect((await findPod(cluster, "dead-0"))!.metadata.uid).toBe(after.metadata.uid);
});
