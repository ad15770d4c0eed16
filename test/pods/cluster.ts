import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { idOfBuilt } from "../../src/machines/qemu/image.ts";
import { lastBuiltImage } from "../../src/wiring/qemu.ts";
import { Cluster } from "../kubernetes/cluster.ts";
import { makePodImage } from "./image.ts";

/** Starts a cluster with two nodes that have the image of pods without virtual machines. */
export async function startScriptedCluster(): Promise<{ cluster: Cluster; image: string }> {
  const cluster = await Cluster.start({ nodes: 2 });
  try {
    const root = join(cluster.folder, "pod-root");
    const archive = join(cluster.folder, "pod.tar");
    const image = "berth.test/scripted:1";
    await mkdir(root);
    await makePodImage(archive, image, await idOfBuilt(await lastBuiltImage()), root);
    await cluster.load(archive);
    for (const path of [root, archive]) await rm(path, { recursive: true });
    return { cluster, image };
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
}
