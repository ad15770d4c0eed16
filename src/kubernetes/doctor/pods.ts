import type { CoreV1Event, V1Node, V1Pod } from "@kubernetes/client-node";
import { waitingOf, whyPending } from "../pod-state.ts";
import type { Check } from "./check.ts";
import { isUsable } from "./nodes.ts";

/** Limit on the pods that one check lists. */
const shown = 3;
const pullFailures = [
  "ErrImagePull",
  "ImagePullBackOff",
  "ErrImageNeverPull",
  "InvalidImageName",
  "RegistryUnavailable",
];

export const image: Check = async (cluster, { image, imagePullPolicy }) => {
  const failed = (await cluster.pods()).flatMap((pod) => {
    const waiting = waitingOf(pod);
    return pullFailures.includes(waiting?.reason ?? "")
      ? [`${pod.metadata?.name}: ${waiting?.message ?? waiting?.reason}`]
      : [];
  });
  if (failed.length > 0) {
    const fix = "check the name in BERTH_KUBERNETES_IMAGE, and that nodes may pull it";
    return { ok: false, found: image ?? "not known here", problem: some(failed), fix };
  }
  if (image === null) return { ok: true, found: "BERTH_KUBERNETES_IMAGE is not set here, so it is not looked for" };
  const usable = (await cluster.nodes()).filter(isUsable);
  const having = usable.filter((node) => hasImage(node, image));
  const found = `${image}, on ${having.length} of ${usable.length} nodes`;
  if (having.length === usable.length || imagePullPolicy === "Always") return { ok: true, found };
  if (imagePullPolicy === "IfNotPresent")
    return { ok: true, found, note: "The first agent of a node waits until it is pulled." };
  const problem = "BERTH_KUBERNETES_PULL is Never, so it must be on every node before an agent is.";
  return { ok: false, found, problem, fix: `ctr -n k8s.io images import machine.tar, on each node` };
};

export const machines: Check = async (cluster, { namespace }) => {
  const pods = await cluster.pods();
  const sets = await cluster.sets();
  const wanted = sets.filter(({ spec }) => spec?.replicas === 1).map(({ metadata }) => `${metadata?.name}-0`);
  const names = new Set(pods.map(({ metadata }) => metadata?.name));
  const absent = wanted.filter((name) => !names.has(name));
  const late = pods.filter((pod) => !isReady(pod) && !pullFailures.includes(waitingOf(pod)?.reason ?? ""));
  const found = `${pods.filter(isReady).length} of ${sets.length} have a pod that is ready`;
  if (absent.length + late.length === 0) return { ok: true, found };
  const warnings = await cluster.warnings();
  const reasons = [
    ...absent.map((name) => `${name} is not made: ${warningOf(warnings, name.slice(0, -2)) ?? "nobody says why"}`),
    ...late.map((pod) => `${pod.metadata?.name} waits: ${whyLate(pod, warnings)}`),
  ];
  return {
    ok: false,
    found,
    problem: some(reasons),
    fix: `kubectl --namespace ${namespace} describe pod NAME tells more`,
  };
};

function whyLate(pod: V1Pod, warnings: CoreV1Event[]): string {
  const pending = whyPending(pod);
  if (pending !== null) return pending;
  if (pod.metadata?.deletionTimestamp) return "it is ending";
  const waiting = waitingOf(pod);
  return warningOf(warnings, pod.metadata?.name) ?? waiting?.message ?? waiting?.reason ?? "it is not ready";
}

function warningOf(warnings: CoreV1Event[], name: string | undefined): string | undefined {
  return warnings.find(({ involvedObject }) => involvedObject.name === name)?.message;
}

function isReady({ status }: V1Pod): boolean {
  return status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}

/** A node reports its fifty largest images. A name without a registry is reported with one. */
function hasImage({ status }: V1Node, image: string): boolean {
  const names = (status?.images ?? []).flatMap(({ names }) => names ?? []);
  return names.some((name) => name === image || name.endsWith(`/${image}`));
}

function some(texts: string[]): string {
  const more = texts.length > shown ? ` And ${texts.length - shown} more.` : "";
  return `${texts.slice(0, shown).join("; ")}.${more}`.replace(/\.\./g, ".");
}
