import type { Check } from "./check.ts";
import { applyManifests } from "./check.ts";

/** The tested version of Kubernetes, 1.TESTED. Older ones lack parts of the API. */
const testedMinor = 20;

interface Right {
  group: "" | "apps";
  resource: string;
  verbs: readonly string[];
  /** Needed in the machines' namespace, or in the whole cluster. */
  isNamespaced: boolean;
}

/** The server's permissions in a cluster, as in deploy/kubernetes/base/roles.yaml. */
export const serverRights: readonly Right[] = [
  {
    group: "apps",
    resource: "statefulsets",
    verbs: ["get", "list", "create", "patch", "delete"],
    isNamespaced: true,
  },
  { group: "", resource: "pods", verbs: ["get", "delete"], isNamespaced: true },
  { group: "", resource: "events", verbs: ["list"], isNamespaced: true },
  { group: "", resource: "persistentvolumeclaims", verbs: ["delete"], isNamespaced: true },
  { group: "", resource: "secrets", verbs: ["get", "create", "patch", "delete"], isNamespaced: true },
  { group: "", resource: "nodes", verbs: ["get"], isNamespaced: false },
];

export const version: Check = async (cluster) => {
  const told = await cluster.version();
  const found = `Kubernetes ${told} at ${cluster.server}`;
  const minor = Number(/^v?1\.(\d+)/.exec(told)?.[1]);
  if (minor === testedMinor) return { ok: true, found };
  if (minor < testedMinor) {
    return { ok: false, found, problem: `Kubernetes 1.${testedMinor} is the oldest that has what Berth needs.` };
  }
  return { ok: true, found, note: `Berth is tested with Kubernetes 1.${testedMinor} alone.` };
};

export const namespace: Check = async (cluster, options) => {
  const there = await cluster.namespace();
  if (!there) {
    const problem = `The namespace ${options.namespace} is not there.`;
    return { ok: false, found: "nothing", problem, fix: applyManifests };
  }
  if (there.metadata?.deletionTimestamp) {
    return { ok: false, found: options.namespace, problem: "It is being deleted, with all machines in it." };
  }
  const level = there.metadata?.labels?.["pod-security.kubernetes.io/enforce"];
  if (level === "restricted") return { ok: true, found: `${options.namespace}, pod security restricted` };
  const note = "Machines run under the pod security standard restricted. This namespace does not enforce it.";
  return { ok: true, found: `${options.namespace}, pod security ${level ?? "not set"}`, note };
};

export const rights: Check = async (cluster, { namespace }) => {
  const asked = serverRights.flatMap(({ verbs, isNamespaced, ...of }) =>
    verbs.map((verb) => ({ ...of, verb, ...(isNamespaced ? { namespace } : {}) })),
  );
  const missing: string[] = [];
  for (const what of asked) if (!(await cluster.mayI(what))) missing.push(`${what.verb} ${what.resource}`);
  if (missing.length === 0) return { ok: true, found: "who asks has all that the server needs" };
  return {
    ok: false,
    found: `${asked.length - missing.length} of ${asked.length}`,
    problem: `Missing permissions: ${missing.join(", ")}.`,
    fix: "kubectl apply -f deploy/kubernetes/base/roles.yaml, and ask as the server's service account",
  };
};
