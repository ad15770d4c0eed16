import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeMachineImage } from "../../deploy/kubernetes/machine-image.ts";
import { MachineObjects } from "../../src/machines/kubernetes/cluster.ts";
import { KubernetesDriver } from "../../src/machines/kubernetes/driver.ts";
import { lastBuiltImage } from "../../src/wiring/qemu.ts";
import { Cluster } from "./cluster.ts";

// Real agents in machines in pods, driven by a server beside the cluster.

const image = "berth.test/machine:1";
let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start({ nodes: 2 });
  const root = join(cluster.folder, "machine-root");
  await mkdir(root);
  const archive = join(cluster.folder, "machine.tar");
  await makeMachineImage(archive, image, (await lastBuiltImage())!, root);
  await cluster.load(archive);
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

test("a machine in a pod", async () => {
  const options = {
    namespace: "default",
    image,
    imagePullPolicy: "Never" as const,
    storageClass: null,
    kvmResource: null,
  };
  const driver = new KubernetesDriver({
    objects: new MachineObjects(cluster.kubeconfig, options),
    imageId: "x",
    epoch: () => 1,
  });
  const spec = {
    id: "0123",
    generation: 1,
    restarts: 0,
    restores: 0,
    snapshot: null,
    isImporting: false,
    runtime: "claude-code",
    hostname: "ada",
    resources: { cpus: 1, memoryMiB: 512, diskGiB: 10 },
  };
  console.log(await driver.create(spec, { plan: console.log, begin: console.log }));
  console.log(await driver.list());
  (await driver.dial("0123")).destroy();
  await driver.suspend("0123");
  console.log(await driver.list());
  await driver.destroy("0123");
  expect(await driver.list()).toEqual([]);
});
