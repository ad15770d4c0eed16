import { randomUUID } from "node:crypto";
import { glob } from "node:fs/promises";
import { join } from "node:path";
import { CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import type { KubernetesConfig } from "../../src/config/config.ts";

/**
 * Where the machines of this run's services are: in pods of this cluster, with this image and their volumes in this folder;
 * null: in the tests' process.
 */
const pods: { kubeconfig: string; image: string; volumes: string } | null = JSON.parse(
  process.env.BERTH_TEST_PODS ?? "null",
);

/** A namespace of the run's cluster for the machines of one service. */
export class Namespace implements AsyncDisposable {
  readonly config: KubernetesConfig;
  readonly #api: CoreV1Api;

  private constructor(api: CoreV1Api, config: KubernetesConfig) {
    this.config = config;
    this.#api = api;
  }

  /** Null where machines are in the tests' process. */
  static async create(): Promise<Namespace | null> {
    if (!pods) return null;
    const kubeconfig = new KubeConfig();
    kubeconfig.loadFromFile(pods.kubeconfig);
    const api = kubeconfig.makeApiClient(CoreV1Api);
    const namespace = `test-${randomUUID().slice(0, 8)}`;
    await api.createNamespace({ body: { metadata: { name: namespace } } });
    const { image, kubeconfig: file } = pods;
    const options = { imagePullPolicy: "Never", storageClass: null, kvmResource: null } as const;
    return new Namespace(api, { namespace, kubeconfig: file, image, ...options });
  }

  /** The home of a scripted machine, which is a folder of its pod's volume. */
  static async homeOf(id: string): Promise<string> {
    for await (const home of glob(join(pods!.volumes, "*/machine/machines", id))) return home;
    throw new Error(`no volume has the machine ${id}`);
  }

  /** Everything in it is removed, which is not waited for. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#api.deleteNamespace({ name: this.config.namespace, gracePeriodSeconds: 0 });
  }
}
