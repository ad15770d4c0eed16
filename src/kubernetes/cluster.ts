import {
  AppsV1Api,
  CoreV1Api,
  type CoreV1Event,
  PatchStrategy,
  setHeaderOptions,
  type V1Node,
  type V1Pod,
  type V1StatefulSet,
} from "@kubernetes/client-node";
import type { Resources } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { newToken } from "../machines/adoption.ts";
import { ClusterConnection, reasonOf, statusOf } from "./connection.ts";
import {
  containerName,
  type Kind,
  labelOf,
  nameOf,
  type PodOptions,
  podMemoryMiB,
  secretOf,
  statefulSetOf,
} from "./objects.ts";

/** Lists, such as a pod's containers, are merged by their entries' names. */
const mergePatch = setHeaderOptions("Content-Type", PatchStrategy.StrategicMergePatch);

export class MachineObjects {
  readonly #apps: AppsV1Api;
  readonly #core: CoreV1Api;
  readonly #options: PodOptions;
  readonly #kind: Kind;

  /** `kubeconfig`: a file; null: the service account of this pod. */
  constructor(kind: Kind, kubeconfig: string | null, options: PodOptions) {
    const connection = new ClusterConnection(kubeconfig);
    this.#apps = connection.makeApiClient(AppsV1Api);
    this.#core = connection.makeApiClient(CoreV1Api);
    this.#options = options;
    this.#kind = kind;
  }

  async set(id: string): Promise<V1StatefulSet | null> {
    return nullIfMissing(this.#apps.readNamespacedStatefulSet({ name: this.#nameOf(id), namespace: this.#namespace }));
  }

  idOf({ metadata }: V1StatefulSet): string {
    return metadata!.labels![labelOf(this.#kind)]!;
  }

  async sets(): Promise<V1StatefulSet[]> {
    const of = { namespace: this.#namespace, labelSelector: labelOf(this.#kind) };
    return (await nullIfMissing(this.#apps.listNamespacedStatefulSet(of)))?.items ?? [];
  }

  async pod(id: string): Promise<V1Pod | null> {
    return nullIfMissing(this.#core.readNamespacedPod({ name: `${this.#nameOf(id)}-0`, namespace: this.#namespace }));
  }

  /** Kubernetes' last warning about the machine's pod; null if there is none. */
  async warning(id: string): Promise<string | null> {
    for (const name of [`${this.#nameOf(id)}-0`, this.#nameOf(id)]) {
      const fieldSelector = `type=Warning,involvedObject.name=${name}`;
      const asked = this.#core.listNamespacedEvent({ namespace: this.#namespace, fieldSelector });
      const { items } = await asked.catch(() => ({ items: [] }));
      const message = items.sort(byTime).at(-1)?.message;
      if (message !== undefined) return message;
    }
    return null;
  }

  /** Null if the cluster has no such node. */
  async node(name: string): Promise<V1Node | null> {
    return nullIfMissing(this.#core.readNode({ name }));
  }

  /** The token of the machine's keeper. Null if there is no such machine. */
  async token(id: string): Promise<string | null> {
    return this.#kept(id, "token");
  }

  /** Stores up to 1 MiB of text with the machine, next to its token. */
  async keepLog(id: string, log: string): Promise<void> {
    const of = { name: this.#nameOf(id), namespace: this.#namespace };
    await nullIfMissing(this.#core.patchNamespacedSecret({ ...of, body: { stringData: { log } } }, mergePatch));
  }

  async log(id: string): Promise<string | null> {
    return this.#kept(id, "log");
  }

  /** Creates the machine's missing objects. `nodes`: those that its pod may be on; null for any. */
  async create(id: string, resources: Resources, nodes: readonly string[] | null = null): Promise<void> {
    const namespace = this.#namespace;
    await unlessThere(this.#core.createNamespacedSecret({ namespace, body: secretOf(this.#kind, id, newToken()) }));
    const body = statefulSetOf(this.#kind, id, resources, nodes, this.#options);
    await unlessThere(this.#apps.createNamespacedStatefulSet({ namespace, body }));
  }

  /** 1: the machine has a pod, somewhere; 0: it has none. */
  async scale(id: string, replicas: 0 | 1): Promise<void> {
    await this.#patch(id, { spec: { replicas } });
  }

  /** Returns the updated StatefulSet. */
  async annotate(id: string, annotations: Record<string, string>): Promise<V1StatefulSet> {
    return this.#patch(id, { metadata: { annotations } });
  }

  /**
   * Replaces the machine's pod with one on any node, whose memory is enough to serve files and too small for a guest.
   */
  async shrink(id: string): Promise<void> {
    const memory = `${podMemoryMiB(null, this.#options.kvmResource)}Mi`;
    const keeper = { name: containerName, resources: { requests: { memory }, limits: { memory } } };
    await this.#patch(id, { spec: { template: { spec: { affinity: null, containers: [keeper] } } } });
  }

  /** Resolves when its pod is gone. */
  async remove(id: string): Promise<void> {
    const namespace = this.#namespace;
    const name = this.#nameOf(id);
    await nullIfMissing(this.#apps.deleteNamespacedStatefulSet({ name, namespace }));
    await nullIfMissing(this.#core.deleteNamespacedPod({ name: `${name}-0`, namespace, gracePeriodSeconds: 1 }));
    const claim = { name: `data-${name}-0`, namespace };
    await nullIfMissing(this.#core.deleteNamespacedPersistentVolumeClaim(claim));
    await nullIfMissing(this.#core.deleteNamespacedSecret({ name, namespace }));
  }

  async #kept(id: string, key: "token" | "log"): Promise<string | null> {
    const of = { name: this.#nameOf(id), namespace: this.#namespace };
    const text = (await nullIfMissing(this.#core.readNamespacedSecret(of)))?.data?.[key];
    return text === undefined ? null : Buffer.from(text, "base64").toString();
  }

  async #patch(id: string, body: object): Promise<V1StatefulSet> {
    const of = { name: this.#nameOf(id), namespace: this.#namespace };
    const patched = await nullIfMissing(this.#apps.patchNamespacedStatefulSet({ ...of, body }, mergePatch));
    if (!patched) throw new BerthError("machine_lost", "The agent's machine is not in the cluster any more.");
    return patched;
  }

  #nameOf(id: string): string {
    return nameOf(this.#kind, id);
  }

  get #namespace(): string {
    return this.#options.namespace;
  }
}

function byTime(one: CoreV1Event, other: CoreV1Event): number {
  return Number(one.lastTimestamp ?? 0) - Number(other.lastTimestamp ?? 0);
}

/** Null for a missing object. Throws `machine_failed` if the cluster refuses or does not answer. */
async function nullIfMissing<Result>(request: Promise<Result>): Promise<Result | null> {
  return request.catch((error: unknown) => {
    if (statusOf(error) === 404) return null;
    throw refused(error);
  });
}

async function unlessThere(request: Promise<unknown>): Promise<void> {
  await request.catch((error: unknown) => {
    if (statusOf(error) !== 409) throw refused(error);
  });
}

function refused(error: unknown): BerthError {
  return new BerthError("machine_failed", `Kubernetes does not do what is needed: ${reasonOf(error)}`, {
    cause: error,
  });
}
