import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { newFolder } from "../support/config.ts";
import { removeAbandoned, removeCgroups } from "./abandoned.ts";
import { KubernetesApi, type KubernetesObject } from "./api.ts";
import { kubernetesPrograms } from "./build.ts";
import { Authority } from "./certificates.ts";
import { ControlPlane } from "./control-plane.ts";
import { makePauseImage } from "./images.ts";
import { Network } from "./network.ts";
import { ClusterNode } from "./node.ts";
import { poll } from "./poll.ts";
import { Volumes } from "./volumes.ts";

const run = promisify(execFile);

interface Condition {
  type: string;
  status: string;
}

/** A Kubernetes cluster on this machine: real programs, with a control plane and nodes that can fail. Needs root. */
export class Cluster implements AsyncDisposable {
  readonly folder: string;
  /** As the client with all rights. */
  readonly api: KubernetesApi;
  /** Named `a`, `b` and so on. */
  readonly nodes: ReadonlyMap<string, ClusterNode>;
  /** The authority that issues certificates to the API server, nodes and clients. */
  readonly authority: Authority;
  /** Path of a kubeconfig file with all rights. Its certificates are files next to it. */
  readonly kubeconfig: string;
  /** Where the API server is: `https://ADDRESS:PORT`, with an address of this machine that nodes and pods reach. */
  readonly server: string;
  readonly #programs: string;
  readonly #plane: ControlPlane;
  readonly #parts: AsyncDisposableStack;

  private constructor(parts: ClusterParts, stack: AsyncDisposableStack) {
    this.folder = parts.folder;
    this.api = parts.api;
    this.authority = parts.authority;
    this.nodes = new Map(parts.nodes.map((node) => [node.name, node]));
    this.kubeconfig = parts.kubeconfig;
    this.server = parts.url;
    this.#programs = parts.programs;
    this.#plane = parts.plane;
    this.#parts = stack;
  }

  /** Resolves when all nodes are Ready. Builds Kubernetes where it is not in the cache. */
  static async start({ nodes }: { nodes: number }): Promise<Cluster> {
    await using stack = new AsyncDisposableStack();
    const parts = await startParts(stack, nodes);
    const cluster = new Cluster(parts, stack.move());
    try {
      await cluster.#poll("all nodes are Ready", () => cluster.#areReady());
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  node(name: string): ClusterNode {
    const node = this.nodes.get(name);
    if (!node) throw new Error(`there is no node ${name}`);
    return node;
  }

  /** Runs kubectl with all rights, and returns its output. */
  async kubectl(...args: string[]): Promise<string> {
    const command = ["--kubeconfig", this.kubeconfig, ...args];
    const { stdout } = await run(join(this.#programs, "kubectl"), command, { maxBuffer: 64 * 1024 ** 2 });
    return stdout;
  }

  /** Imports an archive of an OCI image on all nodes. Pods use it by its name, with `imagePullPolicy: Never`. */
  async load(archive: string): Promise<void> {
    await Promise.all([...this.nodes.values()].map((node) => node.load(archive)));
  }

  /** Kills the API server. The other programs, nodes and pods keep running. */
  async stopApiServer(): Promise<void> {
    await this.#plane.stopApiServer();
  }

  /** Resolves when it answers. */
  async startApiServer(): Promise<void> {
    await this.#plane.startApiServer();
    await this.#poll("the API server answers", () => isHealthy(this.api));
  }

  async isReady(node: string): Promise<boolean> {
    const path = `/api/v1/nodes/${node}`;
    const { status } = await this.api.get<{ status: { conditions?: Condition[] } }>(path);
    return status.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
  }

  async #areReady(): Promise<boolean> {
    const { items } = await this.api.get<{ items: KubernetesObject[] }>("/api/v1/nodes");
    if (items.length < this.nodes.size) return false;
    const ready = await Promise.all(items.map(({ metadata }) => this.isReady(metadata.name)));
    return ready.every(Boolean);
  }

  async #poll(what: string, isDone: () => Promise<boolean>): Promise<void> {
    await poll(what, isDone, async () => {
      await this.#plane.check();
      for (const node of this.nodes.values()) await node.check();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

interface ClusterParts {
  folder: string;
  programs: string;
  kubeconfig: string;
  url: string;
  authority: Authority;
  plane: ControlPlane;
  api: KubernetesApi;
  nodes: ClusterNode[];
}

/** Starts each part and puts it on `stack`, also where a later one fails. */
async function startParts(stack: AsyncDisposableStack, count: number): Promise<ClusterParts> {
  if (process.getuid?.() !== 0) throw new Error("a cluster needs root: it makes namespaces, cgroups and interfaces");
  const programs = await kubernetesPrograms();
  await removeAbandoned();
  const folder = await newFolder();
  stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
  const network = stack.use(await Network.create(basename(folder)));
  const authority = await Authority.create(join(folder, "pki"));
  const admin = { name: "admin", group: "system:masters" };
  const url = `https://${network.address}:6443`;
  const kubeconfig = await authority.kubeconfig("admin", url, admin);
  const pem = (name: string) => readFile(join(folder, "pki", name), "utf8");
  const tls = { ca: await pem("authority.crt"), cert: await pem("admin.crt"), key: await pem("admin.key") };
  const api = stack.use(new KubernetesApi(url, tls));
  await makePauseImage(join(folder, "pause.tar"), programs);
  const plane = stack.use(await ControlPlane.start(folder, programs, network, authority));
  await poll(
    "the API server answers",
    () => isHealthy(api),
    () => plane.check(),
  );
  stack.use(await Volumes.start(api, join(folder, "volumes")));
  stack.defer(() => removeCgroups(basename(folder)));
  const nodes: ClusterNode[] = [];
  for (let index = 0; index < count; index++) {
    nodes.push(stack.use(await ClusterNode.start({ folder, programs, network, authority, index, count })));
  }
  return { folder, programs, kubeconfig, url, authority, plane, api, nodes };
}

async function isHealthy(api: KubernetesApi): Promise<boolean> {
  // The roles that nodes need are made after the start.
  return api.get("/readyz").then(
    () => true,
    () => false,
  );
}
