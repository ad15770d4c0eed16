import type { V1Affinity, V1Container, V1PodSpec, V1Secret, V1StatefulSet } from "@kubernetes/client-node";
import type { Resources } from "../contract/agents.ts";
import { processor } from "../core/processor.ts";
import { translationCacheMiB } from "../machines/qemu/command.ts";
import { keeperPort } from "./keeper-calls.ts";
import { mebibytes } from "./quantities.ts";

/** A machine's purpose: an agent, or making a template and serving it to other machines. */
export type Kind = "machine" | "template";

/** The label of all objects of a machine. Its value is the machine's id. */
export function labelOf(kind: Kind): string {
  return `berth.dev/${kind}`;
}

/**
 * The last observation that the machine's keeper reported, as JSON, and its snapshots: only those that a server
 * requested.
 */
export const observedAnnotation = "berth.dev/observed";
export const snapshotsAnnotation = "berth.dev/snapshots";
/** When the machine was quarantined, in ISO 8601. */
export const quarantinedAnnotation = "berth.dev/quarantined";
/** The name of the template that a template's machine has made, and when one was last wanted, in ISO 8601. */
export const templateAnnotation = "berth.dev/made";
export const wantedAnnotation = "berth.dev/wanted";

/** The user and group of everything in a machine's pod. */
const user = 10_001;
/** The memory of QEMU and the keeper, in addition to the guest's. */
const overheadMiB = 512;
/**
 * The volume's space in addition to the disk, a saved memory and a template's memory, for example for a template's
 * disk.
 */
const volumeOverheadMiB = 4096;
/** A large guest's memory has to reach the volume before its node stops. */
const graceSeconds = 300;

export const containerName = "keeper";

export interface PodOptions {
  namespace: string;
  image: string;
  imagePullPolicy: "IfNotPresent" | "Never" | "Always";
  /** Null: the cluster's default. */
  storageClass: string | null;
  /** The resource of a device plugin for /dev/kvm, such as `devices.kubevirt.io/kvm`; null: without KVM. */
  kvmResource: string | null;
}

/** The name of a machine's StatefulSet and Secret. Its pod is `NAME-0`, its claim `data-NAME-0`. */
export function nameOf(kind: Kind, id: string): string {
  return `${kind}-${id}`;
}

export function secretOf(kind: Kind, id: string, token: string): V1Secret {
  return { metadata: { name: nameOf(kind, id), labels: { [labelOf(kind)]: id } }, stringData: { token } };
}

export function volumeMiBOf({ diskGiB, memoryMiB }: Resources): number {
  return diskGiB * 1024 + 2 * memoryMiB + volumeOverheadMiB;
}

/** The cluster reports it in units of its own. */
export function volumeBytesOf({ spec }: V1StatefulSet): number {
  const [claim] = spec?.volumeClaimTemplates ?? [];
  return mebibytes(claim?.spec?.resources?.requests?.storage) * 1024 ** 2;
}

/**
 * A machine: at most one pod, with its own volume. A StatefulSet never has two pods of one name, not even when the
 * first one's node is out of reach. `nodes`: those that the pod may be on; null for any.
 */
export function statefulSetOf(
  kind: Kind,
  id: string,
  resources: Resources,
  nodes: readonly string[] | null,
  options: PodOptions,
): V1StatefulSet {
  const labels = { [labelOf(kind)]: id };
  const name = nameOf(kind, id);
  const pod = { ...podOf(name, resources, options), ...(nodes ? { affinity: oneOf(nodes) } : {}) };
  return {
    metadata: { name, labels },
    spec: {
      serviceName: "machines",
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: pod },
      volumeClaimTemplates: [
        {
          metadata: { name: "data", labels },
          spec: {
            accessModes: ["ReadWriteOnce"],
            ...(options.storageClass === null ? {} : { storageClassName: options.storageClass }),
            resources: { requests: { storage: `${volumeMiBOf(resources)}Mi` } },
          },
        },
      ],
    },
  };
}

/**
 * The memory of a machine's pod on a node; with `guestMiB` null, of one that only serves files. If it uses more, the
 * kernel kills it.
 */
export function podMemoryMiB(guestMiB: number | null, kvmResource: string | null): number {
  if (guestMiB === null) return overheadMiB;
  return guestMiB + overheadMiB + (kvmResource === null ? translationCacheMiB(guestMiB) : 0);
}

/** By the nodes' own names: their host name label may differ. A term has one name. */
function oneOf(nodes: readonly string[]): V1Affinity {
  const named = (name: string) => ({ matchFields: [{ key: "metadata.name", operator: "In", values: [name] }] });
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: nodes.map(named) } } };
}

/** As the pod security standard `restricted` requires. */
function podOf(name: string, resources: Resources, options: PodOptions): V1PodSpec {
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // The architecture of the image's programs.
    nodeSelector: { "kubernetes.io/os": "linux", "kubernetes.io/arch": processor.debian },
    terminationGracePeriodSeconds: graceSeconds,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: user,
      runAsGroup: user,
      fsGroup: user,
      fsGroupChangePolicy: "OnRootMismatch",
      seccompProfile: { type: "RuntimeDefault" },
    },
    containers: [keeperOf(name, resources, options)],
    // On the node's own disk, which the machine must not fill.
    volumes: [{ name: "tmp", emptyDir: { sizeLimit: "64Mi" } }],
  };
}

function keeperOf(name: string, resources: Resources, options: PodOptions): V1Container {
  const memory = `${podMemoryMiB(resources.memoryMiB, options.kvmResource)}Mi`;
  const cpu = String(resources.cpus);
  const devices = options.kvmResource === null ? {} : { [options.kvmResource]: "1" };
  const probe = { httpGet: { path: "/healthz", port: keeperPort } };
  return {
    name: containerName,
    image: options.image,
    imagePullPolicy: options.imagePullPolicy,
    env: [
      { name: "BERTH_KEEPER_TOKEN", valueFrom: { secretKeyRef: { name, key: "token" } } },
      { name: "BERTH_KEEPER_RESOURCES", value: JSON.stringify(resources) },
    ],
    ports: [{ containerPort: keeperPort }],
    readinessProbe: { ...probe, periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 10 },
    // Not a liveness probe: a slow keeper is no reason to stop a guest.
    resources: { requests: { cpu: "100m", memory, ...devices }, limits: { cpu, memory, ...devices } },
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
