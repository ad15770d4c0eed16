import { sql } from "kysely";

/** The condition that a row is older than the one with this id, so comes after it in a newest-first list. */
export function olderThan(table: "api_keys" | "turns", id: string) {
  return sql<boolean>`(created_at, id) < (select created_at, id from ${sql.table(table)} where id = ${id})`;
}
