import { randomUUID } from "node:crypto";
import { type AgentState, requireAllowed } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { type CreateSnapshot, maximumSnapshots, type SnapshotReason } from "../contract/snapshots.ts";
import { type AuthorIds, nobody } from "../core/database/authors.ts";
import { type Attempt, retriedAs } from "../core/http/attempt.ts";
import type { SnapshotState, StoredSnapshot } from "./snapshot.ts";
import type { SnapshotStore } from "./store.ts";

/** How many snapshots that were made before rollbacks an agent keeps: the newest. */
const keptBeforeRollbacks = 5;

/** The same for snapshots before upgrades. */
const keptBeforeUpgrades = 2;

/** A moment of an agent for as long as something is made of it. */
export interface HeldSnapshot extends Disposable {
  id: string;
  /** Its state at the time of the snapshot. */
  agent: AgentState;
  at: Date;
}

interface Asked {
  name: string;
  reason: SnapshotReason;
  memory: boolean;
  by: AuthorIds;
}

/** A snapshot that is made before something that restarts the agent. */
interface Before {
  id: string;
  reason: SnapshotReason;
  label: string;
  by: AuthorIds;
}

/** Moments of agents: kept, gone back to, and removed. */
export class Snapshots {
  readonly #context: AppContext;
  readonly #rows: SnapshotStore;
  /** How often each snapshot is in use by something that no row says yet: its files stay. */
  readonly #inUse = new Map<string, number>();

  constructor(context: AppContext) {
    this.#context = context;
    this.#rows = context.stores.snapshots;
  }

  /** Oldest first. */
  list(agent: AgentState): Promise<StoredSnapshot[]> {
    return this.#rows.list(agent.id);
  }

  /** By name or id. Throws `snapshot_not_found`. */
  async find(agent: AgentState, reference: string): Promise<StoredSnapshot> {
    const found = await this.#rows.find(agent.id, reference);
    if (found) return found;
    throw new BerthError("snapshot_not_found", `The agent ${agent.name} has no snapshot ${reference}.`);
  }

  /**
   * Creates a snapshot of the agent's current state; a running turn continues. Throws `snapshot_exists`, `too_many_snapshots`, `disk_full`,
   * `machine_lost`.
   */
  async take(
    agent: AgentState,
    asked: CreateSnapshot,
    { resourceId, earlier }: Attempt,
    by: AuthorIds,
  ): Promise<StoredSnapshot> {
    requireAllowed("change", agent);
    const { reserve } = this.#context;
    const made = earlier === "none" ? null : await this.#rows.find(agent.id, resourceId);
    if (made) return made;
    await reserve.require();
    return this.#context.lifecycle.alone(agent.id, async (current) => {
      await this.#requireFew(current, asked.name);
      const name = asked.name ?? new Date().toISOString();
      await this.#keep(current, resourceId, { name, reason: "asked", memory: asked.memory, by });
      return this.find(current, resourceId);
    });
  }

  /** Throws `snapshot_exists`, `too_many_snapshots`. Holds only while nothing else is done with the agent. */
  async #requireFew(agent: AgentState, newName: string | undefined): Promise<void> {
    const before = await this.list(agent);
    if (before.some(({ name }) => name === newName)) {
      throw new BerthError("snapshot_exists", `The agent has a snapshot ${newName} already.`);
    }
    if (before.length < maximumSnapshots) return;
    const message = `An agent can have at most ${maximumSnapshots} snapshots: remove one.`;
    throw new BerthError("too_many_snapshots", message);
  }

  /**
   * Creates a snapshot of the agent before a turn, and keeps the newest `kept` of these. A turn does not fail without
   * it: errors are logged.
   */
  async beforeTurn(agentId: string, kept: number): Promise<void> {
    const { lifecycle, reserve, log } = this.#context;
    try {
      await reserve.require();
      const name = `before the turn of ${new Date().toISOString()}`;
      const agent = await lifecycle.alone(agentId, async (current) => {
        await this.#keep(current, randomUUID(), { name, reason: "turn", memory: true, by: nobody });
        return current;
      });
      await this.#removeOldest(agent, "turn", kept);
    } catch (error) {
      log("no snapshot was made before a turn", { agentId, error });
    }
  }

  /**
   * Has `use` work with the files of this moment of the agent, which are removed once nothing is being made of them. The
   * agent is passed as it is then.
   */
  async takeFor<T>(agent: AgentState, use: (snapshot: string, agent: AgentState) => Promise<T>): Promise<T> {
    using held = await this.hold(agent);
    return await use(held.id, held.agent);
  }

  /** Keeps this moment of the agent until it is disposed. Its files are removed some time later. */
  async hold({ id: agentId }: AgentState): Promise<HeldSnapshot> {
    const { hostFiles, machines, lifecycle } = this.#context;
    const id = randomUUID();
    const use = this.#use(id);
    try {
      await hostFiles.allowRemoval(id);
      return await lifecycle.alone(agentId, async (agent) => {
        const { at } = await this.#rows.moment(agentId);
        await machines.snapshot(agentId, id, { memory: true });
        return { id, agent, at, [Symbol.dispose]: () => use[Symbol.dispose]() };
      });
    } catch (error) {
      use[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Runs `task` with a snapshot whose files stay until it is done, whoever removes the snapshot. Throws
   * `snapshot_not_found`.
   */
  async using<T>(agent: AgentState, reference: string, task: (snapshot: SnapshotState) => Promise<T>): Promise<T> {
    const { id } = await this.find(agent, reference);
    using _ = this.#use(id);
    // A removal that began before the line above has taken the row by now.
    return await task(await this.find(agent, id));
  }

  /** Keeps the sweep and removals from the snapshot's files until disposed. */
  #use(id: string): Disposable {
    this.#inUse.set(id, (this.#inUse.get(id) ?? 0) + 1);
    return {
      [Symbol.dispose]: () => {
        const others = this.#inUse.get(id)! - 1;
        if (others > 0) this.#inUse.set(id, others);
        else this.#inUse.delete(id);
      },
    };
  }

  /**
   * Has `use` work with the disk of now of an agent that nothing else is done with (`Lifecycle.alone`). The files are
   * removed afterwards.
   */
  async ofDisk<T>(agent: AgentState, use: (snapshot: string) => Promise<T>): Promise<T> {
    const { machines, hostFiles } = this.#context;
    const id = randomUUID();
    using _ = this.#use(id);
    await hostFiles.allowRemoval(id);
    try {
      await machines.snapshot(agent.id, id, { memory: false });
      return await use(id);
    } finally {
      await machines.removeSnapshot(id).catch((error: unknown) => this.#left(id, error));
    }
  }

  /**
   * Rolls the agent back: files, programs and conversation. Later turns stay in the history, as undone. Saves the current
   * state as a snapshot. Returns the agent's state in the meantime. Throws `turn_in_progress`, `snapshot_not_found`,
   * `insufficient_credits`.
   */
  async rollBack(agent: AgentState, reference: string, attempt: Attempt, by: AuthorIds): Promise<AgentState> {
    requireAllowed("restart", agent);
    const { lifecycle } = this.#context;
    if (await lifecycle.hasBegun(agent.id, attempt)) return agent;
    await this.#requireStartable(agent);
    return this.using(agent, reference, (snapshot) => {
      const label = `before the rollback to ${snapshot.name}`;
      const { resourceId: id } = attempt;
      const before = { id, reason: "rollback", label, kept: keptBeforeRollbacks, by } as const;
      return this.#restarted(agent, before, (kept) => lifecycle.rollBack(agent.id, snapshot, kept, retriedAs(attempt)));
    });
  }

  /**
   * Boots the agent's machine with the newest image. Saves the state before as a snapshot. Returns the agent's state in
   * the meantime; unchanged if it already has that image. Throws `turn_in_progress`, `insufficient_credits`.
   */
  async upgrade(agent: AgentState, by: AuthorIds): Promise<AgentState> {
    requireAllowed("restart", agent);
    await this.#requireStartable(agent);
    const { machines, lifecycle } = this.#context;
    const hasNewest = ({ image }: AgentState) => image === machines.newestImage;
    if (hasNewest(agent)) return agent;
    const label = "before the upgrade";
    const before = { id: randomUUID(), reason: "upgrade", label, kept: keptBeforeUpgrades, by } as const;
    // Another request may have upgraded it while this one waited for its machine.
    return this.#restarted(agent, before, (kept) => lifecycle.upgrade(agent.id, kept), hasNewest);
  }

  async #requireStartable(agent: AgentState): Promise<void> {
    const { machines, ledger, reserve } = this.#context;
    await machines.requireReady();
    await ledger.requireCredits(agent.accountId, null);
    await reserve.require();
  }

  /**
   * Lets `begin` restart the machine and store the snapshot of its current state; does nothing if the agent is already
   * in that state.
   */
  async #restarted(
    agent: AgentState,
    { kept, ...asked }: Before & { kept: number },
    begin: (before: SnapshotState | null) => Promise<AgentState | null>,
    isSo: (current: AgentState) => boolean = () => false,
  ): Promise<AgentState> {
    const { hostFiles, machines, lifecycle, turns } = this.#context;
    if ((await this.#rows.moment(agent.id)).turnId) return turns.refuseAnother(agent.id);
    const begun = await lifecycle.alone(agent.id, async (current) => {
      if (isSo(current)) return current;
      const { id } = asked;
      await hostFiles.allowRemoval(id);
      using _ = this.#use(id);
      const before = await this.#before(current, asked);
      const anew = await begin(before);
      if (!anew && before) await machines.removeSnapshot(id).catch((error: unknown) => this.#left(id, error));
      return anew;
    });
    await this.#removeOldest(agent, asked.reason, kept);
    return begun ?? turns.refuseAnother(agent.id);
  }

  /** Throws `snapshot_not_found`. */
  async remove(agent: AgentState, reference: string): Promise<void> {
    const { id } = await this.find(agent, reference);
    await this.#discard(id);
  }

  /**
   * Called by the timer and at the start: removes the files of snapshots that were removed, moves those that the database
   * does not know to the quarantine, and notes what the others take.
   */
  async sweep(): Promise<void> {
    const { hostFiles, machines, log } = this.#context;
    // In this order: a row is younger than its files.
    const found = await machines.snapshots();
    const states = await hostFiles.statesOf(found);
    for (const { id } of found) {
      if (states.get(id) === "named" || this.#inUse.has(id)) continue;
      // A retry keeps the id of the attempt that a crash cut off: its row may be there by now.
      const state = (await hostFiles.statesOf([{ id }])).get(id);
      if (state === "named" || this.#inUse.has(id)) continue;
      if (state === "removed") await machines.removeSnapshot(id);
      else {
        await machines.quarantineSnapshot(id);
        log("a snapshot without a row was moved to the quarantine", { snapshot: id });
      }
    }
    await this.#rows.resize(found);
  }

  async #keep(agent: AgentState, id: string, asked: Asked): Promise<SnapshotState> {
    const { machines } = this.#context;
    using _ = this.#use(id);
    const snapshot = await this.#filesOf(agent, id, asked);
    try {
      await this.#rows.insert(snapshot);
    } catch (error) {
      // After any other error the row may exist: the sweep checks the database.
      const isRefused = error instanceof BerthError && error.code === "snapshot_exists";
      if (isRefused) await machines.removeSnapshot(id).catch((fault: unknown) => this.#left(id, fault));
      throw error;
    }
    return snapshot;
  }

  /** Creates the files of a snapshot. Returns the fields to store. */
  async #filesOf(
    agent: AgentState,
    id: string,
    { name, reason, memory, by: { personId, keyId } }: Asked,
  ): Promise<SnapshotState> {
    const { machines } = this.#context;
    const { at, turnId } = await this.#rows.moment(agent.id);
    const facts = await machines.snapshot(agent.id, id, { memory });
    const { runtime, conversation, retold } = agent;
    const then = { runtime, conversation, retold, turnId, personId, keyId, createdAt: at };
    return { id, agentId: agent.id, name, reason, ...then, ...facts };
  }

  /** An agent's state before a restart; null if its machine is lost, so that there is nothing to save. */
  async #before(agent: AgentState, { id, reason, label, by }: Before): Promise<SnapshotState | null> {
    // A cut may leave half of a character at the end.
    const name = `${label.slice(0, 70).replace(/\p{Surrogate}$/u, "")}, ${new Date().toISOString()}`;
    return this.#filesOf(agent, id, { name, reason, memory: true, by }).catch((error: unknown) => {
      if (error instanceof BerthError && error.code === "machine_lost") return null;
      throw error;
    });
  }

  /** Keeps the newest of those that were made by themselves for this reason. */
  async #removeOldest(agent: AgentState, because: SnapshotReason, kept: number): Promise<void> {
    const made = (await this.list(agent)).filter(({ reason }) => reason === because);
    for (const { id } of made.slice(0, -kept)) await this.#discard(id);
  }

  /** The row first: a snapshot with a row can be restored. Files that are in use are swept later. */
  async #discard(id: string): Promise<void> {
    const { hostFiles, machines } = this.#context;
    await this.#rows.remove(id);
    if (this.#inUse.has(id) || (await hostFiles.statesOf([{ id }])).get(id) === "named") return;
    await machines.removeSnapshot(id).catch((error: unknown) => this.#left(id, error));
  }

  #left(id: string, error: unknown): void {
    this.#context.log("a snapshot's files could not be removed yet", { snapshot: id, error });
  }
}
