import {
  AppsV1Api,
  AuthorizationV1Api,
  CoreV1Api,
  type CoreV1Event,
  NetworkingV1Api,
  StorageV1Api,
  type V1CSIDriver,
  type V1Namespace,
  type V1NetworkPolicy,
  type V1Node,
  type V1Pod,
  type V1ResourceAttributes,
  type V1StatefulSet,
  type V1StorageClass,
  VersionApi,
} from "@kubernetes/client-node";
import { type ClusterConnection, statusOf } from "../connection.ts";

/** A check's view of the cluster. Throws the client's errors; `statusOf` 403: this user may not read it. */
export class ClusterView {
  readonly server: string;
  readonly #connection: ClusterConnection;
  readonly #core: CoreV1Api;
  readonly #namespace: string;
  #nodes: Promise<V1Node[]> | null = null;
  #pods: Promise<V1Pod[]> | null = null;

  constructor(connection: ClusterConnection, namespace: string) {
    this.server = connection.getCurrentCluster()!.server;
    this.#connection = connection;
    this.#core = connection.makeApiClient(CoreV1Api);
    this.#namespace = namespace;
  }

  /** Such as `v1.20.2`. */
  async version(): Promise<string> {
    return (await this.#connection.makeApiClient(VersionApi).getCode()).gitVersion;
  }

  /** Null if it does not exist. */
  async namespace(): Promise<V1Namespace | null> {
    return this.#core.readNamespace({ name: this.#namespace }).catch((error: unknown) => {
      if (statusOf(error) === 404) return null;
      throw error;
    });
  }

  async mayI(what: V1ResourceAttributes): Promise<boolean> {
    const body = { spec: { resourceAttributes: what } };
    const reviews = this.#connection.makeApiClient(AuthorizationV1Api);
    return (await reviews.createSelfSubjectAccessReview({ body })).status?.allowed ?? false;
  }

  nodes(): Promise<V1Node[]> {
    this.#nodes ??= this.#core.listNode().then(({ items }) => items);
    return this.#nodes;
  }

  /** Pods of agents' machines and of templates. */
  pods(): Promise<V1Pod[]> {
    this.#pods ??= this.#core.listNamespacedPod({ namespace: this.#namespace }).then(({ items }) => items);
    return this.#pods;
  }

  /** Sets of agents' machines and of templates. */
  async sets(): Promise<V1StatefulSet[]> {
    const apps = this.#connection.makeApiClient(AppsV1Api);
    return (await apps.listNamespacedStatefulSet({ namespace: this.#namespace })).items;
  }

  /** Recent problems in the machines' namespace, newest first. */
  async warnings(): Promise<CoreV1Event[]> {
    const of = { namespace: this.#namespace, fieldSelector: "type=Warning" };
    const { items } = await this.#core.listNamespacedEvent(of);
    return items.sort((one, other) => Number(other.lastTimestamp ?? 0) - Number(one.lastTimestamp ?? 0));
  }

  async storageClasses(): Promise<V1StorageClass[]> {
    return (await this.#connection.makeApiClient(StorageV1Api).listStorageClass()).items;
  }

  async storageDrivers(): Promise<V1CSIDriver[]> {
    return (await this.#connection.makeApiClient(StorageV1Api).listCSIDriver()).items;
  }

  async networkPolicies(): Promise<V1NetworkPolicy[]> {
    const networking = this.#connection.makeApiClient(NetworkingV1Api);
    return (await networking.listNamespacedNetworkPolicy({ namespace: this.#namespace })).items;
  }
}
