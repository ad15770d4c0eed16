import { join } from "node:path";
import type { KubernetesObject } from "./api.ts";
import type { Cluster } from "./cluster.ts";
import { busyboxImage } from "./images.ts";
import { poll } from "./poll.ts";
import { storageClass } from "./volumes.ts";

export interface Pod extends KubernetesObject {
  metadata: { name: string; uid: string; deletionTimestamp?: string };
  spec: { nodeName?: string };
  status: { phase: string; podIP?: string; containerStatuses?: { ready: boolean; restartCount: number }[] };
}

const namespace = "default";
export const podsPath = `/api/v1/namespaces/${namespace}/pods`;
const setsPath = `/apis/apps/v1/namespaces/${namespace}/statefulsets`;

/** The strictest Pod Security Standard's requirements of a container, for a user other than root. */
export const restrictedContainer = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  readOnlyRootFilesystem: true,
};
/** And of its pod. Volumes get the group `fsGroup`. */
export const restrictedPod = {
  runAsNonRoot: true,
  runAsUser: 1000,
  runAsGroup: 1000,
  fsGroup: 1000,
  seccompProfile: { type: "RuntimeDefault" },
};

/** A web server of the volume's files that adds a line to one of them in each second. */
const serveAndCount = "httpd -p 8080 -h /data; while date >>/data/seconds; do sleep 1; done";

interface SetOptions {
  replicas?: number;
  /** The node that its pods run on. Otherwise each runs on another. */
  node?: string;
}

/** Creates a StatefulSet of restricted pods, each with a volume at /data that it serves on port 8080. */
export async function createSet(cluster: Cluster, name: string, { replicas = 1, node }: SetOptions): Promise<void> {
  const labels = { app: name };
  const apart = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: labels } };
  await cluster.api.create(setsPath, {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name },
    spec: {
      serviceName: name,
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          ...(node ? { nodeSelector: { "kubernetes.io/hostname": node } } : {}),
          affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } },
          // Not 0: then Kubernetes forgets a lost node's pod at once, and starts another while it may still run.
          terminationGracePeriodSeconds: 1,
          securityContext: restrictedPod,
          containers: [
            {
              name: "main",
              image: busyboxImage,
              imagePullPolicy: "Never",
              command: ["sh", "-c", serveAndCount],
              securityContext: restrictedContainer,
              volumeMounts: [{ name: "data", mountPath: "/data" }],
            },
          ],
        },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: "data" },
          spec: {
            accessModes: ["ReadWriteOnce"],
            storageClassName: storageClass,
            resources: { requests: { storage: "1Gi" } },
          },
        },
      ],
    },
  });
}

/** Lets the set's pods run on any node (`null`) or on one. Its pod is recreated there. */
export async function placeSet(cluster: Cluster, name: string, node: string | null): Promise<void> {
  const nodeSelector = { "kubernetes.io/hostname": node };
  await cluster.api.patch(`${setsPath}/${name}`, { spec: { template: { spec: { nodeSelector } } } });
}

/** Null where there is none. */
export async function findPod(cluster: Cluster, name: string): Promise<Pod | null> {
  const { items } = await cluster.api.get<{ items: Pod[] }>(podsPath);
  return items.find(({ metadata }) => metadata.name === name) ?? null;
}

/** Waits until there is a pod whose containers are ready, and that is not to be deleted. It is not `earlier`. */
export async function readyPod(cluster: Cluster, name: string, earlier?: Pod): Promise<Pod> {
  let pod: Pod | null = null;
  await poll(`pod ${name} is ready`, async () => {
    pod = await findPod(cluster, name);
    return isReady(pod) && pod.metadata.uid !== earlier?.metadata.uid;
  });
  return pod!;
}

function isReady(pod: Pod | null): pod is Pod {
  const containers = pod?.status.containerStatuses ?? [];
  return !pod?.metadata.deletionTimestamp && containers.length > 0 && containers.every(({ ready }) => ready);
}

/** The folder of this machine that is the volume of a set's pod. */
export async function volumeFolder(cluster: Cluster, pod: string): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/persistentvolumeclaims/data-${pod}`;
  const { spec } = await cluster.api.get<{ spec: { volumeName: string } }>(path);
  return join(cluster.folder, "volumes", spec.volumeName);
}

/** Runs a shell command in a pod, and returns its output. */
export function inPod(cluster: Cluster, pod: string, command: string): Promise<string> {
  return cluster.kubectl("exec", pod, "--", "sh", "-c", command);
}
