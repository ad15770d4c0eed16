import { type Selectable, sql } from "kysely";
import type { Database } from "../core/database/database.ts";
import { visibleTo } from "../core/database/private-agents.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Viewer } from "../core/http/access.ts";
import type { ConnectionFilter, ConnectionPosition, ConnectionState } from "./agent-egress.ts";

export class EgressLogStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Writes connections in one statement. Skips those of deleted agents, and those already written. */
  async write(entries: readonly ConnectionState[]): Promise<void> {
    await sql`
      insert into network_log
      select entry.* from jsonb_populate_recordset(null::network_log, ${JSON.stringify(entries.map(toRow))}::jsonb) entry
      join agents on agents.id = entry.agent_id
      on conflict do nothing`.execute(this.#database);
  }

  /** Up to `limit` connections of the agent after `after`, newest first; with a verdict, only those. */
  async list(
    agentId: string,
    limit: number,
    after: ConnectionPosition | null,
    verdict: "allowed" | "refused" | null,
  ): Promise<ConnectionState[]> {
    const rows = await this.#database
      .selectFrom("network_log")
      .selectAll()
      .where("agent_id", "=", agentId)
      .$if(verdict !== null, (query) => query.where("reason", verdict === "allowed" ? "is" : "is not", null))
      .$if(after !== null, (query) =>
        query.where(({ eb, refTuple, tuple }) =>
          eb(refTuple("started_at", "id"), "<", tuple(after!.startedAt, after!.id)),
        ),
      )
      .orderBy("started_at", "desc")
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    return rows.map(fromRow);
  }

  /** Up to `limit` connections of all of the caller's agents in the same order. */
  async ofAccount(
    viewer: Viewer,
    limit: number,
    after: ConnectionPosition | null,
    { verdict, since }: ConnectionFilter,
  ): Promise<(ConnectionState & { agent: string })[]> {
    // Reads each agent's newest entries by its own index for each verdict.
    const ofVerdict = {
      any: sql`true`,
      allowed: sql`reason is null`,
      refused: sql`reason is not null`,
    }[verdict ?? "any"];
    const { rows } = await sql<Selectable<Tables["network_log"]> & { agent: string }>`
      select own.*, agents.name as agent from agents cross join lateral (
        select * from network_log where agent_id = agents.id
          and ${ofVerdict}
          and started_at >= coalesce(${since}::timestamptz, '-infinity')
          and (started_at, id) < (coalesce(${after?.startedAt ?? null}::timestamptz, 'infinity'),
            coalesce(${after?.id ?? null}::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
        order by started_at desc, id desc limit ${limit}
      ) own
      where agents.account_id = ${viewer.accountId} and ${visibleTo(viewer, "all")}
      order by own.started_at desc, own.id desc limit ${limit}`.execute(this.#database);
    return rows.map((row) => ({ ...fromRow(row), agent: row.agent }));
  }
}

function toRow(entry: ConnectionState) {
  return {
    id: entry.id,
    agent_id: entry.agentId,
    started_at: entry.startedAt,
    finished_at: entry.finishedAt,
    reason: entry.reason,
    outcome: entry.outcome,
    host: entry.host,
    port: entry.port,
    address: entry.address,
    bytes_sent: entry.bytesSent,
    bytes_received: entry.bytesReceived,
    count: entry.count,
  };
}

function fromRow(row: Selectable<Tables["network_log"]>): ConnectionState {
  return {
    id: row.id,
    agentId: row.agent_id,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    reason: row.reason,
    outcome: row.outcome,
    host: row.host,
    port: row.port,
    address: row.address,
    bytesSent: Number(row.bytes_sent),
    bytesReceived: Number(row.bytes_received),
    count: row.count,
  };
}
