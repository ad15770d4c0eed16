import { type ExpressionBuilder, sql, type UpdateQueryBuilder, type UpdateResult } from "kysely";
import type { AgentState } from "../agents/agent.ts";
import { type AgentRow, agentColumns, toColumns, toState } from "../agents/rows.ts";
import { createdConversation, restoreConversations } from "../conversations/current-store.ts";
import type { AuthorIds } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import { lockPrivacy } from "../core/database/private-agents.ts";
import type { Tables } from "../core/database/tables.ts";
import { lockQueue } from "../queue/order-store.ts";
import type { SnapshotState } from "../snapshots/snapshot.ts";
import { SnapshotStore } from "../snapshots/store.ts";
import { retell } from "../turns/retelling-rows.ts";
import type { AgentChange, PastMoment, RuntimeChange } from "./changes.ts";

/** How many agents are read at a time. */
const page = 500;

/** How many events of a deleted agent one statement removes. */
const removalBatch = 10_000;

/** The lifecycle's changes to the rows of this host's agents. */
export class LifecycleStore {
  readonly #database: Database;
  readonly #host: string;
  readonly #machinePrice: number;

  /** `host`: this data folder's id. `machinePrice`: micro-credits per GiB of machine memory and hour. */
  constructor(database: Database, host: string, machinePrice: number) {
    this.#database = database;
    this.#host = host;
    this.#machinePrice = machinePrice;
  }

  /** Assigns to this host the agents without a host, which were created before hosts had ids. */
  async claim(): Promise<void> {
    await this.#database.updateTable("agents").set({ host: this.#host }).where("host", "is", null).execute();
  }

  async all(): Promise<AgentState[]> {
    const found: AgentState[] = [];
    for (let after: string | null = null; ; ) {
      const rows: AgentRow[] = await this.#database
        .selectFrom("agents")
        .select(agentColumns)
        .where("host", "=", this.#host)
        .$if(after !== null, (query) => query.where("id", ">", after!))
        .orderBy("id")
        .limit(page)
        .execute();
      found.push(...rows.map((row) => toState(row, this.#host)));
      if (rows.length < page) return found;
      after = rows.at(-1)!.id;
    }
  }

  /** The ids of agents that are ready and should be. */
  async runningIds(): Promise<string[]> {
    const rows = this.#database
      .selectFrom("agents")
      .select("id")
      .where("host", "=", this.#host)
      .where("status", "=", "ready")
      .where("desired", "=", "running");
    return (await rows.execute()).map(({ id }) => id);
  }

  /** Agents whose status differs from their desired state. */
  async unsettled(): Promise<AgentState[]> {
    const rows = await this.#database
      .selectFrom("agents")
      .select(agentColumns)
      .where("host", "=", this.#host)
      .where(({ eb, or, and }) =>
        or([
          eb("desired", "=", "deleted"),
          and([eb("desired", "=", "running"), eb("status", "in", ["provisioning", "suspended"])]),
          and([eb("desired", "=", "suspended"), eb("status", "in", ["provisioning", "ready"])]),
        ]),
      )
      .execute();
    return rows.map((row) => toState(row, this.#host));
  }

  /** Agents that may be suspended (of that account, or of any), idle longest first. */
  async idle(accountId: string | null, limit: number): Promise<AgentState[]> {
    const rows = await this.#database
      .selectFrom("agents")
      .select(agentColumns)
      .where("host", "=", this.#host)
      .where("desired", "=", "running")
      .where("status", "=", "ready")
      .where(maySleep)
      .$if(accountId !== null, (query) => query.where("account_id", "=", accountId!))
      .orderBy("last_active_at")
      .limit(limit)
      .execute();
    return rows.map((row) => toState(row, this.#host));
  }

  /** When an agent was last created on each runtime. */
  async lastCreated(): Promise<Map<string, Date>> {
    const rows = await this.#database
      .selectFrom("agents")
      .select(["runtime", ({ fn }) => fn.max("created_at").as("at")])
      .groupBy("runtime")
      .execute();
    return new Map(rows.map(({ runtime, at }) => [runtime, at]));
  }

  /** Records that the agent was active until now. */
  async touch(id: string): Promise<void> {
    await this.#database.updateTable("agents").set({ last_active_at: new Date() }).where("id", "=", id).execute();
  }

  /** Returns whether it wrote: it does not if the row is gone or of another generation. */
  async change(id: string, generation: number, change: AgentChange): Promise<boolean> {
    const { endUnknown, ...fields } = change;
    const isReady = change.status === "ready";
    const { numUpdatedRows } = await this.#database
      .updateTable("agents")
      .set({
        ...toColumns(isReady ? { ...fields, hasMachine: true, snapshot: null, isImporting: false } : fields),
        ...(isReady && { machine_price: String(this.#machinePrice) }),
        ...(endUnknown && { metered_until: null }),
      })
      .where("id", "=", id)
      .where("generation", "=", generation)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /**
   * Creates a conversation and makes it current, unless a turn is running. Returns the changed agent; null if nothing was
   * changed. An agent with too many conversations keeps those that were used last.
   */
  async beginConversation(id: string, author: AuthorIds, by: string | null): Promise<AgentState | null> {
    return this.#changeAtRest(
      id,
      (update) => update.set({ conversation: nextConversation, retold: null }),
      async (transaction, { conversation }) => {
        await createdConversation(transaction, id, conversation, author);
        await markBegun(transaction, id, by);
      },
    );
  }

  /** Whether this request has started a restart, a rollback or a conversation. Remembered for a day. */
  async hasBegun(id: string, by: string): Promise<boolean> {
    const row = await this.#database
      .selectFrom("begun_requests")
      .select("id")
      .where("id", "=", by)
      .where("agent_id", "=", id)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Sets the desired state to `running` if it is `suspended`. */
  async wake(id: string): Promise<void> {
    await this.#database
      .updateTable("agents")
      .set((agent) => ({ desired: "running", generation: agent("generation", "+", 1) }))
      .where("id", "=", id)
      .where("desired", "=", "suspended")
      .execute();
  }

  /** Retries a failed agent with what its machine kept, including its memory. */
  async retryFailed(id: string): Promise<void> {
    await this.#database
      .updateTable("agents")
      .set((agent) => ({
        desired: "running",
        status: sql`case when has_machine then 'suspended' else 'provisioning' end`,
        generation: agent("generation", "+", 1),
        error: null,
      }))
      .where("id", "=", id)
      .where("status", "=", "failed")
      .where("desired", "!=", "deleted")
      .execute();
  }

  /**
   * Requests suspension, unless a running turn does not wait, or the agent has failed, is being deleted, or was active after
   * `idleSince`. Returns the changed agent; null if nothing was changed.
   */
  async beginSuspension(id: string, idleSince: Date | null): Promise<AgentState | null> {
    return this.#database.transaction().execute(async (transaction) => {
      await lockQueue(transaction, id);
      const row = await transaction
        .updateTable("agents")
        .set((agent) => ({ desired: "suspended", generation: agent("generation", "+", 1) }))
        .where("id", "=", id)
        .where("desired", "!=", "deleted")
        .where("status", "!=", "failed")
        .where(maySleep)
        .$if(idleSince !== null, (query) => query.where("last_active_at", "<=", idleSince!))
        .returning(agentColumns)
        .executeTakeFirst();
      return row ? toState(row, this.#host) : null;
    });
  }

  /**
   * Requests a restart; with `newMachine` an empty machine may replace a lost one. `by`: the request's id. Null if it
   * is being deleted.
   */
  async beginRestart(id: string, newMachine: boolean, by: string | null): Promise<AgentState | null> {
    return this.#database.transaction().execute(async (transaction) => {
      const row = await transaction
        .updateTable("agents")
        .set((agent) => ({
          ...booted(agent),
          ...(newMachine ? { has_machine: false, snapshot: null } : {}),
        }))
        .where("id", "=", id)
        .where("desired", "!=", "deleted")
        .returning(agentColumns)
        .executeTakeFirst();
      if (row) await markBegun(transaction, id, by);
      return row ? toState(row, this.#host) : null;
    });
  }

  /**
   * Requests a restart, and stores its current state as the snapshot `before`. Null while a turn runs, or if it is
   * being deleted; then `before` is not stored.
   */
  async beginUpgrade(id: string, before: SnapshotState | null): Promise<AgentState | null> {
    return this.#changeAtRest(
      id,
      (update) => update.set(booted).where("desired", "!=", "deleted"),
      async (transaction) => {
        if (before) await new SnapshotStore(transaction, this.#host).insert(before);
      },
    );
  }

  /**
   * Requests a restart with another runtime, in a new conversation to which the last one is replayed. Null while a turn
   * runs, or if it is being deleted.
   */
  async beginRuntime(id: string, { runtime, resources, settings }: RuntimeChange): Promise<AgentState | null> {
    return this.#changeAtRest(
      id,
      (update) =>
        update
          .set((agent) => ({
            ...toColumns(settings),
            runtime,
            resources: JSON.stringify(resources),
            conversation: nextConversation,
            ...booted(agent),
          }))
          .where("desired", "!=", "deleted"),
      (transaction, changed, before) => retell(transaction, changed, before),
      async (transaction) => {
        if (settings.private) await lockPrivacy(transaction, id);
      },
    );
  }

  /**
   * Requests that its machine is recreated from that snapshot, marks the later turns as undone, and stores its current
   * state as the snapshot `before`. `by`: the request's id. Null while a turn runs, or if it is being deleted; then
   * `before` is not stored.
   */
  async beginRollback(
    id: string,
    snapshot: PastMoment,
    before: SnapshotState | null,
    by: string | null,
  ): Promise<AgentState | null> {
    return this.#changeAtRest(
      id,
      (update) =>
        update
          .set((agent) => ({
            ...anew(agent),
            restores: agent("restores", "+", 1),
            snapshot: snapshot.id,
            runtime: snapshot.runtime,
            conversation: snapshot.conversation,
            retold: snapshot.retold,
          }))
          .where("desired", "!=", "deleted"),
      async (transaction) => {
        // In this order: the snapshot contains the turns that had been undone before.
        if (before) await new SnapshotStore(transaction, this.#host).insert(before);
        await markUndone(transaction, id, snapshot);
        await restoreConversations(transaction, id, snapshot);
        await markBegun(transaction, id, by);
      },
    );
  }

  /** Raises the agent's generation above one that its machine has seen: the database was restored from a backup. */
  async raiseGeneration(id: string, above: number): Promise<AgentState | null> {
    const row = await this.#database
      .updateTable("agents")
      .set({ generation: above + 1 })
      .where("id", "=", id)
      .where("generation", "<", above)
      .returning(agentColumns)
      .executeTakeFirst();
    return row ? toState(row, this.#host) : null;
  }

  async beginDeletion(id: string): Promise<void> {
    await this.#database
      .updateTable("agents")
      .set((row) => ({ desired: "deleted", status: "deleting", generation: row("generation", "+", 1) }))
      .where("id", "=", id)
      .execute();
  }

  /** Removes the row and everything that belongs to it. The events of its turns are removed in batches. */
  async remove(id: string): Promise<void> {
    // One cascade over a long history would exceed the query timeout.
    for (let removed = removalBatch; removed >= removalBatch; ) {
      const { numAffectedRows } = await sql`
        delete from turn_events where ctid = any(array(
          select turn_events.ctid from turn_events join turns on turns.id = turn_id
          where agent_id = ${id} limit ${removalBatch}))`.execute(this.#database);
      removed = Number(numAffectedRows ?? 0);
    }
    await this.#database.deleteFrom("agents").where("id", "=", id).execute();
  }

  /** Removes the row of an agent whose machine stays in the quarantine: unlike after `remove`, its files may not go. */
  async withdraw(id: string): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await transaction.deleteFrom("agents").where("id", "=", id).execute();
      await transaction.deleteFrom("removals").where("id", "=", id).execute();
    });
  }

  /**
   * Changes an agent that has no running turn. Inserting a turn writes the agent's row first, so whichever of the two
   * comes second sees the other; but only in a statement that begins after it has locked the row.
   */
  async #changeAtRest(
    id: string,
    change: (update: AgentUpdate) => AgentUpdate,
    then: (transaction: Database, changed: AgentRow, conversationBefore: number) => Promise<void> = async () => {},
    first: (transaction: Database) => Promise<void> = async () => {},
  ): Promise<AgentState | null> {
    return this.#database.transaction().execute(async (transaction) => {
      await first(transaction);
      const rows = transaction.selectFrom("agents").select("conversation").where("id", "=", id);
      const before = await rows.forUpdate().executeTakeFirst();
      const row = await change(transaction.updateTable("agents"))
        .where("id", "=", id)
        .where(notAnswering)
        .returning(agentColumns)
        .executeTakeFirst();
      if (row) await then(transaction, row, before!.conversation);
      return row ? toState(row, this.#host) : null;
    });
  }
}

/** After a restored backup, the current number may be the higher one. */
const nextConversation = sql<number>`greatest(conversation, last_conversation) + 1`;

/** Records which request has started a restart, a rollback or a conversation; null: one that is not retried. */
async function markBegun(transaction: Database, agentId: string, by: string | null): Promise<void> {
  if (by === null) return;
  await transaction.insertInto("begun_requests").values({ id: by, agent_id: agentId }).execute();
}

/** Undoes turns that ended after the snapshot, and those that were undone when it was made. */
async function markUndone(
  transaction: Database,
  agentId: string,
  { id, createdAt }: { id: string; createdAt: Date },
): Promise<void> {
  await sql`
    update turns set undone = not undone
    where agent_id = ${agentId} and status <> 'queued' and undone is distinct from (
      coalesce(finished_at, created_at) > ${createdAt} or id = any(array(select unnest(undone) from snapshots where id = ${id}))
    )`.execute(transaction);
}

type AgentUpdate = UpdateQueryBuilder<Tables, "agents", "agents", UpdateResult>;

/** The desired state of an agent whose machine is started again. */
function anew(agent: ExpressionBuilder<Tables, "agents">) {
  return {
    desired: "running" as const,
    status: "provisioning" as const,
    generation: agent("generation", "+", 1),
    error: null,
    install_steps: JSON.stringify([]),
  };
}

/** The desired state of an agent whose machine boots from its disk. */
function booted(agent: ExpressionBuilder<Tables, "agents">) {
  return { ...anew(agent), restarts: agent("restarts", "+", 1) };
}

/** The condition that no turn of the agent is running. */
function notAnswering(agents: ExpressionBuilder<Tables, "agents">) {
  return agents.not(agents.exists(runningTurns(agents)));
}

/** The condition that its machine may sleep: no turn is running, except one that waits for a person. */
function maySleep(agents: ExpressionBuilder<Tables, "agents">) {
  return agents.not(agents.exists(runningTurns(agents).where("turns.waiting", "=", false)));
}

function runningTurns({ selectFrom }: ExpressionBuilder<Tables, "agents">) {
  return selectFrom("turns")
    .select("turns.id")
    .whereRef("turns.agent_id", "=", "agents.id")
    .where("turns.status", "=", "running");
}
