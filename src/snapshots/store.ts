import { type Selectable, sql } from "kysely";
import { BerthError } from "../contract/errors.ts";
import { isUuid } from "../contract/ids.ts";
import type { SnapshotReason } from "../contract/snapshots.ts";
import { authorColumns, authorOf } from "../core/database/authors.ts";
import { type Database, isDuplicate } from "../core/database/database.ts";
import type { Tables } from "../core/database/tables.ts";
import type { SnapshotState, StoredSnapshot } from "./snapshot.ts";

export class SnapshotStore {
  readonly #database: Database;
  readonly #host: string;

  /** `host`: this server's. */
  constructor(database: Database, host: string) {
    this.#database = database;
    this.#host = host;
  }

  /** The current time, and the agent's running turn. */
  async moment(agentId: string): Promise<{ at: Date; turnId: string | null }> {
    const { rows } = await sql<{ at: Date; turnId: string | null }>`
      select clock_timestamp() as at,
        (select id from turns where agent_id = ${agentId} and status = 'running') as "turnId"`.execute(this.#database);
    return rows[0]!;
  }

  /** Throws `snapshot_exists`. */
  async insert(snapshot: SnapshotState): Promise<void> {
    const { id, agentId, name, reason, runtime, conversation, retold, hasMemory, bytes, turnId, createdAt } = snapshot;
    try {
      await this.#database
        .insertInto("snapshots")
        .values({
          id,
          agent_id: agentId,
          name,
          reason,
          runtime,
          conversation,
          retold,
          has_memory: hasMemory,
          bytes,
          turn_id: turnId,
          created_at: createdAt,
          ...authorColumns(snapshot),
          undone: sql<string[]>`array(select id from turns where agent_id = ${agentId} and undone)`,
        })
        .execute();
    } catch (error) {
      if (!isDuplicate(error, "snapshots_agent_id_name_key")) throw error;
      throw new BerthError("snapshot_exists", `The agent has a snapshot ${name} already.`);
    }
  }

  /** Oldest first. */
  async list(agentId: string): Promise<StoredSnapshot[]> {
    const rows = this.#database.selectFrom("snapshots").selectAll().select(author).where("agent_id", "=", agentId);
    return (await rows.orderBy("created_at").execute()).map(fromRow);
  }

  /** By name or id. */
  async find(agentId: string, reference: string): Promise<StoredSnapshot | null> {
    const row = await this.#database
      .selectFrom("snapshots")
      .selectAll()
      .select(author)
      .where("agent_id", "=", agentId)
      .where(isUuid(reference) ? "id" : "name", "=", reference)
      .executeTakeFirst();
    return row ? fromRow(row) : null;
  }

  /** False if there was no such row. Afterwards its files may be removed. */
  async remove(id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database.deleteFrom("snapshots").where("id", "=", id).executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** The oldest of this host from before turns, without the newest of each agent. */
  async oldestOfTurns(limit: number): Promise<Pick<SnapshotState, "id" | "agentId" | "name">[]> {
    const { rows } = await sql<Pick<SnapshotState, "id" | "agentId" | "name">>`
      select snapshots.id, agent_id as "agentId", snapshots.name
      from snapshots join agents on agents.id = snapshots.agent_id and agents.host = ${this.#host}
      where reason = 'turn' and exists (
        select from snapshots newer
        where newer.agent_id = snapshots.agent_id and newer.reason = 'turn' and newer.created_at > snapshots.created_at)
      order by snapshots.created_at limit ${limit}`.execute(this.#database);
    return rows;
  }

  /** Updates the stored sizes. */
  async resize(found: readonly { id: string; bytes: number }[]): Promise<void> {
    const [ids, bytes] = [found.map(({ id }) => id), found.map((each) => each.bytes)];
    await sql`
      update snapshots set bytes = found.bytes
      from unnest(${ids}::uuid[], ${bytes}::bigint[]) as found (id, bytes)
      where snapshots.id = found.id and snapshots.bytes <> found.bytes`.execute(this.#database);
  }
}

const author = authorOf("snapshots").as("createdBy");

function fromRow(row: Selectable<Tables["snapshots"]> & Pick<StoredSnapshot, "createdBy">): StoredSnapshot {
  return {
    id: row.id,
    agentId: row.agent_id,
    name: row.name,
    reason: row.reason as SnapshotReason,
    runtime: row.runtime,
    conversation: row.conversation,
    retold: row.retold,
    hasMemory: row.has_memory,
    bytes: Number(row.bytes),
    turnId: row.turn_id,
    personId: row.person_id,
    keyId: row.key_id,
    createdBy: row.createdBy,
    createdAt: row.created_at,
  };
}
