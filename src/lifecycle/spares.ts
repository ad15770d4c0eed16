import { randomUUID } from "node:crypto";
import { cpus, loadavg } from "node:os";
import type { AppContext } from "../context.ts";
import type { Resources } from "../contract/agents.ts";
import { pause } from "../core/retry.ts";
import type { MachineSpec } from "../machines/spec.ts";
import { resourcesOf } from "../runtimes/runtime.ts";

/** Check interval, and how long the host must be quiet before a spare is created. */
const lookMs = 2_000;
const quietMs = 10_000;
/** The delay after a spare could not be created. */
const pauseMs = 60_000;
/** How long a runtime counts as used after an agent was created on it. */
const recentMs = 24 * 3_600_000;
/** The time limit for a spare to respond before it is given to an agent. */
const answerMs = 2_000;

/**
 * Spares: machines for agents that do not exist yet, one for each recently used runtime. A spare is a machine like any
 * other, made and warmed beforehand under the id that its agent will have. It takes a slot, belongs to no account, and
 * is removed first when slots run out. A starting server removes the previous server's spares, as machines without an
 * agent.
 */
export class Spares {
  readonly #context: AppContext;
  readonly #waiting = new Map<string, MachineSpec>();
  readonly #stopped = new AbortController();
  #lastUsed: Map<string, number> | null = null;
  #busyAt = performance.now();
  #working: Promise<void> = Promise.resolve();

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** The number of available spares, and the maximum. */
  get count(): { used: number; limit: number } {
    return { used: this.#waiting.size, limit: this.#context.config.spares };
  }

  begin(): void {
    if (this.#context.config.spares > 0) this.#working = this.#work();
  }

  /** The id of a spare of this kind for an agent, which takes its slot; null: there is none. */
  async take(runtime: string, resources: Resources): Promise<string | null> {
    const { machines, slots, runtimes } = this.#context;
    this.#lastUsed?.set(runtime, Date.now());
    this.#busyAt = performance.now();
    const spare = [...this.#waiting.values()].find((each) => each.runtime === runtime);
    if (!spare || JSON.stringify(resources) !== JSON.stringify(resourcesOf(runtimes, runtime))) return null;
    const { id } = spare;
    this.#waiting.delete(id);
    if (await machines.answers(spare, answerMs)) {
      slots.release(id);
      return id;
    }
    // Nothing waits for its removal.
    void this.remove(id);
    return null;
  }

  /** Releases one spare's slot. False if there is no spare. */
  async evict(): Promise<boolean> {
    const [id] = this.#waiting.keys();
    if (id === undefined) return false;
    this.#waiting.delete(id);
    await this.remove(id);
    return true;
  }

  /** Removes all spares. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#working;
    while (await this.evict());
  }

  async #work(): Promise<void> {
    const { signal } = this.#stopped;
    for (; !signal.aborted; await pause(lookMs, signal)) {
      try {
        const runtime = await this.#wanted();
        if (runtime) await this.#make(runtime);
      } catch (error) {
        this.#context.log("a spare machine could not be created", { error });
        await pause(pauseMs, signal);
      }
    }
  }

  /** Whether the host has other work. */
  get #isHostBusy(): boolean {
    const { running, config } = this.#context;
    const processors = cpus().length;
    return running.size >= Math.ceil(processors / 2) || loadavg()[0]! >= processors * config.spareLoad;
  }

  /** The runtime of the next spare. */
  async #wanted(): Promise<string | null> {
    const { config, runtimes, stores } = this.#context;
    if (this.#isHostBusy) this.#busyAt = performance.now();
    if (this.#waiting.size >= config.spares || performance.now() - this.#busyAt < quietMs) return null;
    this.#lastUsed ??= new Map(
      [...(await stores.lifecycle.lastCreated())].map(([runtime, at]) => [runtime, at.getTime()]),
    );
    const recent = [...this.#lastUsed].filter(([, at]) => Date.now() - at < recentMs);
    const names = recent.toSorted(([, one], [, other]) => other - one).map(([runtime]) => runtime);
    const served = new Set([...this.#waiting.values()].map((spare) => spare.runtime));
    return (
      (names.length > 0 ? names : [runtimes[0]!.name]).slice(0, config.spares).find((each) => !served.has(each)) ?? null
    );
  }

  async #make(runtime: string): Promise<void> {
    const { machines, slots, runtimes, log } = this.#context;
    const id = randomUUID();
    const resources = resourcesOf(runtimes, runtime);
    if (!slots.tryHold({ agentId: id, accountId: "spare", memoryMiB: resources.memoryMiB })) return;
    const spec = {
      id,
      generation: 1,
      restarts: 0,
      restores: 0,
      snapshot: null,
      isImporting: false,
      runtime,
      hostname: "spare",
      resources,
    };
    const { signal } = this.#stopped;
    try {
      await machines.makeSpare(spec, signal);
      signal.throwIfAborted();
    } catch (error) {
      await this.remove(id);
      if (signal.aborted) return;
      throw error;
    }
    this.#waiting.set(id, spec);
    const gone = async () => {
      if (!this.#waiting.delete(id) || signal.aborted) return;
      log("a spare machine has stopped", { id });
      await this.remove(id);
    };
    machines
      .ended(id)
      .then(gone, (error: unknown) => log("a spare machine's end could not be observed", { id, error }));
  }

  /**
   * Removes a spare that is no longer available, or that was taken for an agent that was not created. Never rejects.
   */
  async remove(id: string): Promise<void> {
    const { machines, slots, log } = this.#context;
    await machines.destroy(id).catch((error: unknown) => log("a spare machine could not be removed", { id, error }));
    slots.release(id);
  }
}
