import { sql } from "kysely";

/** That a row is older than the one of that id: what comes after it in a list with the newest first. */
export function olderThan(table: "api_keys" | "turns", id: string) {
  return sql<boolean>`(created_at, id) < (select created_at, id from ${sql.table(table)} where id = ${id})`;
}
