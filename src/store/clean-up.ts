import { type RawBuilder, sql } from "kysely";
import type { Database } from "./database.ts";

/** For how long things are kept that are of no use later. */
export interface Retention {
  auditDays: number;
  networkLogDays: number;
}

/** Of an agent's connections, more are not kept. */
const keptConnections = 100_000;

/** What is removed, a statement for each table. */
function removals({ auditDays, networkLogDays }: Retention): RawBuilder<unknown>[] {
  return [
    sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`,
    sql`delete from oidc_records where expires_at < now()`,
    sql`delete from user_links where expires_at < now()`,
    sql`delete from rate_limits where expire < extract(epoch from now()) * 1000`,
    sql`delete from sign_in_attempts where expire < extract(epoch from now()) * 1000`,
    sql`delete from audit_entries where at < now() - make_interval(days => ${auditDays}::integer)`,
    sql`delete from network_log where started_at < now() - make_interval(days => ${networkLogDays}::integer)`,
    // What an agent may have written is bounded by number too, and not only by time.
    sql`delete from network_log using agents
      where agent_id = agents.id and started_at < (
        select started_at from network_log of_agent where of_agent.agent_id = agents.id
        order by started_at desc, id desc offset ${keptConnections} limit 1)`,
  ];
}

/** Removes what has been kept for long enough. Called once an hour: nothing may count on a row being gone in time. */
export async function cleanUp(database: Database, retention: Retention): Promise<void> {
  for (const removal of removals(retention)) await removal.execute(database);
}
