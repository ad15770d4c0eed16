import type { V1ContainerStateWaiting, V1Pod } from "@kubernetes/client-node";

/** Identifies the run of a pod's container; null if none runs. */
export function runOf(pod: V1Pod | null): string | null {
  const [container] = pod?.status?.containerStatuses ?? [];
  return container?.state?.running ? `${pod!.metadata?.uid} ${container.containerID}` : null;
}

/** Why no node accepts the pod; null if one has, or may still. */
export function whyPending({ status }: V1Pod): string | null {
  const scheduled = status?.conditions?.find(({ type }) => type === "PodScheduled");
  return scheduled?.status === "False" ? (scheduled.message ?? scheduled.reason ?? "no node takes it") : null;
}

export function stateOf(pod: V1Pod | null): string {
  const waiting = pod && waitingOf(pod);
  return waiting?.message ?? waiting?.reason ?? pod?.status?.phase ?? "there is none";
}

/** Undefined if the pod's container does not wait. */
export function waitingOf({ status }: V1Pod): V1ContainerStateWaiting | undefined {
  return status?.containerStatuses?.[0]?.state?.waiting;
}
