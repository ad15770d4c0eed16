import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";

/**
 * Starts a cluster with two nodes for all tests of a run, whose services have their machines in it: each in a namespace of
 * its own.
 */
export default async function setup(): Promise<() => Promise<void>> {
  // Both read the name of this run, which `global-setup.ts` gives, when they are loaded.
  const { Cluster } = await import("../kubernetes/cluster.ts");
  const { makePodImage } = await import("./image.ts");
  const { lastBuiltImage } = await import("../../src/wiring/qemu.ts");
  const { idOfBuilt } = await import("../../src/machines/qemu/image.ts");
  const cluster = await Cluster.start({ nodes: 2 });
  try {
    const root = join(cluster.folder, "pod-root");
    const archive = join(cluster.folder, "pod.tar");
    const image = "berth.test/scripted:1";
    await mkdir(root);
    await makePodImage(archive, image, await idOfBuilt(await lastBuiltImage()), root);
    await cluster.load(archive);
    for (const path of [root, archive]) await rm(path, { recursive: true });
    process.env.BERTH_TEST_PODS = JSON.stringify({ kubeconfig: cluster.kubeconfig, image });
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
  return () => cluster[Symbol.asyncDispose]();
}
