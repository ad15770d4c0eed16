/**
 * Starts a cluster for all tests of a run, whose services have their machines in it: each in a namespace of its own. Returns
 * what ends it.
 */
export default async function setup(): Promise<() => Promise<void>> {
  // It reads the name of this run, which `global-setup.ts` gives, when it is loaded.
  const { startClusterWith } = await import("../kubernetes/cluster-with-images.ts");
  const { makePodImage } = await import("./image.ts");
  const image = "berth.test/scripted:1";
  const cluster = await startClusterWith({ [image]: makePodImage });
  process.env.BERTH_TEST_PODS = JSON.stringify({ kubeconfig: cluster.kubeconfig, image });
  return () => cluster[Symbol.asyncDispose]();
}
