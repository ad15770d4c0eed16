import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import type { Fault } from "../contract/agents.ts";
import { asBerthError, BerthError, isShortage } from "../contract/errors.ts";
import { Backoff, pause, retryTransient } from "../core/retry.ts";
import type { Progress, StartFrom } from "../machines/spec.ts";
import type { AgentChange } from "./changes.ts";
import { plan } from "./plan.ts";
import { InstallWriter } from "./provisioning.ts";

/** A machine that stops unexpectedly this often within `lossWindowMs` is not restarted automatically. */
const maximumLosses = 3;
const lossWindowMs = 10 * 60_000;
/** The maximum number of attempts at a step while the host lacks a resource; spread over some minutes. */
const maximumShortages = 10;
/** The delay before retrying a step that failed because of the host or the database. */
const leastRetryMs = 500;
const mostRetryMs = 30_000;

/**
 * The work on one agent, one step at a time. `done` resolves when its desired state is reached or cannot be reached.
 */
interface Work {
  /** The generation of the row that the step works for. A row of a later generation interrupts it. */
  generation: number;
  again: boolean;
  /** Consecutive attempts that failed because the host lacked a resource. */
  shortages: number;
  step: AbortController;
  done: Promise<void>;
}

/**
 * Moves machines towards their agents' desired state, one step at a time per agent. Each step may be repeated after a
 * crash at any point. A step of an older generation writes nothing.
 */
export class Reconciler {
  readonly #context: AppContext;
  readonly #work = new Map<string, Work>();
  /** When each agent's machines stopped unexpectedly, in milliseconds of the monotonic clock. */
  readonly #losses = new Map<string, number[]>();
  /** Why each agent's last start failed, for its waiters. */
  readonly #refusals = new Map<string, BerthError>();
  readonly #stop = new AbortController();
  /** No machine is touched until the set of running machines is known. */
  readonly #recovered = Promise.withResolvers<void>();
  /** The agents whose machine's end is watched, as of their last start. */
  readonly #watched = new Map<string, AgentState>();

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** Aborted when the service stops. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** The number of agents for which work is in progress. */
  get atWork(): number {
    return this.#work.size;
  }

  /** Whether work is in progress for the agent. */
  isAtWork(id: string): boolean {
    return this.#work.has(id);
  }

  /** Why the agent's last start failed, since `forgetRefusal`. */
  refusalOf(id: string): BerthError | null {
    return this.#refusals.get(id) ?? null;
  }

  forgetRefusal(id: string): void {
    this.#refusals.delete(id);
  }

  forgetLosses(id: string): void {
    this.#losses.delete(id);
  }

  forget(id: string): void {
    this.#losses.delete(id);
    this.#refusals.delete(id);
  }

  /** Lets work begin, once the set of running machines is known. */
  begin(): void {
    this.#recovered.resolve();
  }

  async begun(): Promise<void> {
    await this.#recovered.promise;
    this.#stop.signal.throwIfAborted();
  }

  /** Starts no more steps. Waiting work is dropped; running steps finish and write nothing. */
  stop(): void {
    this.#stop.abort(new BerthError("shutting_down", "The service is shutting down."));
    this.#recovered.resolve();
  }

  /** Resolves when no step of the agent is under way. Call after `stop`. */
  async settled(id: string): Promise<void> {
    await this.#work.get(id)?.done;
  }

  /**
   * Works on the agent until its desired state is reached or cannot be reached; interrupts a step of an older
   * generation.
   */
  reconcile({ id, generation }: AgentState): Promise<void> {
    const work = this.#work.get(id);
    if (work) {
      work.again = true;
      if (work.generation < generation) work.step.abort(new Superseded());
      return work.done;
    }
    const begun: Work = {
      generation,
      again: true,
      shortages: 0,
      step: new AbortController(),
      done: Promise.resolve(),
    };
    this.#begin(id, begun, Promise.resolve());
    return begun.done;
  }

  #begin(id: string, work: Work, before: Promise<void>): void {
    this.#work.set(id, work);
    work.done = before
      .then(() => this.#loop(id, work))
      .finally(() => {
        this.#work.delete(id);
        this.#context.idleness.endEviction(id);
        // An idle machine may now be evicted for another.
        this.#context.slots.retry();
      });
  }

  /** Runs `task` with the agent's machine between two steps. Steps requested in the meantime follow it. */
  async alone<T>(id: string, task: () => Promise<T>): Promise<T> {
    await this.begun();
    for (let work = this.#work.get(id); work; work = this.#work.get(id)) await work.done;
    this.#stop.signal.throwIfAborted();
    const work: Work = {
      generation: 0,
      again: false,
      shortages: 0,
      step: new AbortController(),
      done: Promise.resolve(),
    };
    const result = task();
    this.#begin(
      id,
      work,
      result.then(
        () => {},
        () => {}, // Belongs to the caller.
      ),
    );
    return result;
  }

  /** Reads or writes a row; waits while the database is down. Throws `shutting_down`. */
  ask<T>(ask: () => Promise<T>): Promise<T> {
    return retryTransient(ask, this.#stop.signal, (error) =>
      this.#context.log("an agent's row is unreachable; trying again", { error }),
    );
  }

  async #loop(id: string, work: Work): Promise<void> {
    await this.begun().catch(() => {});
    for (const backoff = new Backoff(leastRetryMs, mostRetryMs); work.again && !this.#stop.signal.aborted; ) {
      work.again = false;
      work.step = new AbortController();
      try {
        await this.#step(id, work);
        backoff.reset();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        work.again = true;
        if (error instanceof Superseded) continue;
        this.#context.log("a lifecycle step of an agent failed; trying again", { agentId: id, error });
        await pause(backoff.next(), this.#stop.signal);
      }
    }
  }

  async #step(id: string, work: Work): Promise<void> {
    const { stores, machines, slots } = this.#context;
    const agent = await stores.agents.byId(id);
    if (!agent) return slots.release(id);
    work.generation = agent.generation;
    const signal = AbortSignal.any([work.step.signal, this.#stop.signal]);
    const action = plan(agent, await machines.observe(id));
    switch (action.do) {
      case "settle":
        return;
      case "remove":
        await machines.destroy(id);
        slots.release(id);
        await stores.lifecycle.remove(id);
        return;
      case "fail":
        return this.#fail(agent, action.error);
      case "suspend":
        return this.#suspend(agent, work, signal);
      case "start":
        await this.#start(action.from, agent, work, signal);
        if (agent.desired === "suspended") work.again = true;
    }
  }

  /** Makes the machine run, and records each step of an installation as it begins. */
  async #start(from: StartFrom, agent: AgentState, work: Work, signal: AbortSignal): Promise<void> {
    const { machines, slots, metrics, lifecycle, idleness } = this.#context;
    const { id, generation } = agent;
    const begun = performance.now();
    // An agent that is needed again while it is being evicted waits for a slot itself.
    idleness.endEviction(id);
    const steps = new InstallWriter(agent, (change) => this.write(id, generation, change));
    try {
      await slots.acquire(slotOf(agent), (position) => lifecycle.noteQueue(id, position), signal);
      // A wake is not an installation, and callers wait only for its end.
      const progress = agent.status === "suspended" ? silent : steps;
      // Another server may have the machine by now: once this one stops, it neither starts a machine nor stops one for
      // a start.
      signal.throwIfAborted();
      await machines.start(from, { ...agent, hostname: agent.name }, progress, signal);
      const { image } = await machines.observe(id);
      await steps.end("done", { status: "ready", error: null, ...(image !== null && { image }) });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (this.#isWorthAnotherTry(agent, work, error)) throw error;
      return this.#refuse(agent, steps, error);
    }
    if (agent.status !== "ready")
      metrics.machine(agent.status === "suspended" ? "wake" : "create", (performance.now() - begun) / 1000);
    idleness.scheduleCheck(id);
    this.#watch(agent);
  }

  #isWorthAnotherTry(agent: AgentState, work: Work, error: unknown): boolean {
    // A shortage of the host is usually short. A machine that may already run is never given up because of one.
    if (isShortage(error)) return agent.status === "ready" || ++work.shortages < maximumShortages;
    // A machine may be killed during its start as well as later.
    return isOfMachine(error) && this.#countLoss(agent.id) < maximumLosses;
  }

  /** The start failed, and so has the agent. If only a slot was missing, it stays suspended. */
  async #refuse(agent: AgentState, steps: InstallWriter, error: unknown): Promise<void> {
    const { machines, slots, log } = this.#context;
    const failure = isShortage(error)
      ? new BerthError("no_capacity", "The host lacks the resources to start the agent's machine.", { cause: error })
      : asBerthError(error, "machine_failed", "The agent's machine could not be started.");
    log("an agent's machine could not be started", { agent: agent.name, code: failure.code, error });
    this.#refusals.set(agent.id, failure);
    // An agent that was ready has lost its slot to another. If its machine runs after all, its memory is kept if
    // possible.
    if (failure.code === "no_capacity" && agent.status !== "provisioning") {
      await machines
        .suspend(agent.id)
        .catch(() => machines.stop(agent.id))
        .catch((fault: unknown) => log("a superfluous machine could not be stopped", { error: fault }));
      slots.release(agent.id);
      await this.write(agent.id, agent.generation, { status: "suspended", desired: "suspended" });
      return;
    }
    const { code, message } = failure;
    await steps.end("failed", { status: "failed", error: { code, message } });
    await this.#release(agent.id);
  }

  /** A failed machine uses no memory. Its disk, its memory image and the last output of its runtime are kept. */
  async #release(id: string): Promise<void> {
    const { machines, slots, log } = this.#context;
    const { phase } = await machines.observe(id);
    if (phase === "running") {
      await machines.stop(id).catch((fault: unknown) => log("a failed machine could not be stopped", { error: fault }));
    }
    slots.release(id);
  }

  /** Only the agent's owner can choose how to continue. */
  async #fail(agent: AgentState, error: Fault): Promise<void> {
    const { id, generation } = agent;
    this.#context.log("an agent has failed", { agent: agent.name, code: error.code });
    this.#refusals.set(id, new BerthError(error.code, error.message));
    this.#context.slots.release(id);
    await this.write(id, generation, { status: "failed", error });
  }

  async #suspend(agent: AgentState, work: Work, signal: AbortSignal): Promise<void> {
    const { machines, slots, metrics, log } = this.#context;
    const { id, generation } = agent;
    const begun = performance.now();
    try {
      await machines.suspend(id, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      // It keeps running; the suspension can be requested again.
      log("an agent could not be suspended", { agent: agent.name, error });
      await this.write(id, generation, { desired: "running" });
      work.again = true;
      return;
    }
    slots.release(id);
    await this.write(id, generation, { status: "suspended", error: null });
    if (agent.status === "ready") metrics.machine("suspend", (performance.now() - begun) / 1000);
  }

  /** Handles the end of the machine's run, once, for the agent as of its last start. */
  #watch(agent: AgentState): void {
    const { id, name } = agent;
    const isWatched = this.#watched.has(id);
    this.#watched.set(id, agent);
    if (isWatched) return;
    this.#context.machines
      .ended(id)
      .then(() => {
        const latest = this.#watched.get(id)!;
        this.#watched.delete(id);
        return this.#lost(latest);
      })
      .catch((error: unknown) => {
        this.#watched.delete(id);
        if (this.#stop.signal.aborted) return;
        this.#context.log("the end of a machine could not be handled", { agent: name, error });
      });
  }

  /** The machine stopped unexpectedly: restarts it from its disk, unless this happens repeatedly. */
  async #lost(agent: AgentState): Promise<void> {
    const { stores, slots, log } = this.#context;
    const { id, generation } = agent;
    if (this.#stop.signal.aborted) return;
    const current = await this.ask(() => stores.agents.byId(id));
    if (current?.desired !== "running" || current.status !== "ready" || current.generation !== generation) return;
    slots.release(id);
    const losses = this.#countLoss(id);
    log("an agent's machine was lost", { agent: agent.name, losses });
    if (losses >= maximumLosses) {
      const message = `The agent's machine stopped unexpectedly ${maximumLosses} times in ten minutes.`;
      await this.write(id, generation, { status: "failed", error: { code: "machine_lost", message } });
      return;
    }
    await this.write(id, generation, { status: "provisioning", installSteps: [] });
    await this.reconcile(current);
  }

  /** How many of the agent's machines have recently stopped unexpectedly, including this one. */
  #countLoss(id: string): number {
    const now = performance.now();
    const recent = (this.#losses.get(id) ?? []).filter((at) => now - at < lossWindowMs);
    this.#losses.set(id, [...recent, now]);
    return recent.length + 1;
  }

  /**
   * Writes nothing after `stop`: the next start inspects the machines again. Writes nothing after a later change
   * either: its caller may have seen a ready agent and requested nothing, so the work continues.
   */
  async write(id: string, generation: number, change: AgentChange): Promise<void> {
    const isWritten = await this.ask(() => this.#context.stores.lifecycle.change(id, generation, change));
    const work = this.#work.get(id);
    if (!isWritten && work) work.again = true;
    this.#context.lifecycle.noteChange(id);
  }
}

const silent: Progress = { plan: () => {}, begin: () => {} };

/** A later change of the desired state has interrupted the step. */
class Superseded extends Error {}

export function slotOf({ id, accountId, resources }: AgentState) {
  return { agentId: id, accountId, memoryMiB: resources.memoryMiB };
}

function isOfMachine(error: unknown): boolean {
  return error instanceof BerthError && (error.code === "machine_failed" || error.code === "machine_lost");
}
