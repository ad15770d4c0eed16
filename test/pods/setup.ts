import { join } from "node:path";

/**
 * Starts a cluster for all tests of a run, whose services have their machines in it: each in a namespace of its own. Returns
 * what ends it.
 */
export default async function setup(): Promise<() => Promise<void>> {
  // It reads the name of this run, which `global-setup.ts` gives, when it is loaded.
  const { startClusterWith } = await import("../kubernetes/cluster-with-images.ts");
  const { makePodImage } = await import("./image.ts");
  const image = "berth.test/scripted:1";
  // A node has room for a dozen machines: each asks for a real one's memory.
  const cluster = await startClusterWith({ [image]: makePodImage }, { nodes: 4 });
  process.env.BERTH_TEST_PODS = JSON.stringify({
    kubeconfig: cluster.kubeconfig,
    image,
    volumes: join(cluster.folder, "volumes"),
  });
  return () => cluster[Symbol.asyncDispose]();
}
