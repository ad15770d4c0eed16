import type { V1ContainerStateWaiting, V1Pod } from "@kubernetes/client-node";

/** Which run of its container a pod is in; null if none runs. */
export function runOf(pod: V1Pod | null): string | null {
  const [container] = pod?.status?.containerStatuses ?? [];
  return container?.state?.running ? `${pod!.metadata?.uid} ${container.containerID}` : null;
}

/** Why no node takes the pod; null if one has, or may still. */
export function whyPending({ status }: V1Pod): string | null {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  return scheduled?.status === "False" ? (scheduled.message ?? scheduled.reason ?? "no node takes it") : null;
}

export function stateOf(pod: V1Pod | null): string {
  const waiting = pod && waitingOf(pod);
  return waiting?.message ?? waiting?.reason ?? pod?.status?.phase ?? "there is none";
}

/** Why the pod's container waits; undefined if it does not. */
export function waitingOf({ status }: V1Pod): V1ContainerStateWaiting | undefined {
  return status?.containerStatuses?.[0]?.state?.waiting;
}
