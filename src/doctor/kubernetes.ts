import { readClusterConfig } from "../config/env.ts";
import { usualResources } from "../contract/agents.ts";
import type { Finding } from "../contract/finding.ts";
import { ClusterConnection, reasonOf, statusOf } from "../kubernetes/connection.ts";
import { namespace, rights, version } from "../kubernetes/doctor/access.ts";
import type { Check, CheckOptions } from "../kubernetes/doctor/check.ts";
import { ClusterView } from "../kubernetes/doctor/cluster-view.ts";
import { networkPolicies } from "../kubernetes/doctor/network.ts";
import { kvm, nodes, processorKinds, room } from "../kubernetes/doctor/nodes.ts";
import { image, machines } from "../kubernetes/doctor/pods.ts";
import { storage } from "../kubernetes/doctor/storage.ts";
import { runtimes } from "../runtimes/all.ts";

// `berth doctor --kubernetes` runs this: what a cluster lacks for machines in pods. It changes nothing there. Each check is
// one line of JSON (`Finding`).

/** In this order. Where the first fails, the cluster cannot be asked. */
const checks: Record<string, Check> = {
  "API server": version,
  namespace,
  rights,
  nodes,
  room,
  processors: processorKinds,
  kvm,
  storage,
  "network policies": networkPolicies,
  image,
  machines,
};

try {
  const { kubeconfig, ...options } = readClusterConfig(process.env);
  await run(new ClusterConnection(kubeconfig), { ...options, usual: usualResources(runtimes[0]!.memoryMiB) });
} catch (error) {
  write({ name: "settings", ok: false, found: "nothing", problem: (error as Error).message });
}

async function run(connection: ClusterConnection, options: CheckOptions): Promise<void> {
  const cluster = new ClusterView(connection, options.namespace);
  for (const [name, check] of Object.entries(checks)) {
    const finding = await check(cluster, options).catch((error: unknown) => failure(error, connection));
    write({ name, ...finding });
    if (check === version && !finding.ok) return;
  }
}

function failure(error: unknown, connection: ClusterConnection): Omit<Finding, "name"> {
  const { server } = connection.getCurrentCluster()!;
  // Objects that may not be read may still be correct.
  if (statusOf(error) === 403) return { ok: true, found: `not looked at: ${reasonOf(error)}` };
  if (statusOf(error) !== 401) {
    return { ok: false, found: server, problem: `The API server does not answer as it should: ${reasonOf(error)}.` };
  }
  const expired = connection.expiredAt();
  const why = expired
    ? `the certificate in KUBECONFIG expired at ${expired.toISOString()}`
    : "the token or the certificate in KUBECONFIG is wrong, or has expired";
  return { ok: false, found: server, problem: `The API server does not know who asks: ${why}.` };
}

function write(finding: Finding): void {
  console.log(JSON.stringify(finding));
}
