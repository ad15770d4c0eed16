import { rm } from "node:fs/promises";
import { makeMachineImage } from "../../deploy/kubernetes/machine-image.ts";
import { startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { createServer, type Server } from "../../src/server.ts";
import { TestClient } from "../support/client.ts";
import { newFolder, testConfig } from "../support/config.ts";
import { newDatabase } from "../support/new-database.ts";
import type { Cluster } from "./cluster.ts";
import { startClusterWith } from "./cluster-with-images.ts";

const image = "berth.test/machine:1";
export const namespace = "berth-machines";

/** A machine's pod. */
export interface MachinePod {
  metadata: { name: string; uid: string; deletionTimestamp?: string };
  spec: { nodeName: string };
  status: { containerStatuses: { containerID: string; restartCount: number }[] };
}

/** A server outside a cluster of two nodes, whose machines are pods there. */
export class PodService implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly client: TestClient;
  /** The server's. */
  readonly dataFolder: string;
  readonly #parts: AsyncDisposableStack;

  private constructor(cluster: Cluster, client: TestClient, dataFolder: string, parts: AsyncDisposableStack) {
    this.dataFolder = dataFolder;
    this.cluster = cluster;
    this.client = client;
    this.#parts = parts;
  }

  static async start(): Promise<PodService> {
    await using parts = new AsyncDisposableStack();
    const cluster = parts.use(await startClusterWith({ [image]: makeMachineImage }));
    await cluster.kubectl("create", "namespace", namespace);
    const databaseFolder = await newFolder();
    parts.defer(() => rm(databaseFolder, { recursive: true }));
    const postgres = await startEmbeddedPostgres(databaseFolder);
    parts.defer(() => postgres.stop());
    const config = await testConfig({
      ...(await newDatabase(postgres, databaseFolder, "machines")),
      secretKey: Buffer.alloc(32, 7).toString("base64"),
      logLevel: "warn",
      memoryMiB: 10_000_000,
      kubernetes: {
        namespace,
        image,
        imagePullPolicy: "Never",
        storageClass: null,
        kvmResource: null,
        kubeconfig: cluster.kubeconfig,
      },
    });
    parts.defer(() => rm(config.dataFolder, { recursive: true }));
    const server: Server = parts.use(await createServer(config));
    const client = await TestClient.ofOperator(server.url, config.dataFolder);
    return new PodService(cluster, client, config.dataFolder, parts.move());
  }

  /** The pods of agents' machines. */
  async pods(): Promise<MachinePod[]> {
    const found = await this.cluster.kubectl("-n", namespace, "get", "pods", "-l", "berth.dev/machine", "-o", "json");
    return JSON.parse(found).items as MachinePod[];
  }

  /** The names of everything that machines are made of. */
  objects(): Promise<string> {
    return this.cluster.kubectl("-n", namespace, "get", "pods,pvc,secret,statefulset", "-o", "name");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}
