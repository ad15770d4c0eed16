import {
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  PatchStrategy,
  setHeaderOptions,
  type V1Node,
  type V1Pod,
  type V1StatefulSet,
} from "@kubernetes/client-node";
import type { Resources } from "../../contract/agents.ts";
import { BerthError } from "../../contract/errors.ts";
import { newToken } from "../adoption.ts";
import {
  containerName,
  type Kind,
  labelOf,
  memoryOf,
  nameOf,
  type PodOptions,
  secretOf,
  statefulSetOf,
} from "./objects.ts";

/** Lists, such as a pod's containers, are merged by their entries' names. */
const mergePatch = setHeaderOptions("Content-Type", PatchStrategy.StrategicMergePatch);

/** The objects of machines of one kind in one namespace of a cluster. */
export class MachineObjects {
  readonly #apps: AppsV1Api;
  readonly #core: CoreV1Api;
  readonly #options: PodOptions;
  readonly #kind: Kind;

  /** `kubeconfig`: a file; null: the service account of this pod. */
  constructor(kind: Kind, kubeconfig: string | null, options: PodOptions) {
    const config = new KubeConfig();
    if (kubeconfig === null) config.loadFromCluster();
    else config.loadFromFile(kubeconfig);
    this.#apps = config.makeApiClient(AppsV1Api);
    this.#core = config.makeApiClient(CoreV1Api);
    this.#options = options;
    this.#kind = kind;
  }

  /** The machine's StatefulSet; null if there is none. */
  async set(id: string): Promise<V1StatefulSet | null> {
    return nullIfMissing(this.#apps.readNamespacedStatefulSet({ name: this.#nameOf(id), namespace: this.#namespace }));
  }

  /** The machine of a StatefulSet. */
  idOf({ metadata }: V1StatefulSet): string {
    return metadata!.labels![labelOf(this.#kind)]!;
  }

  async sets(): Promise<V1StatefulSet[]> {
    const of = { namespace: this.#namespace, labelSelector: labelOf(this.#kind) };
    return (await nullIfMissing(this.#apps.listNamespacedStatefulSet(of)))?.items ?? [];
  }

  /** The machine's pod; null if there is none. */
  async pod(id: string): Promise<V1Pod | null> {
    return nullIfMissing(this.#core.readNamespacedPod({ name: `${this.#nameOf(id)}-0`, namespace: this.#namespace }));
  }

  /** Null if it is gone from the cluster. */
  async node(name: string): Promise<V1Node | null> {
    return nullIfMissing(this.#core.readNode({ name }));
  }

  /** What the machine's keeper wants to see. Null if there is no such machine. */
  async token(id: string): Promise<string | null> {
    const of = { name: this.#nameOf(id), namespace: this.#namespace };
    const secret = await nullIfMissing(this.#core.readNamespacedSecret(of));
    const token = secret?.data?.token;
    return token === undefined ? null : Buffer.from(token, "base64").toString();
  }

  /** Makes what of the machine is not there. */
  async create(id: string, resources: Resources): Promise<void> {
    const namespace = this.#namespace;
    await unlessThere(this.#core.createNamespacedSecret({ namespace, body: secretOf(this.#kind, id, newToken()) }));
    const body = statefulSetOf(this.#kind, id, resources, this.#options);
    await unlessThere(this.#apps.createNamespacedStatefulSet({ namespace, body }));
  }

  /** 1: the machine has a pod, somewhere; 0: it has none. */
  async scale(id: string, replicas: 0 | 1): Promise<void> {
    await this.#patch(id, { spec: { replicas } });
  }

  /** Returns the StatefulSet as it is then. */
  async annotate(id: string, annotations: Record<string, string>): Promise<V1StatefulSet> {
    return this.#patch(id, { metadata: { annotations } });
  }

  /** Gives the machine a pod, in place of the one that it has, whose memory is enough to serve files and too small for a guest. */
  async shrink(id: string): Promise<void> {
    const memory = memoryOf(null);
    const keeper = { name: containerName, resources: { requests: { memory }, limits: { memory } } };
    await this.#patch(id, { spec: { template: { spec: { containers: [keeper] } } } });
  }

  /** Removes the machine with its volume. Resolves when its pod is gone. */
  async remove(id: string): Promise<void> {
    const namespace = this.#namespace;
    const name = this.#nameOf(id);
    await nullIfMissing(this.#apps.deleteNamespacedStatefulSet({ name, namespace }));
    await nullIfMissing(this.#core.deleteNamespacedPod({ name: `${name}-0`, namespace, gracePeriodSeconds: 1 }));
    const claim = { name: `data-${name}-0`, namespace };
    await nullIfMissing(this.#core.deleteNamespacedPersistentVolumeClaim(claim));
    await nullIfMissing(this.#core.deleteNamespacedSecret({ name, namespace }));
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

/** Null for what is not there. Throws `machine_failed` where the cluster refuses, or does not answer. */
async function nullIfMissing<Result>(request: Promise<Result>): Promise<Result | null> {
  return request.catch((error: unknown) => {
    if (codeOf(error) === 404) return null;
    throw refused(error);
  });
}

async function unlessThere(request: Promise<unknown>): Promise<void> {
  await request.catch((error: unknown) => {
    if (codeOf(error) !== 409) throw refused(error);
  });
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}

/** The client's errors have the whole answer, with its headers, in their message. */
function refused(error: unknown): BerthError {
  const { body, message } = error as { body?: unknown; message: string };
  const said =
    typeof body === "string" ? (/"message":"((?:[^"\\]|\\.)*)"/.exec(body)?.[1] ?? body.slice(0, 300)) : message;
  return new BerthError("machine_failed", `Kubernetes does not do what is needed: ${said}`, { cause: error });
}
