/**
 * Starts a cluster for all tests of a run, whose services have their machines in it: each in a namespace of its own. Returns
 * what ends it.
 */
export default async function setup(): Promise<() => Promise<void>> {
  // It reads the name of this run, which `global-setup.ts` gives, when it is loaded.
  const { startScriptedCluster } = await import("./cluster.ts");
  const { cluster, image } = await startScriptedCluster();
  process.env.BERTH_TEST_PODS = JSON.stringify({ kubeconfig: cluster.kubeconfig, image });
  return () => cluster[Symbol.asyncDispose]();
}
