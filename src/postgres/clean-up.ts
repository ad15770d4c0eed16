import { type RawBuilder, sql } from "kysely";
import type { Database } from "./database.ts";

/** For how long things are kept that are of no use later. */
export interface Retention {
  auditDays: number;
}

/** What is removed, a statement for each table. */
function removals({ auditDays }: Retention): RawBuilder<unknown>[] {
  return [
    sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`,
    sql`delete from oidc_records where expires_at < now()`,
    sql`delete from user_links where expires_at < now()`,
    sql`delete from rate_limits where expire < extract(epoch from now()) * 1000`,
    sql`delete from sign_in_attempts where expire < extract(epoch from now()) * 1000`,
    sql`delete from audit_entries where at < now() - make_interval(days => ${auditDays}::integer)`,
  ];
}

/** Removes what has been kept for long enough. Called once an hour: nothing may count on a row being gone in time. */
export async function cleanUp(database: Database, retention: Retention): Promise<void> {
  for (const removal of removals(retention)) await removal.execute(database);
}
