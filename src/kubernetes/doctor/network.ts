import type { V1NetworkPolicy } from "@kubernetes/client-node";
import type { Check } from "./check.ts";

const note =
  "Whether anything in the cluster enforces network policies cannot be seen from its API: ask its network plugin.";

export const networkPolicies: Check = async (cluster, { namespace }) => {
  const policies = await cluster.networkPolicies();
  const found = policies.map(({ metadata }) => metadata?.name).join(", ") || "none";
  const closed = ["Ingress", "Egress"].filter((direction) => policies.some((each) => covers(each, direction)));
  if (closed.length < 2) {
    const problem = `Nothing keeps others from machines, or machines from others, in ${namespace}.`;
    return { ok: false, found, problem, fix: "kubectl apply -f deploy/kubernetes/base/network-policies.yaml" };
  }
  const opening = policies.find(({ spec }) => (spec?.egress ?? []).length > 0);
  if (!opening) return { ok: true, found, note };
  const open = `${opening.metadata?.name} lets machines out: their agents' connections need none but the server's.`;
  return { ok: true, found, note: `${open} ${note}` };
};

/** Whether the policy applies to all pods of the namespace. */
function covers({ spec }: V1NetworkPolicy, direction: string): boolean {
  const { matchLabels = {}, matchExpressions = [] } = spec?.podSelector ?? {};
  const isForAll = Object.keys(matchLabels).length === 0 && matchExpressions.length === 0;
  return isForAll && (spec?.policyTypes?.includes(direction) ?? false);
}
