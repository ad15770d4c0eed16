import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { keeperPort } from "../../src/machines/kubernetes/keeper-calls.ts";
import { KeeperServer } from "../../src/machines/kubernetes/keeper-server.ts";
import { PassedFiles } from "../../src/machines/kubernetes/passed-files.ts";
import { TemplateUplinks } from "../../src/machines/kubernetes/template-uplinks.ts";
import { ScriptedVolume } from "./scripted-volume.ts";

/** A node of the cluster. Pods on one that is not ready do not answer, and stay. */
export interface ScriptedNode {
  /** Of what kind the templates are that fit there. */
  kind: string;
  isReady: boolean;
}

interface Stored {
  metadata: {
    name: string;
    uid?: string;
    creationTimestamp?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  [field: string]: unknown;
}

/** As far as machines have any. */
export interface StoredSet extends Stored {
  spec: { replicas: number; template: { spec: PodSpec } };
}
interface PodSpec {
  affinity?: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: { matchFields: { values: string[] }[] }[];
      };
    };
  };
}

/** A pod that runs, and its keeper. */
interface Pod {
  object: Stored;
  /** What it was made of. */
  spec: string;
  keeper: KeeperServer;
}

const version = "v1";
const route = /^\/apis?\/(?:apps\/)?v1(?:\/namespaces\/[^/]+)?\/(\w+)(?:\/([^/?]+))?(?:\?(.*))?$/;

/**
 * A cluster without containers: a server that speaks as much of Kubernetes' protocol as machines need, and for each pod a
 * real keeper with a scripted machine, on a loopback address of its own.
 */
export class ScriptedCluster implements AsyncDisposable {
  /** By name. A pod that may be anywhere comes to the first one. */
  readonly nodes: Record<string, ScriptedNode>;
  readonly sets = new Map<string, StoredSet>();
  /** By the StatefulSet's name, as all below; they last as long as the volume. */
  readonly volumes = new Map<string, ScriptedVolume>();
  readonly #folder: string;
  readonly #secrets = new Map<string, Stored>();
  readonly #pods = new Map<string, Pod>();
  /** The last change of each set's pod. */
  readonly #changes = new Map<string, Promise<void>>();
  readonly #server: Server;
  /** Pods of another run have other addresses. */
  readonly #network = `127.${randomInt(1, 255)}.${randomInt(255)}`;
  #addresses = 0;

  private constructor(folder: string, nodes: Record<string, ScriptedNode>) {
    this.#folder = folder;
    this.nodes = nodes;
    this.#server = createServer(async (request, response) => {
      const [status, body] = await this.#answer(request);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  }

  static async start(folder: string, nodes: Record<string, ScriptedNode>): Promise<ScriptedCluster> {
    const cluster = new ScriptedCluster(folder, nodes);
    await once(cluster.#server.listen(0, "127.0.0.1"), "listening");
    const { port } = cluster.#server.address() as AddressInfo;
    const context = { context: { cluster: "c", user: "u" }, name: "c" };
    const server = { server: `http://127.0.0.1:${port}`, "insecure-skip-tls-verify": true };
    const config = {
      clusters: [{ name: "c", cluster: server }],
      users: [{ name: "u", user: { token: "t" } }],
      contexts: [context],
      "current-context": "c",
    };
    await mkdir(folder, { recursive: true });
    await writeFile(cluster.kubeconfig, JSON.stringify(config));
    return cluster;
  }

  get kubeconfig(): string {
    return join(this.#folder, "kubeconfig");
  }

  /** The node of a StatefulSet's pod; undefined if it has none. */
  nodeOf(set: string): string | undefined {
    return (this.#pods.get(set)?.object.spec as { nodeName: string } | undefined)?.nodeName;
  }

  async #answer(request: IncomingMessage): Promise<[number, object]> {
    const [, kind, name, query] = route.exec(request.url!) ?? [];
    if (kind === "statefulsets") return this.#answerOfSets(request, name, query);
    if (kind === "secrets") return this.#answerOfSecrets(request, name);
    if (kind === "nodes") return this.#nodeNamed(name!);
    if (kind === "events") return [200, { kind: "EventList", apiVersion: "v1", items: [] }];
    if (kind === "persistentvolumeclaims") return this.#removeVolume(name!.slice("data-".length, -"-0".length));
    const pod = kind === "pods" && this.#pods.get(name!.slice(0, -"-0".length));
    return pod ? [200, pod.object] : missing;
  }

  async #answerOfSets(request: IncomingMessage, name?: string, query = ""): Promise<[number, object]> {
    if (request.method === "POST") {
      const set = (await json(request)) as StoredSet;
      if (this.sets.has(set.metadata.name)) return [409, { kind: "Status", message: "it is there" }];
      this.sets.set(set.metadata.name, stamped(set));
      this.#settle(set.metadata.name);
      return [201, set];
    }
    const label = new URLSearchParams(query).get("labelSelector");
    if (name === undefined) {
      const items = [...this.sets.values()].filter(({ metadata }) => metadata.labels![label!] !== undefined);
      return [200, { kind: "StatefulSetList", apiVersion: "apps/v1", items }];
    }
    const set = this.sets.get(name);
    if (!set) return missing;
    if (request.method === "GET") return [200, set];
    const patched = request.method === "PATCH" ? (merged(set, await json(request)) as StoredSet) : null;
    if (patched) this.sets.set(name, patched);
    else this.sets.delete(name);
    this.#settle(name);
    return [200, patched ?? set];
  }

  async #answerOfSecrets(request: IncomingMessage, name?: string): Promise<[number, object]> {
    if (request.method === "POST") {
      const { stringData, ...secret } = (await json(request)) as Stored & { stringData: { token: string } };
      const data = { token: Buffer.from(stringData.token).toString("base64") };
      this.#secrets.set(secret.metadata.name, { ...secret, data });
      return [201, secret];
    }
    const secret = this.#secrets.get(name!);
    if (request.method === "DELETE") this.#secrets.delete(name!);
    return secret ? [200, secret] : missing;
  }

  #nodeNamed(name: string): [number, object] {
    const node = this.nodes[name];
    const conditions = [{ type: "Ready", status: node?.isReady ? "True" : "Unknown" }];
    return node ? [200, { kind: "Node", apiVersion: version, metadata: { name }, status: { conditions } }] : missing;
  }

  async #removeVolume(set: string): Promise<[number, object]> {
    await this.#changes.get(set);
    await this.volumes.get(set)?.[Symbol.asyncDispose]();
    this.volumes.delete(set);
    return [200, {}];
  }

  /** Gives the set the pod that it is to have, after what is being done about it. */
  #settle(name: string): void {
    const before = this.#changes.get(name) ?? Promise.resolve();
    this.#changes.set(
      name,
      before.then(() => this.#change(name)),
    );
  }

  async #change(name: string): Promise<void> {
    const set = this.sets.get(name);
    const pod = this.#pods.get(name);
    const spec = set && JSON.stringify(set.spec.template.spec);
    const isWanted = set?.spec.replicas === 1;
    if (pod && !(isWanted && pod.spec === spec)) await this.#end(name, pod);
    if (isWanted && !this.#pods.has(name)) await this.#begin(set, spec!);
  }

  async #end(name: string, { keeper, object }: Pod): Promise<void> {
    // Nobody there hears that it is to end.
    if (!this.nodes[(object.spec as { nodeName: string }).nodeName]!.isReady) return;
    const volume = this.volumes.get(name)!;
    for (const id of volume.running) await volume.suspend(id);
    await keeper[Symbol.asyncDispose]();
    this.#pods.delete(name);
  }

  async #begin({ metadata: { name }, spec: { template } }: StoredSet, spec: string): Promise<void> {
    const nodeName = this.#nodeFor(template.spec);
    if (nodeName === null) return;
    const folder = join(this.#folder, name);
    const volume = this.volumes.get(name) ?? new ScriptedVolume(join(folder, "machines"));
    volume.kind = this.nodes[nodeName]!.kind;
    this.volumes.set(name, volume);
    const podIP = `${this.#network}.${++this.#addresses}`;
    const token = Buffer.from((this.#secrets.get(name)!.data as { token: string }).token, "base64").toString();
    await mkdir(folder, { recursive: true });
    const keeper = await KeeperServer.listen({
      driver: volume,
      files: await PassedFiles.open(volume.files, join(folder, "passed")),
      uplinks: new TemplateUplinks(),
      token,
      epochFile: join(folder, "epoch"),
      host: podIP,
      port: keeperPort,
    });
    const conditions = [{ type: "Ready", status: "True" }];
    const containerStatuses = [{ state: { running: {} }, containerID: `c${this.#addresses}` }];
    const status = { podIP, conditions, containerStatuses };
    this.#pods.set(name, {
      object: { ...stamped({ metadata: { name: `${name}-0` } }), spec: { nodeName }, status },
      spec,
      keeper,
    });
  }

  #nodeFor({ affinity }: PodSpec): string | null {
    const terms = affinity?.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms;
    const allowed = terms?.flatMap(({ matchFields }) => matchFields[0]!.values) ?? Object.keys(this.nodes);
    return allowed.find((name) => this.nodes[name]?.isReady) ?? null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#changes.values());
    for (const { keeper } of this.#pods.values()) await keeper[Symbol.asyncDispose]();
    for (const volume of this.volumes.values()) await volume[Symbol.asyncDispose]();
    this.#server.closeAllConnections();
    this.#server.close();
    await rm(this.#folder, { recursive: true });
  }
}

const missing: [number, object] = [404, { kind: "Status", message: "it is not there" }];
let stamps = 0;

function stamped<Kind extends Stored>(object: Kind): Kind {
  object.metadata.uid = `u${++stamps}`;
  object.metadata.creationTimestamp = new Date().toISOString();
  return object;
}

/** As a strategic merge patch: null removes a field, and lists of things with names are merged by these. */
function merged(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other)) {
    const left = one.filter(({ name }) => !other.some((each) => each.name === name));
    return [
      ...left,
      ...other.map((each) =>
        merged(
          one.find(({ name }) => name === each.name),
          each,
        ),
      ),
    ];
  }
  if (!(one instanceof Object && other instanceof Object) || Array.isArray(other)) return other;
  const result: Record<string, unknown> = { ...one };
  for (const [key, value] of Object.entries(other)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}
