import type { V1Node } from "@kubernetes/client-node";
import { processor } from "../../core/processor.ts";
import { podMemoryMiB } from "../objects.ts";
import { mebibytes } from "../quantities.ts";
import type { Check } from "./check.ts";

/** The resources that device plugins for /dev/kvm are known to offer. */
const knownKvm = ["devices.kubevirt.io/kvm", "smarter-devices/kvm", "squat.ai/kvm"];
/** Labels in which node feature discovery reports a node's processor. */
const processorLabels = ["vendor_id", "family", "id"].map((part) => `feature.node.kubernetes.io/cpu-model.${part}`);
const instanceLabel = "node.kubernetes.io/instance-type";

export const nodes: Check = async (cluster) => {
  const all = await cluster.nodes();
  const refusals = all.flatMap((node) => {
    const why = whyUnusable(node);
    return why === null ? [] : [`${node.metadata?.name} ${why}`];
  });
  const count = all.length - refusals.length;
  const found = [`${count} of ${all.length} can have machines`, ...refusals].join("; ");
  if (count > 0) return { ok: true, found };
  return { ok: false, found, problem: `No node is ready, for ${processor.debian} and free for any pod.` };
};

export const room: Check = async (cluster, { usual, kvmResource }) => {
  const usable = (await cluster.nodes()).filter(isUsable);
  const neededMiB = podMemoryMiB(usual.memoryMiB, kvmResource);
  const fitting = usable.map((node) => Math.floor(mebibytes(node.status?.allocatable?.memory) / neededMiB));
  const count = fitting.reduce((sum, each) => sum + each, 0);
  const found = `memory for ${count} default agents of ${neededMiB} MiB, in addition to other pods`;
  if (count === 0) {
    return { ok: false, found, problem: "No node has the memory of one agent.", fix: "add nodes with more memory" };
  }
  if (usable.some((node) => processors(node.status?.allocatable?.cpu) >= usual.cpus)) return { ok: true, found };
  return { ok: true, found, note: `No node has the ${usual.cpus} processors of a usual agent: it will be slow.` };
};

export const processorKinds: Check = async (cluster) => {
  const kinds = new Set((await cluster.nodes()).filter(isUsable).map(processorOf));
  const [kind] = kinds;
  if (kinds.has(null)) return { ok: true, found: "not reported by the cluster", note: sleepers("Where nodes' differ") };
  if (kinds.size <= 1) return { ok: true, found: `of one kind: ${kind ?? "no node"}` };
  const note = `${sleepers("Nodes' processors may differ")} Each kind has templates of its own.`;
  return { ok: true, found: [...kinds].join("; "), note };
};

export const kvm: Check = async (cluster, { kvmResource }) => {
  const usable = (await cluster.nodes()).filter(isUsable);
  const offering = (resource: string) => usable.filter((node) => offered(node, resource) > 0);
  if (kvmResource === null) {
    const found = "BERTH_KUBERNETES_KVM is not set: machines are emulated, about ten times slower";
    const known = knownKvm.find((resource) => offering(resource).length > 0);
    return { ok: true, found, ...(known ? { note: `Nodes offer ${known}: set BERTH_KUBERNETES_KVM to it.` } : {}) };
  }
  const those = offering(kvmResource);
  const machines = those.reduce((sum, node) => sum + offered(node, kvmResource), 0);
  const found = `${kvmResource} on ${those.length} of ${usable.length} nodes, for ${machines} machines`;
  if (those.length > 0) return { ok: true, found };
  const fix = "install the device plugin, or unset BERTH_KUBERNETES_KVM";
  return { ok: false, found, problem: "No node offers it, so no machine finds a node.", fix };
};

/** Why a node cannot run machines; null if it can. */
function whyUnusable({ status, spec }: V1Node): string | null {
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready?.status !== "True") return "is not ready";
  const { architecture = "unknown", operatingSystem = "unknown" } = status?.nodeInfo ?? {};
  if (`${operatingSystem} ${architecture}` !== `linux ${processor.debian}`)
    return `is ${operatingSystem} ${architecture}`;
  if (spec?.unschedulable) return "is cordoned";
  const taint = spec?.taints?.find(({ effect }) => effect !== "PreferNoSchedule");
  return taint ? `has the taint ${taint.key}` : null;
}

export function isUsable(node: V1Node): boolean {
  return whyUnusable(node) === null;
}

/** Null if the cluster does not report it. */
function processorOf({ metadata }: V1Node): string | null {
  const parts = processorLabels.flatMap((label) => metadata?.labels?.[label] ?? []);
  return parts.length > 0 ? parts.join(" ") : (metadata?.labels?.[instanceLabel] ?? null);
}

function sleepers(when: string): string {
  return `${when}, a suspended agent that wakes on another kind boots from its disk, without its memory.`;
}

function offered({ status }: V1Node, resource: string): number {
  return Number(status?.allocatable?.[resource] ?? 0);
}

/** Of a quantity such as `4` or `3920m`. */
function processors(quantity = "0"): number {
  return quantity.endsWith("m") ? Number(quantity.slice(0, -1)) / 1000 : Number(quantity);
}
