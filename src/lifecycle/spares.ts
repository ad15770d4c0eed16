import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import type { AppContext } from "../context.ts";
import type { Resources } from "../contract/agents.ts";
import type { Capacity } from "../contract/capacity.ts";
import { ProcessorUse } from "../core/processor-use.ts";
import { pause } from "../core/retry.ts";
import type { MachineSpec } from "../machines/spec.ts";
import { resourcesOf } from "../runtimes/runtime.ts";

/** Check intervals before and while a spare is made, and how long the host must be quiet before. */
const lookMs = 2_000;
const yieldMs = 250;
const quietMs = 10_000;
/** The delay after a spare could not be created. */
const pauseMs = 60_000;
/** How long a runtime counts as used after an agent was created on it. */
const recentMs = 24 * 3_600_000;
const agentsWork = "Agents are starting or answering.";
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
  readonly #use = new ProcessorUse();
  #lastUsed: Map<string, number> | null = null;
  /** Why there are fewer spares than the maximum. */
  #reason: string | null = "A template is being made.";
  #busyAt = performance.now();
  #working: Promise<void> = Promise.resolve();

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** The number of available spares, the maximum, and why there are not more. */
  get count(): Capacity["spares"] {
    const [used, limit] = [this.#waiting.size, this.#context.config.spares];
    return { used, limit, reason: used < limit ? this.#reason : null };
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
        this.#reason = "The last spare could not be created. The server's log says why.";
        await pause(pauseMs, signal);
      }
    }
  }

  /** Whether so many agents start or answer that a spare would slow them. */
  get #areAgentsBusy(): boolean {
    const { running, reconciler } = this.#context;
    return running.size + reconciler.atWork >= Math.ceil(availableParallelism() / 2);
  }

  /** Why the host is not idle; null if it is. */
  #otherWork(): string | null {
    const { spareLoad } = this.#context.config;
    const use = this.#use.measure();
    if (this.#areAgentsBusy) return agentsWork;
    if (use < spareLoad) return null;
    const percent = (share: number) => `${Math.round(share * 100)} %`;
    return `The host's processors are ${percent(use)} busy. The limit is ${percent(spareLoad)} (BERTH_SPARE_LOAD).`;
  }

  /** The runtime of the next spare. */
  async #wanted(): Promise<string | null> {
    const { config, models, stores } = this.#context;
    const work = this.#otherWork();
    if (work) [this.#busyAt, this.#reason] = [performance.now(), work];
    if (this.#waiting.size >= config.spares || performance.now() - this.#busyAt < quietMs) {
      if (!work) this.#reason = `The host has been idle for less than ${quietMs / 1000} seconds.`;
      return null;
    }
    this.#reason = "Each runtime that was used in the last day has one.";
    this.#lastUsed ??= new Map(
      [...(await stores.lifecycle.lastCreated())].map(([runtime, at]) => [runtime, at.getTime()]),
    );
    const offered = models.offered.filter(({ needsProgram }) => !needsProgram).map(({ name }) => name);
    const recent = [...this.#lastUsed].filter(([name, at]) => Date.now() - at < recentMs && offered.includes(name));
    const names = recent.toSorted(([, one], [, other]) => other - one).map(([runtime]) => runtime);
    const served = new Set([...this.#waiting.values()].map((spare) => spare.runtime));
    return (
      (names.length > 0 ? names : offered.slice(0, 1)).slice(0, config.spares).find((each) => !served.has(each)) ?? null
    );
  }

  async #make(runtime: string): Promise<void> {
    const { machines, slots, runtimes, log } = this.#context;
    const id = randomUUID();
    const resources = resourcesOf(runtimes, runtime);
    if (!slots.tryHold({ agentId: id, accountId: "spare", memoryMiB: resources.memoryMiB })) {
      this.#reason = "The running machines leave no room.";
      return;
    }
    this.#reason = `A spare of ${runtime} is being made.`;
    const spec = {
      id,
      generation: 1,
      restarts: 0,
      restores: 0,
      snapshot: null,
      isImporting: false,
      runtime,
      acp: null,
      hostname: "spare",
      resources,
    };
    const stopped = this.#stopped.signal;
    const yielded = new AbortController();
    const signal = AbortSignal.any([stopped, yielded.signal]);
    const watch = setInterval(() => {
      if (!this.#areAgentsBusy) return;
      this.#reason = agentsWork;
      yielded.abort();
    }, yieldMs);
    try {
      await machines.makeSpare(spec, signal);
      signal.throwIfAborted();
    } catch (error) {
      await this.remove(id);
      if (signal.aborted) return;
      throw error;
    } finally {
      clearInterval(watch);
    }
    this.#waiting.set(id, spec);
    const gone = async () => {
      if (!this.#waiting.delete(id) || stopped.aborted) return;
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
