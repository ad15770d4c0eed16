import type { V1Container, V1PodSpec, V1Secret, V1StatefulSet } from "@kubernetes/client-node";
import type { Resources } from "../../contract/agents.ts";
import { translationCacheMiB } from "../qemu/command.ts";
import { keeperPort } from "./keeper-calls.ts";

/** The label of all objects of machines. */
export const machineLabel = "berth.dev/machine";
/** The observation that the machine's keeper told last, as JSON, and its snapshots. */
export const observedAnnotation = "berth.dev/observed";
export const snapshotsAnnotation = "berth.dev/snapshots";

/** The user and group of everything in a machine's pod. */
const user = 10_001;
/** What QEMU and the keeper take beside the guest's memory. */
const overheadMiB = 512;
/** Of the volume, beside the disk and a saved memory. */
const volumeOverheadMiB = 1024;
/** A large guest's memory has to reach the volume before its node goes. */
const graceSeconds = 300;

/** What machines' pods are made of. */
export interface PodOptions {
  namespace: string;
  /** The image with the keeper, QEMU and the guest image. */
  image: string;
  imagePullPolicy: "IfNotPresent" | "Never" | "Always";
  /** Null: the cluster's default. */
  storageClass: string | null;
  /** The resource of a device plugin for /dev/kvm, such as `devices.kubevirt.io/kvm`; null: without KVM. */
  kvmResource: string | null;
}

/** The name of a machine's StatefulSet and Secret. Its pod is `NAME-0`, its claim `data-NAME-0`. */
export function nameOf(id: string): string {
  return `machine-${id}`;
}

export function secretOf(id: string, token: string): V1Secret {
  return { metadata: { name: nameOf(id), labels: { [machineLabel]: id } }, stringData: { token } };
}

/**
 * A machine: a pod that is there or not, with a volume of its own. A StatefulSet never has two pods of one name, not
 * even when the first one's node is out of reach.
 */
export function statefulSetOf(id: string, resources: Resources, options: PodOptions): V1StatefulSet {
  const labels = { [machineLabel]: id };
  const volumeMiB = resources.diskGiB * 1024 + resources.memoryMiB + volumeOverheadMiB;
  return {
    metadata: { name: nameOf(id), labels },
    spec: {
      serviceName: "machines",
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podOf(id, resources, options) },
      volumeClaimTemplates: [
        {
          metadata: { name: "data", labels },
          spec: {
            accessModes: ["ReadWriteOnce"],
            ...(options.storageClass === null ? {} : { storageClassName: options.storageClass }),
            resources: { requests: { storage: `${volumeMiB}Mi` } },
          },
        },
      ],
    },
  };
}

/** What a machine's pod takes of a node's memory. More, and the kernel kills it. */
export function podMemoryMiB({ memoryMiB }: Resources, kvmResource: string | null): number {
  return memoryMiB + overheadMiB + (kvmResource === null ? translationCacheMiB(memoryMiB) : 0);
}

/** As the pod security standard `restricted` asks. */
function podOf(id: string, resources: Resources, options: PodOptions): V1PodSpec {
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // The image's programs are of this kind.
    nodeSelector: { "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64" },
    terminationGracePeriodSeconds: graceSeconds,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: user,
      runAsGroup: user,
      fsGroup: user,
      fsGroupChangePolicy: "OnRootMismatch",
      seccompProfile: { type: "RuntimeDefault" },
    },
    containers: [keeperOf(id, resources, options)],
    // It is of the node's own disk, which the machine is not to fill.
    volumes: [{ name: "tmp", emptyDir: { sizeLimit: "64Mi" } }],
  };
}

function keeperOf(id: string, resources: Resources, options: PodOptions): V1Container {
  const memory = `${podMemoryMiB(resources, options.kvmResource)}Mi`;
  const devices = options.kvmResource === null ? {} : { [options.kvmResource]: "1" };
  const probe = { httpGet: { path: "/healthz", port: keeperPort } };
  return {
    name: "keeper",
    image: options.image,
    imagePullPolicy: options.imagePullPolicy,
    env: [{ name: "BERTH_KEEPER_TOKEN", valueFrom: { secretKeyRef: { name: nameOf(id), key: "token" } } }],
    ports: [{ containerPort: keeperPort }],
    readinessProbe: { ...probe, periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 10 },
    // Not a liveness probe: a keeper that is slow is no reason to end a guest.
    resources: {
      requests: { cpu: "100m", memory, ...devices },
      limits: { cpu: String(resources.cpus), memory, ...devices },
    },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    volumeMounts: [
      { name: "data", mountPath: "/data" },
      { name: "tmp", mountPath: "/tmp" },
    ],
  };
}
