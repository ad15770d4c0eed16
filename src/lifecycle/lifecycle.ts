import { EventEmitter } from "node:events";
import type { AgentState } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import type { Capacity } from "../contract/capacity.ts";
import { BerthError } from "../contract/errors.ts";
import type { Attempt } from "../core/http/attempt.ts";
import { pause } from "../core/retry.ts";
import type { MachineObservation } from "../machines/driver.ts";
import type { SnapshotState } from "../snapshots/snapshot.ts";
import type { PastMoment, RuntimeChange } from "./changes.ts";
import { slotOf } from "./reconciler.ts";
import { Slots } from "./slots.ts";
import type { LifecycleStore } from "./store.ts";

/** How long a delete call waits for the deletion. */
const deletionMs = 60_000;

/**
 * The lifecycle of agents. A row holds the desired state (`running`, `suspended`, `deleted`) and the status; the
 * reconciler moves the machine towards it. docs/internals/lifecycle.md has the table of all states.
 */
export class Lifecycle {
  readonly #context: AppContext;
  readonly #rows: LifecycleStore;
  readonly #changes = new EventEmitter<Record<string, []>>().setMaxListeners(0);
  readonly #queue = new EventEmitter<Record<string, [number]>>().setMaxListeners(0);

  constructor(context: AppContext) {
    this.#context = context;
    this.#rows = context.stores.lifecycle;
  }

  capacity(): Capacity {
    return { ...this.#context.slots.capacity(), spares: this.#context.spares.count };
  }

  /** Stores a new agent and starts to make its machine. Throws `agent_exists`, `no_capacity`. */
  async create(agent: AgentState): Promise<void> {
    await this.begin([agent], () => this.#context.stores.agents.insert(agent));
  }

  /** Starts to make the machines of agents that `store` stores. Throws `no_capacity`. */
  async begin(agents: readonly AgentState[], store: () => Promise<void>): Promise<void> {
    for (const agent of agents) this.#context.slots.requireQueue(slotOf(agent));
    await store();
    for (const agent of agents) void this.#context.reconciler.reconcile(agent);
  }

  /**
   * Requests that the agent's machine runs, and resolves when it does. `queued` is called with its position while it
   * waits for a slot. Rejects with the fault of a failed agent, with `no_capacity`, `agent_deleted`, `shutting_down`.
   */
  async ready(id: string, queued: (position: number) => void = () => {}): Promise<void> {
    const { reconciler } = this.#context;
    this.#queue.on(id, queued);
    try {
      await reconciler.begun();
      for (;;) {
        const agent = await reconciler.ask(() => this.#context.stores.agents.byId(id));
        if (!agent) throw new BerthError("agent_deleted", "The agent was deleted.");
        if (agent.desired === "deleted") throw new BerthError("agent_deleted", "The agent is being deleted.");
        if (agent.status === "failed") throw faultOf(agent);
        if (agent.desired === "suspended") await reconciler.ask(() => this.#rows.wake(id));
        else if (agent.status === "ready" && !reconciler.isAtWork(id)) return;
        else {
          reconciler.forgetRefusal(id);
          await reconciler.reconcile(agent);
          const refusal = reconciler.refusalOf(id);
          if (refusal) throw refusal;
        }
      }
    } finally {
      this.#queue.off(id, queued);
    }
  }

  /** Throws `no_capacity` if the agent's machine is not running and may not wait for a slot. */
  requireSlot(agent: AgentState): void {
    if (agent.status === "suspended") this.#context.slots.requireQueue(slotOf(agent));
  }

  /** Yields the agent at once and after each change, until `signal` is aborted or the agent is deleted. */
  async *watch(id: string, signal: AbortSignal): AsyncGenerator<AgentState> {
    let changed = true;
    let wake: () => void = () => {};
    const notice = () => {
      changed = true;
      wake();
    };
    this.#changes.on(id, notice);
    signal.addEventListener("abort", notice);
    try {
      while (!signal.aborted) {
        if (changed) {
          changed = false;
          const agent = await this.#context.stores.agents.byId(id);
          if (!agent) return;
          yield agent;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      this.#changes.off(id, notice);
      signal.removeEventListener("abort", notice);
    }
  }

  /**
   * Stops the machine and boots it again from its disk; with `newMachine`, an empty one replaces a lost one. `by`: the
   * request's id. Returns the agent's state in the meantime; null if it is being deleted.
   */
  async restart(id: string, newMachine: boolean, by: string | null): Promise<AgentState | null> {
    return this.#reconcileChanged(await this.#rows.beginRestart(id, newMachine, by));
  }

  /** Whether an earlier attempt of this request has started a restart, a rollback or a conversation of the agent. */
  async hasBegun(id: string, { resourceId, earlier }: Attempt): Promise<boolean> {
    return earlier !== "none" && this.#rows.hasBegun(id, resourceId);
  }

  /**
   * Runs `task` with exclusive use of the agent's machine, after earlier work on it. Passes the agent's state at that
   * time. Rejects with the fault of an agent whose machine was never made, and with `agent_deleted`.
   */
  async alone<T>(id: string, task: (agent: AgentState) => Promise<T>): Promise<T> {
    return this.#context.reconciler.alone(id, async () => {
      const agent = await this.#context.stores.agents.byId(id);
      if (!agent || agent.desired === "deleted") throw new BerthError("agent_deleted", "The agent was deleted.");
      if (!agent.hasMachine && agent.status === "failed") throw faultOf(agent);
      return task(agent);
    });
  }

  /**
   * Switches to another runtime: the machine boots from its disk with it. Returns the agent's state in the meantime;
   * null while a turn runs, or if it is being deleted.
   */
  async changeRuntime(id: string, change: RuntimeChange): Promise<AgentState | null> {
    return this.#reconcileChanged(await this.#rows.beginRuntime(id, change));
  }

  /**
   * Recreates the agent's machine from a snapshot, with the snapshot's runtime and conversation, and stores its current state
   * as the snapshot `before`. `by`: the request's id. Returns the agent's state in the meantime; null while a turn runs, or
   * if it is being deleted.
   */
  async rollBack(
    id: string,
    snapshot: PastMoment,
    before: SnapshotState | null,
    by: string | null,
  ): Promise<AgentState | null> {
    return this.#reconcileChanged(await this.#rows.beginRollback(id, snapshot, before, by));
  }

  /**
   * Boots the machine from its disk with the newest image, and stores its current state as the snapshot `before`.
   * Returns the agent's state in the meantime; null while a turn runs, or if it is being deleted.
   */
  async upgrade(id: string, before: SnapshotState | null): Promise<AgentState | null> {
    return this.#reconcileChanged(await this.#rows.beginUpgrade(id, before));
  }

  /** Suspends the agent. Returns its state when that is done or was superseded; null if it may not be suspended. */
  async suspend(id: string): Promise<AgentState | null> {
    const agent = await this.#rows.beginSuspension(id, null);
    if (!agent) return null;
    await this.#context.reconciler.reconcile(agent);
    return this.#context.stores.agents.byId(id);
  }

  /**
   * Starts to wake the agent; a failed one is retried with what its machine kept. Returns the agent; null if it was
   * deleted. Throws `no_capacity`.
   */
  async resume(agent: AgentState): Promise<AgentState | null> {
    this.requireSlot(agent);
    if (agent.status === "failed") {
      await this.#rows.retryFailed(agent.id);
      this.#context.reconciler.forgetLosses(agent.id);
      this.noteChange(agent.id);
    } else await this.#rows.wake(agent.id);
    const resumed = await this.#context.stores.agents.byId(agent.id);
    if (resumed?.desired === "running" && resumed.status !== "failed") void this.#context.reconciler.reconcile(resumed);
    return resumed;
  }

  /** Deletes the agent, its machine and all its data. Resolves when all is deleted. */
  async delete(id: string): Promise<void> {
    await this.#rows.beginDeletion(id);
    this.noteChange(id);
    const agent = await this.#context.stores.agents.byId(id);
    if (agent) {
      const over = new AbortController();
      await Promise.race([this.#context.reconciler.reconcile(agent), pause(deletionMs, over.signal)]);
      over.abort();
    }
    if (await this.#context.stores.agents.byId(id)) {
      throw new BerthError("agent_deleting", "The agent is still being deleted; this continues in the background.");
    }
    this.#context.reconciler.forget(id);
    this.#context.idleness.forget(id);
    this.noteChange(id);
  }

  /**
   * Continues after a start of the server. Machines without a row are quarantined, unless no agent has used them or
   * they were removed on request. An agent whose machine has stopped since (for example a reboot of the host) is not
   * booted before it is needed. Rejects if machines are orphans that the operator has not accepted.
   */
  async recover(): Promise<void> {
    // In this order: a row is always created before its machine.
    const found = await this.#context.machines.list();
    const agents = await this.#current(found);
    const byId = new Map(agents.map((agent) => [agent.id, agent]));
    await this.#quarantineOrphans(found.filter(({ id }) => !byId.has(id)));
    const running = new Set<string>();
    for (const { id, phase } of found) {
      const agent = byId.get(id);
      if (!agent || phase !== "running") continue;
      // Work that the previous server left.
      if (agent.status === "failed") await this.#context.machines.stop(id);
      else {
        running.add(id);
        this.#context.slots.hold(slotOf(agent));
      }
    }
    await this.#learnImages(agents, new Map(found.map(({ id, image }) => [id, image])));
    await this.#layRestored(agents, new Map(found.map(({ id, restores }) => [id, restores])));
    for (const agent of agents) {
      const settled =
        agent.desired === "running" && agent.status === "ready" && !running.has(agent.id)
          ? await this.#markAsleep(agent)
          : agent.desired === "suspended" && agent.status === "suspended" && !running.has(agent.id);
      if (!settled && !(agent.desired === "running" && agent.status === "failed")) {
        void this.#context.reconciler.reconcile(agent);
      }
    }
    this.#context.reconciler.begin();
  }

  async #quarantineOrphans(found: readonly MachineObservation[]): Promise<void> {
    const used = found.filter(({ isUnused }) => !isUnused);
    await this.#context.hostFiles.requireNoOrphans(used.map(({ id }) => ({ id, kind: "machine" })));
    const states = await this.#context.hostFiles.statesOf(found);
    for (const { id, isUnused } of found) {
      const state = states.get(id);
      if (state === "named")
        this.#context.log("a machine belongs to an agent of another host; leaving it unchanged", { agentId: id });
      else if (isUnused || state === "removed") await this.#context.machines.destroy(id);
      else {
        await this.#context.machines.quarantine(id);
        this.#context.log("moved a machine without a row to the quarantine", { agentId: id });
      }
    }
  }

  async #learnImages(agents: readonly AgentState[], images: ReadonlyMap<string, string | null>): Promise<void> {
    for (const agent of agents) {
      const image = images.get(agent.id);
      if (agent.image === null && image) await this.#rows.change(agent.id, agent.generation, { image });
    }
  }

  /**
   * Restores the machines of suspended agents from a backup's snapshots. A failed one is retried when its agent is
   * needed.
   */
  async #layRestored(agents: readonly AgentState[], restores: ReadonlyMap<string, number>): Promise<void> {
    for (const agent of agents) {
      const { id, name, snapshot, desired } = agent;
      if (snapshot === null || desired !== "suspended" || (restores.get(id) ?? 0) >= agent.restores) continue;
      await this.#context.machines
        .lay({ ...agent, hostname: name })
        .catch((error: unknown) =>
          this.#context.log("a restored agent's machine could not be made yet", { agentId: id, error }),
        );
    }
  }

  /** Called by the timer: continues unfinished work. */
  async sweep(): Promise<void> {
    for (const agent of await this.#rows.unsettled()) {
      if (!this.#context.reconciler.isAtWork(agent.id)) void this.#context.reconciler.reconcile(agent);
    }
    await this.#reconcileLost();
    await this.#context.idleness.sweep();
    // Sleeping machines do not write. One that writes while the disk is full is paused.
    if (await this.#context.reserve.isShort()) await this.#context.idleness.suspendUnneeded();
    this.#context.slots.retry();
  }

  /** Agents that are ready without a machine, because handling its end failed. */
  async #reconcileLost(): Promise<void> {
    const running = await this.#rows.runningIds();
    const machines = new Map((await this.#context.machines.list()).map((machine) => [machine.id, machine.phase]));
    for (const id of running) {
      if (machines.get(id) === "running" || this.#context.reconciler.isAtWork(id)) continue;
      const agent = await this.#context.stores.agents.byId(id);
      if (agent?.status === "ready" && agent.desired === "running") void this.#context.reconciler.reconcile(agent);
    }
  }

  /** All agents, none with a lower generation than its machine. */
  async #current(found: readonly { id: string; generation: number }[]): Promise<AgentState[]> {
    const seen = new Map(found.map(({ id, generation }) => [id, generation]));
    const agents: AgentState[] = [];
    for (const agent of await this.#rows.all()) {
      const above = seen.get(agent.id) ?? 0;
      if (agent.generation >= above) agents.push(agent);
      else {
        const raised = await this.#rows.raiseGeneration(agent.id, above);
        const current = raised ?? (await this.#context.stores.agents.byId(agent.id));
        if (current) agents.push(current);
      }
    }
    return agents;
  }

  /** An agent whose machine stopped while no server ran stays suspended until it is needed. */
  async #markAsleep({ id, generation }: AgentState): Promise<boolean> {
    return this.#rows.change(id, generation, { status: "suspended", desired: "suspended", endUnknown: true });
  }

  /** Reconciles an agent whose row was changed, and resets its machine's count of losses. Returns the same agent. */
  #reconcileChanged(agent: AgentState | null): AgentState | null {
    if (!agent) return null;
    this.#context.reconciler.forgetLosses(agent.id);
    this.noteChange(agent.id);
    void this.#context.reconciler.reconcile(agent);
    return agent;
  }

  /** Notifies the agent's watchers that its row has changed. */
  noteChange(id: string): void {
    this.#changes.emit(id);
  }

  /** Reports the agent's position in the queue for a slot to its waiters; 1 is next. */
  noteQueue(id: string, position: number): void {
    this.#queue.emit(id, position);
  }
}

function faultOf({ error }: AgentState): BerthError {
  return new BerthError(error?.code ?? "agent_failed", error?.message ?? "The agent has failed.");
}

export function openSlots(context: AppContext): Slots {
  const { memoryMiB, maximumAwake, accountShare, maximumWaiting, waitMs } = context.config;
  return new Slots({
    memoryMiB,
    machines: maximumAwake,
    accountShare,
    waiting: maximumWaiting,
    waitMs,
    shared: (accountId) => context.stores.accounts.othersThan(accountId),
    evictIdle: async (accountId) =>
      (accountId === null && (await context.spares.evict())) || context.idleness.evictIdle(accountId),
  });
}
