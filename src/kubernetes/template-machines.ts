import type { Socket } from "node:net";
import type { V1StatefulSet } from "@kubernetes/client-node";
import type { Resources } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { awaitUplink, type KeeperAddress } from "./keeper-client.ts";
import { templateAnnotation, volumeMiBOf, wantedAnnotation } from "./objects.ts";
import type { Pods } from "./pods.ts";

const dayMs = 86_400_000;
/** How long a template that nobody wants is kept. */
const keptMs = 30 * dayMs;
/** Until a template that could not be made is tried again. */
const pauseMs = 600_000;
/** The most templates of a runtime: more kinds of nodes than that have machines that boot. Each has a volume and a pod. */
const maximumKinds = 8;

interface TemplateMachinesOptions {
  pods: Pods;
  /** The guest image of templates. */
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

/** A template that was made: the machine that keeps it, its runtime and its name. */
export interface MadeTemplate {
  id: string;
  runtime: string;
  name: string;
}

/**
 * Machines that each make the template of a runtime for one kind of nodes and keep it for the others. No agent is ever in one
 * of them. A template is made in a pod on a node of its kind. Once it is made, the pod serves files from any node, and has
 * no guest.
 */
export class TemplateMachines {
  readonly #options: TemplateMachinesOptions;
  /** By their machines' ids, as all below. */
  readonly #making = new Set<string>();
  /** When templates could not be made. */
  readonly #failed = new Map<string, number>();
  /** Templates whose last clone did not respond. */
  readonly #suspect = new Set<string>();
  /** Nodes that are known to be of the templates' kinds. */
  readonly #nodes = new Map<string, Set<string>>();

  constructor(options: TemplateMachinesOptions) {
    this.#options = options;
  }

  /** The template of a runtime that fits a place. Where there is none it is begun, which nobody waits for, and null is returned. */
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

  /** Passes a template on to a new machine's keeper. Throws where it does not fit there, or cannot be had now. */
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

  /** Removes templates of other images, and those that nobody has wanted for thirty days. */
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

  /** Has a template made, once at a time, and not soon again where it could not be. */
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
      // It serves files from here on. Before it is announced: if a server stops in between, the next one makes it again
      // and finds it made.
      await pods.objects.shrink(id);
      await this.#wanted(id, name);
      log(`made the template ${id} in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    } catch (error) {
      // A server that was deposed leaves it to the one that leads.
      if (error instanceof BerthError && ["template_failed", "no_capacity"].includes(error.code)) await pods.remove(id);
      throw error;
    }
  }

  /** Nodes of ever more kinds, whether there are or somebody says so, must not fill the cluster. */
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

  /** Of the ids of all machines whose templates are of this image. Short: a pod's labels have 63 characters. */
  get #ending(): string {
    return `-${this.#options.imageId.slice(0, 8)}`;
  }
}

function nameIn({ metadata }: V1StatefulSet): string | null {
  return metadata?.annotations?.[templateAnnotation] ?? null;
}

/** In milliseconds since 1970. One that is being made is wanted since it began. */
function wantedAt({ metadata }: V1StatefulSet): number {
  const wanted = metadata?.annotations?.[wantedAnnotation] ?? metadata?.creationTimestamp;
  return new Date(wanted ?? Date.now()).getTime();
}
