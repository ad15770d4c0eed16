import { sql } from "kysely";

/**
 * The condition that a row comes after the cursor `ID@MILLISECONDS` in a newest-first list. The row of the cursor has the
 * exact time, in microseconds. If it was deleted, the cursor counts as the last microsecond of its millisecond.
 */
export function olderThan(
  table:
    | "api_keys"
    | "automation_deliveries"
    | "automation_runs"
    | "turns"
    | "uploads"
    | "webhook_deliveries"
    | "webhooks",
  cursor: string,
) {
  const [id, milliseconds] = cursor.split("@");
  const exact = sql`(select created_at from ${sql.table(table)} where id = ${id})`;
  const about = sql`to_timestamp(${milliseconds}::bigint / 1000.0) + interval '999 microseconds'`;
  return sql<boolean>`(created_at, id) < (coalesce(${exact}, ${about}), ${id}::uuid)`;
}
