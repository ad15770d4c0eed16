import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type KubernetesApi, type KubernetesObject } from "./api.ts";

/** The storage class of the volumes below. */
export const storageClass = "shared";
const provisioner = "berth.test/shared";

interface Claim extends KubernetesObject {
  metadata: { name: string; namespace: string; uid: string };
  spec: { storageClassName?: string; volumeName?: string; accessModes: string[]; resources: { requests: object } };
}

interface Volume extends KubernetesObject {
  spec: { storageClassName?: string; local?: { path: string } };
  status?: { phase?: string };
}

/**
 * Provisions persistent volumes, as Kubernetes' external provisioners do: it watches claims and makes a volume for each
 * of its class. A volume is a folder of this machine, which all nodes see, so it can move to any node as a network file
 * system's would. Unlike a disk that is attached, nothing stops two nodes from having it at once: Kubernetes does not
 * enforce ReadWriteOnce for local volumes. Sizes are not enforced either.
 *
 * Kubernetes' own provisioner for tests (`--enable-hostpath-provisioner`) would not do: its folders belong to root and
 * do not get the pod's `fsGroup`, so that a user who is not root cannot write to them.
 */
export class Volumes implements AsyncDisposable {
  readonly #api: KubernetesApi;
  readonly #folder: string;
  readonly #stop = new AbortController();
  readonly #watching: Promise<unknown>;

  private constructor(api: KubernetesApi, folder: string) {
    this.#api = api;
    this.#folder = folder;
    this.#watching = Promise.all([
      this.#follow<Claim>("/api/v1/persistentvolumeclaims", (claim) => this.#provision(claim)),
      this.#follow<Volume>("/api/v1/persistentvolumes", (volume) => this.#reclaim(volume)),
    ]);
  }

  static async start(api: KubernetesApi, folder: string): Promise<Volumes> {
    await mkdir(folder, { mode: 0o755 });
    await api.create("/apis/storage.k8s.io/v1/storageclasses", {
      apiVersion: "storage.k8s.io/v1",
      kind: "StorageClass",
      metadata: { name: storageClass, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
      provisioner,
      reclaimPolicy: "Delete",
    });
    return new Volumes(api, folder);
  }

  /** Watches until it is stopped, again after the API server was away. */
  async #follow<T extends KubernetesObject>(path: string, handle: (object: T) => Promise<void>): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        for await (const { type, object } of this.#api.watch<T>(path, signal)) {
          if (type === "ADDED" || type === "MODIFIED") await handle(object);
        }
      } catch {
        // The next watch begins with all that is there.
        await sleep(200, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #provision({ metadata, spec }: Claim): Promise<void> {
    if (spec.storageClassName !== storageClass || spec.volumeName) return;
    const name = `pvc-${metadata.uid}`;
    const path = join(this.#folder, name);
    await mkdir(path, { recursive: true, mode: 0o700 });
    try {
      await this.#api.create("/api/v1/persistentvolumes", {
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { name, annotations: { "pv.kubernetes.io/provisioned-by": provisioner } },
        spec: {
          capacity: spec.resources.requests,
          accessModes: spec.accessModes,
          storageClassName: storageClass,
          persistentVolumeReclaimPolicy: "Delete",
          claimRef: {
            apiVersion: "v1",
            kind: "PersistentVolumeClaim",
            namespace: metadata.namespace,
            name: metadata.name,
            uid: metadata.uid,
          },
          local: { path },
          nodeAffinity: {
            required: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: "kubernetes.io/hostname", operator: "Exists" }] }],
            },
          },
        },
      });
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 409)) throw error; // Another event of the same claim.
    }
  }

  /** Deletes a volume whose claim is gone. Kubernetes has no deleter of its own for these, and marks it as failed. */
  async #reclaim({ metadata, spec, status }: Volume): Promise<void> {
    if (spec.storageClassName !== storageClass || !["Released", "Failed"].includes(status?.phase ?? "")) return;
    await rm(spec.local!.path, { recursive: true, force: true });
    await this.#api.delete(`/api/v1/persistentvolumes/${metadata.name}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#watching;
  }
}
