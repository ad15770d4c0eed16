import { randomUUID } from "node:crypto";
import { type AgentState, requireAllowed } from "../agents/agent.ts";
import type { AppContext } from "../context.ts";
import { BerthError } from "../contract/errors.ts";
import { type CreateSnapshot, maximumSnapshots, type SnapshotReason } from "../contract/snapshots.ts";
import { type AuthorIds, nobody } from "../core/database/authors.ts";
import { type Attempt, retriedAs } from "../core/http/attempt.ts";
import type { SnapshotState, StoredSnapshot } from "./snapshot.ts";
import type { SnapshotStore } from "./store.ts";

/** The number of snapshots before rollbacks that an agent keeps. The newest are kept. */
const keptBeforeRollbacks = 5;

/** The same for snapshots before upgrades. */
const keptBeforeUpgrades = 2;
/** How many automatic snapshots one sweep removes while the disk is nearly full. */
const removedForRoom = 5;

/** A snapshot that is kept until it is disposed. */
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

/** A snapshot that is created before the agent restarts. */
interface Before {
  id: string;
  reason: SnapshotReason;
  label: string;
  by: AuthorIds;
}

/** Creates, restores and removes snapshots. */
export class Snapshots {
  readonly #context: AppContext;
  readonly #rows: SnapshotStore;
  /** The number of users of each snapshot that no row records yet. Its files stay. */
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

  /** Throws `snapshot_exists`, `too_many_snapshots`. The result is valid only while the caller has the agent alone. */
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
   * Creates a snapshot of the agent's files before a turn, and keeps the newest `kept` of these. Its memory would take three
   * times as long, and a hundred times the space. A turn does not fail without it: errors are logged.
   */
  async beforeTurn(agentId: string, kept: number): Promise<void> {
    const { lifecycle, reserve, log } = this.#context;
    try {
      await reserve.require();
      const name = `before the turn of ${new Date().toISOString()}`;
      const agent = await lifecycle.alone(agentId, async (current) => {
        await this.#keep(current, randomUUID(), { name, reason: "turn", memory: false, by: nobody });
        return current;
      });
      await this.#removeOldest(agent, "turn", kept);
    } catch (error) {
      log("no snapshot was made before a turn", { agentId, error });
    }
  }

  /**
   * Calls `use` with a temporary snapshot of the agent, and the agent's state at that moment. The snapshot's files are
   * removed once nothing uses them.
   */
  async takeFor<T>(agent: AgentState, use: (snapshot: string, agent: AgentState) => Promise<T>): Promise<T> {
    using held = await this.hold(agent);
    return await use(held.id, held.agent);
  }

  /** Creates a temporary snapshot, which is kept until it is disposed. Its files are removed some time later. */
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
    // A removal that began before the line above has already deleted the row.
    return await task(await this.find(agent, id));
  }

  /** Protects the snapshot's files from the sweep and from removals until disposed. */
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
   * Calls `use` with a copy of the current disk of an agent that the caller has alone (`Lifecycle.alone`). Removes the
   * files afterwards.
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
   * the meantime; unchanged if it already has that image, or the image was built without its runtime. Throws `turn_in_progress`, `insufficient_credits`.
   */
  async upgrade(agent: AgentState, by: AuthorIds): Promise<AgentState> {
    requireAllowed("restart", agent);
    await this.#requireStartable(agent);
    const { machines, lifecycle } = this.#context;
    const newest = machines.newestImageOf(agent.runtime);
    const hasNewest = ({ image }: AgentState) => newest === null || image === newest;
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
   * Removes the files of removed snapshots, moves unknown snapshots to the quarantine, stores the sizes of the others, and
   * removes automatic ones while the disk is nearly full. Called by the timer and at the start.
   */
  async sweep(): Promise<void> {
    const { hostFiles, machines, log } = this.#context;
    // In this order: a row is younger than its files.
    const found = await machines.snapshots();
    const states = await hostFiles.statesOf(found);
    for (const { id } of found) {
      if (states.get(id) === "named" || this.#inUse.has(id)) continue;
      // A retry has the id of the attempt that crashed, so its row may exist by now.
      const state = (await hostFiles.statesOf([{ id }])).get(id);
      if (state === "named" || this.#inUse.has(id)) continue;
      if (state === "removed") await machines.removeSnapshot(id);
      else {
        await machines.quarantineSnapshot(id);
        log("a snapshot without a row was moved to the quarantine", { snapshot: id });
      }
    }
    await this.#rows.resize(found);
    await this.#makeRoom();
  }

  /**
   * Removes some of the oldest snapshots from before turns while the disk is nearly full. The space may be free some time
   * later, so few are removed at a time. Each agent keeps its newest one.
   */
  async #makeRoom(): Promise<void> {
    const { reserve, log } = this.#context;
    if (!(await reserve.isShort())) return;
    for (const { id, agentId, name } of await this.#rows.oldestOfTurns(removedForRoom)) {
      await this.#discard(id);
      log("a snapshot from before a turn was removed, since the disk is nearly full", { agentId, snapshot: name });
    }
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

  /** An agent's state before a restart; null if its machine is lost and there is nothing to save. */
  async #before(agent: AgentState, { id, reason, label, by }: Before): Promise<SnapshotState | null> {
    // A cut may leave half of a character at the end.
    const name = `${label.slice(0, 70).replace(/\p{Surrogate}$/u, "")}, ${new Date().toISOString()}`;
    return this.#filesOf(agent, id, { name, reason, memory: true, by }).catch((error: unknown) => {
      if (error instanceof BerthError && error.code === "machine_lost") return null;
      throw error;
    });
  }

  /** Removes all but the newest automatic snapshots with this reason. */
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
