import type { Socket } from "node:net";
import type { V1StatefulSet } from "@kubernetes/client-node";
import type { Resources } from "../../contract/agents.ts";
import { BerthError } from "../../contract/errors.ts";
import { awaitUplink, type KeeperAddress } from "./keeper-client.ts";
import { templateAnnotation, volumeMiBOf, wantedAnnotation } from "./objects.ts";
import type { Pods } from "./pods.ts";

const dayMs = 86_400_000;
/** How long a template that nobody wants is kept. */
const keptMs = 30 * dayMs;
/** Until a template that could not be made is tried again. */
const pauseMs = 600_000;

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
 * Machines that each make the template of a runtime and keep it for the others, one for each runtime and image. No agent is
 * ever in one of them. Once its template is made, such a machine's pod serves files, and has no guest.
 */
export class TemplateMachines {
  readonly #options: TemplateMachinesOptions;
  readonly #making = new Map<string, Promise<string>>();
  /** When runtimes' templates could not be made. */
  readonly #failed = new Map<string, number>();
  /** Runtimes whose last clone did not come to life. */
  readonly #suspect = new Set<string>();

  constructor(options: TemplateMachinesOptions) {
    this.#options = options;
  }

  /** The name of a runtime's template. Where there is none it is begun, which nobody waits for, and null is returned. */
  async made(runtime: string): Promise<string | null> {
    const { pods, log } = this.#options;
    const id = this.#idOf(runtime);
    const set = await pods.objects.set(id);
    const name = set && nameIn(set);
    if (!name) {
      if (Date.now() - (this.#failed.get(runtime) ?? 0) > pauseMs) {
        this.make(runtime).catch(({ message }: Error) => log(`no template of ${runtime}: ${message}`));
      }
      return null;
    }
    if (Date.now() - wantedAt(set) > dayMs) await this.#wanted(id, name);
    return name;
  }

  /** Makes a runtime's template if it is not there. Resolves with its name. Throws `template_failed`, `no_capacity`. */
  make(runtime: string): Promise<string> {
    const making = this.#making.get(runtime);
    if (making) return making;
    const made = this.#make(runtime).finally(() => this.#making.delete(runtime));
    this.#making.set(runtime, made);
    return made;
  }

  /** Passes a template on to a new machine's keeper. Throws where it does not fit there, or cannot be had now. */
  async pass(runtime: string, name: string, to: KeeperAddress): Promise<void> {
    const { pods, usualResources } = this.#options;
    const maximumBytes = volumeMiBOf(usualResources(runtime)) * 1024 ** 2;
    const from = await pods.address(this.#idOf(runtime));
    await pods.pass({ kind: "templates", name }, { from, to, maximumBytes });
  }

  /**
   * Records that a clone of a runtime's template did not come to life. The first time, it may have been ended; the second time
   * in a row, the template is blamed and made anew.
   */
  async blame(runtime: string): Promise<void> {
    const { pods, log } = this.#options;
    if (!this.#suspect.has(runtime)) return void this.#suspect.add(runtime);
    this.#suspect.delete(runtime);
    log(`the template of ${runtime} is not usable; a new one will be made`);
    await pods.remove(this.#idOf(runtime));
  }

  /** Records that a clone of a runtime's template is alive. */
  trust(runtime: string): void {
    this.#suspect.delete(runtime);
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

  async #make(runtime: string): Promise<string> {
    const { pods, usualResources, log } = this.#options;
    const id = this.#idOf(runtime);
    const known = await pods.objects.set(id);
    const made = known && nameIn(known);
    if (made) return made;
    const began = performance.now();
    log(`making the template of ${runtime}`);
    await pods.objects.create(id, usualResources(runtime));
    try {
      await pods.ready(id);
      const name = await this.#madeBy(await pods.address(id), runtime);
      await this.#wanted(id, name);
      log(`made the template of ${runtime} in ${((performance.now() - began) / 1000).toFixed(1)} s`);
      // It serves files from here on.
      await pods.objects.shrink(id);
      return name;
    } catch (error) {
      this.#failed.set(runtime, Date.now());
      // A server that was deposed leaves it to the one that leads.
      if (error instanceof BerthError && ["template_failed", "no_capacity"].includes(error.code)) await pods.remove(id);
      throw error;
    }
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

  #idOf(runtime: string): string {
    return `${runtime}${this.#ending}`;
  }

  /** Of the ids of all machines whose templates are of this image. */
  get #ending(): string {
    return `-${this.#options.imageId.slice(0, 12)}`;
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
