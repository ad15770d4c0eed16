import { sql } from "kysely";
import { listedFiles, type TurnChanges, type TurnChangesWithDiffs } from "../contract/changes.ts";
import type { Database } from "../core/database/database.ts";

/** The diffs of a turn's listed files, in their order. */
export type Diffs = readonly (string | null)[];

const lastTypes = sql`('response.completed', 'response.failed', 'response.cancelled')`;

/** The files that a turn (`turns`) changed, from its last event; null: not known. */
export const changesOf = sql<TurnChanges | null>`(
  select event -> 'changes' from turn_events
  where turn_id = turns.id and event ->> 'type' in ${lastTypes} order by seq desc limit 1)`;

/** The same with the first files only. */
export const briefChangesOf = sql<TurnChanges | null>`(
  select case when jsonb_array_length(event -> 'changes' -> 'files') <= ${listedFiles} then event -> 'changes'
    else jsonb_set(jsonb_set(event -> 'changes', '{cut}', 'true'), '{files}',
      jsonb_path_query_array(event -> 'changes' -> 'files', ${`$[0 to ${listedFiles - 1}]`}::jsonpath)) end
  from turn_events
  where turn_id = turns.id and event ->> 'type' in ${lastTypes} order by seq desc limit 1)`;

export async function storeDiffs(database: Database, turnId: string, diffs: Diffs): Promise<void> {
  await database
    .insertInto("turn_diffs")
    .values({ turn_id: turnId, diffs: JSON.stringify(diffs) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Null: the changes are not known. */
export async function changesWithDiffs(database: Database, turnId: string): Promise<TurnChangesWithDiffs | null> {
  const row = await database
    .selectFrom("turns")
    .leftJoin("turn_diffs", "turn_diffs.turn_id", "turns.id")
    .select([changesOf.as("changes"), "turn_diffs.diffs"])
    .where("turns.id", "=", turnId)
    .executeTakeFirst();
  if (!row?.changes) return null;
  const { files, ...changes } = row.changes;
  return { ...changes, files: files.map((file, index) => ({ ...file, diff: row.diffs?.[index] ?? null })) };
}

/** The turns that the agent has had since a moment and remembers. */
export interface TurnsSince {
  /** The ended ones, oldest first. */
  ids: string[];
  /** The agent was rolled back to before the moment. */
  isRolledBack: boolean;
}

/** The turns from a turn on, which is included. */
export async function turnsFrom(
  database: Database,
  agentId: string,
  turnId: string,
  limit: number,
): Promise<TurnsSince> {
  const { rows } = await sql<TurnsSince>`
    select undone as "isRolledBack", array(
      select id from turns where agent_id = ${agentId} and ${isPart} and (created_at, id) >= (first.created_at, first.id)
      order by created_at, id limit ${limit}) as ids
    from turns first where first.agent_id = ${agentId} and first.id = ${turnId}`.execute(database);
  return rows[0]!;
}

/** The turns that ended after a snapshot was made. */
export async function turnsAfterSnapshot(database: Database, snapshotId: string, limit: number): Promise<TurnsSince> {
  const { rows } = await sql<TurnsSince>`
    select array(
      select id from turns where agent_id = snapshots.agent_id and ${isPart} and finished_at > snapshots.created_at
      order by created_at, id limit ${limit}) as ids,
    exists (
      select from turns where agent_id = snapshots.agent_id and finished_at <= snapshots.created_at
        and undone is distinct from (id = any(snapshots.undone))) as "isRolledBack"
    from snapshots where id = ${snapshotId}`.execute(database);
  return rows[0]!;
}

/** The turn (`turns`) ended, is remembered, and did not leave a queue before it began. */
const isPart = sql<boolean>`(finished_at is not null and not undone
  and not (status = 'cancelled' and created_at is not distinct from queued_at))`;
