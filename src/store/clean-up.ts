import { type RawBuilder, sql } from "kysely";
import type { Database } from "./database.ts";

/** How long expiring data is kept. */
export interface Retention {
  auditDays: number;
  networkLogDays: number;
}

/** The most connections that are kept per agent. */
const keptConnections = 100_000;

/** One delete statement per table. */
function removals({ auditDays, networkLogDays }: Retention): RawBuilder<unknown>[] {
  return [
    sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`,
    sql`delete from oidc_records where expires_at < now()`,
    sql`delete from user_links where expires_at < now()`,
    sql`delete from rate_limits where expire < extract(epoch from now()) * 1000`,
    sql`delete from sign_in_attempts where expire < extract(epoch from now()) * 1000`,
    sql`delete from audit_entries where at < now() - make_interval(days => ${auditDays}::integer)`,
    sql`delete from network_log where started_at < now() - make_interval(days => ${networkLogDays}::integer)`,
    // What an agent can cause to be written is limited by number, not only by time.
    sql`delete from network_log using agents
      where agent_id = agents.id and started_at < (
        select started_at from network_log of_agent where of_agent.agent_id = agents.id
        order by started_at desc, id desc offset ${keptConnections} limit 1)`,
  ];
}

/** Removes expired data. Called once an hour: nothing may rely on a row being removed in time. */
export async function cleanUp(database: Database, retention: Retention): Promise<void> {
  for (const removal of removals(retention)) await removal.execute(database);
}
