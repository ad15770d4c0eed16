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
