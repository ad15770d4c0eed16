import type { Socket } from "node:net";
import type { V1StatefulSet } from "@kubernetes/client-node";
import type { Resources } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { awaitUplink, type KeeperAddress } from "./keeper-client.ts";
import { templateAnnotation, volumeMiBOf, wantedAnnotation } from "./objects.ts";
import type { Pods } from "./pods.ts";

const dayMs = 86_400_000;
/** How long an unused template is kept. */
const keptMs = 30 * dayMs;
/** Pause after a failed template. */
const pauseMs = 600_000;
/** Limit on a runtime's templates; on further kinds of nodes machines boot. Each template has a volume and a pod. */
const maximumKinds = 8;

interface TemplateMachinesOptions {
  pods: Pods;
  imageId: string;
  /** A runtime's default machine size, which its templates have. */
  usualResources: (runtime: string) => Resources;
  /** Serves the model calls of the throwaway turns that warm a template. */
  serveUplink: (socket: Socket) => void;
  log: (message: string) => void;
}

/**
 * The location of a new machine, as its keeper reported before there was a guest: its node, and the kind of templates
 * that fit there.
 */
export interface Place {
  node: string;
  kind: string;
}

export interface MadeTemplate {
  id: string;
  runtime: string;
  name: string;
}

/**
 * Machines that each make the template of a runtime for one kind of nodes and keep it for the others. No agent ever
 * runs in one. A template is made in a pod on a node of its kind. After that, the pod serves files from any node, and
 * has no guest.
 */
export class TemplateMachines {
  readonly #options: TemplateMachinesOptions;
  /** By machine id, like the fields below. */
  readonly #making = new Set<string>();
  /** Times of failed attempts. */
  readonly #failed = new Map<string, number>();
  /** Templates whose last clone did not respond. */
  readonly #suspect = new Set<string>();
  /** Nodes that are known to be of the templates' kinds. */
  readonly #nodes = new Map<string, Set<string>>();

  constructor(options: TemplateMachinesOptions) {
    this.#options = options;
  }

  /**
   * The template of a runtime that fits a place. If there is none, begins one without waiting for it, and returns null.
   */
  async made(runtime: string, { node, kind }: Place): Promise<MadeTemplate | null> {
    const { pods } = this.#options;
    const id = this.#idOf(runtime, kind);
    this.#nodes.set(id, (this.#nodes.get(id) ?? new Set()).add(node));
    const set = await pods.objects.set(id);
    const name = set && nameIn(set);
    if (!name) {
      this.#begin(id, runtime, kind);
      return null;
    }
    if (Date.now() - wantedAt(set) > dayMs) await this.#wanted(id, name);
    return { id, runtime, name };
  }

  /** Passes a template to a new machine's keeper. Throws if it does not fit, or is not available now. */
  async pass({ id, runtime, name }: MadeTemplate, to: KeeperAddress): Promise<void> {
    const { pods, usualResources } = this.#options;
    const maximumBytes = volumeMiBOf(usualResources(runtime)) * 1024 ** 2;
    await pods.pass({ kind: "templates", name }, { from: await pods.address(id), to, maximumBytes });
  }

  /**
   * Records that a clone of a template did not respond. The first time, it may have been killed; the second time in a
   * row, the template is blamed and recreated.
   */
  async blame(id: string): Promise<void> {
    const { pods, log } = this.#options;
    if (!this.#suspect.has(id)) return void this.#suspect.add(id);
    this.#suspect.delete(id);
    log(`the template ${id} is not usable; a new one will be made`);
    await pods.remove(id);
  }

  /** Records that a clone of a template is alive. */
  trust(id: string): void {
    this.#suspect.delete(id);
  }

  /** Removes templates of other images, and those unused for thirty days. */
  async sweep(): Promise<void> {
    const { pods } = this.#options;
    for (const set of await pods.objects.sets()) {
      const id = pods.objects.idOf(set);
      if (id.endsWith(this.#ending) && Date.now() - wantedAt(set) < keptMs) continue;
      await pods.remove(id);
    }
  }

  close(): void {
    this.#options.pods.close();
  }

  /** Begins a template, once at a time, with a pause after a failure. */
  #begin(id: string, runtime: string, kind: string): void {
    if (this.#making.has(id) || Date.now() - (this.#failed.get(id) ?? 0) < pauseMs) return;
    this.#making.add(id);
    this.#make(id, runtime, kind)
      .catch(({ message }: Error) => {
        this.#failed.set(id, Date.now());
        this.#options.log(`no template ${id}: ${message}`);
      })
      .finally(() => this.#making.delete(id));
  }

  /** Throws `template_failed`, `no_capacity`. */
  async #make(id: string, runtime: string, kind: string): Promise<void> {
    const { pods, usualResources, log } = this.#options;
    await this.#requireFewKinds(id, runtime, kind);
    const began = performance.now();
    log(`making the template ${id}`);
    await pods.objects.create(id, usualResources(runtime), [...this.#nodes.get(id)!]);
    try {
      await pods.ready(id);
      const keeper = await pods.address(id);
      await this.#requireKind(id, keeper, runtime, kind);
      const name = await this.#madeBy(keeper, runtime);
      // From here on it serves files. Before the announcement: if a server stops in between, the next one repeats the
      // step and finds the template.
      await pods.objects.shrink(id);
      await this.#wanted(id, name);
      log(`made the template ${id} in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    } catch (error) {
      // A deposed server leaves it to the leader.
      if (error instanceof BerthError && ["template_failed", "no_capacity"].includes(error.code)) await pods.remove(id);
      throw error;
    }
  }

  /** Limits the kinds of nodes, real or invented, so that templates cannot fill the cluster. */
  async #requireFewKinds(id: string, runtime: string, kind: string): Promise<void> {
    const [start, end] = this.#idOf(runtime, kind).split(kind) as [string, string];
    const isOther = (other: string) => other !== id && other.startsWith(start) && other.endsWith(end);
    const { objects } = this.#options.pods;
    const made = (await objects.sets()).map((set) => objects.idOf(set));
    const others = new Set([...made, ...this.#making].filter(isOther));
    if (others.size < maximumKinds) return;
    throw new BerthError("template_failed", `${runtime} has templates of ${maximumKinds} kinds of nodes already.`);
  }

  /** A node may have changed since a machine was on it. */
  async #requireKind(id: string, keeper: KeeperAddress, runtime: string, kind: string): Promise<void> {
    if ((await this.#options.pods.askAt(keeper, "templateKind", [runtime])) === kind) return;
    this.#nodes.delete(id);
    throw new BerthError("template_failed", "The node is of another kind by now.");
  }

  async #madeBy(keeper: KeeperAddress, runtime: string): Promise<string> {
    const { pods, serveUplink } = this.#options;
    const done = new AbortController();
    void awaitUplink(keeper, done.signal).then((socket) => socket && serveUplink(socket));
    try {
      const name = await pods.askAt(keeper, "prepare", [runtime]);
      return name!;
    } finally {
      done.abort();
    }
  }

  async #wanted(id: string, name: string): Promise<void> {
    const annotations = { [templateAnnotation]: name, [wantedAnnotation]: new Date().toISOString() };
    await this.#options.pods.objects.annotate(id, annotations);
  }

  #idOf(runtime: string, kind: string): string {
    return `${runtime}-${kind}${this.#ending}`;
  }

  /** The end of the ids of all machines whose templates are of this image. Short: a pod's labels have 63 characters. */
  get #ending(): string {
    return `-${this.#options.imageId.slice(0, 8)}`;
  }
}

function nameIn({ metadata }: V1StatefulSet): string | null {
  return metadata?.annotations?.[templateAnnotation] ?? null;
}

/** In milliseconds since 1970. A template that is being made counts as wanted since its begin. */
function wantedAt({ metadata }: V1StatefulSet): number {
  const wanted = metadata?.annotations?.[wantedAnnotation] ?? metadata?.creationTimestamp;
  return new Date(wanted ?? Date.now()).getTime();
}
