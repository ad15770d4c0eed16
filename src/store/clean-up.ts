import { type RawBuilder, sql } from "kysely";
import { numberAccountEvents } from "./account-events.ts";
import type { Database } from "./database.ts";

/** How long expiring data is kept. */
export interface Retention {
  auditDays: number;
  networkLogDays: number;
  /** 0: for ever. */
  turnDays: number;
  /** How many bytes an account's finished turns may take; 0: no limit. */
  maximumStoredBytes: number;
}

/** Turns measured or removed by one statement, so that none locks many rows for long. */
const batch = 1_000;

/** The most connections that are kept per agent. */
const keptConnections = 100_000;

/** How long an account's events are kept, and how many of them. */
const keptEventDays = 7;
const keptEvents = 100_000;

/** Removes the oldest events of each account, and keeps up to which. A reader who asks for more is told. */
const eventRemoval = sql`
  with beyond as (
    select account_id, max(number) as number from (
      select account_id, number, at, row_number() over (partition by account_id order by number desc) as place
      from account_events where number is not null
    ) placed
    where place > ${keptEvents} or at < now() - make_interval(days => ${keptEventDays}::integer)
    group by account_id
  ), removed as (
    delete from account_events using beyond
    where account_events.account_id = beyond.account_id and account_events.number <= beyond.number
  )
  insert into account_events_removed select * from beyond
  on conflict (account_id) do update set number = excluded.number`;

/** One delete statement per table. */
function removals({ auditDays, networkLogDays }: Retention): RawBuilder<unknown>[] {
  return [
    sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`,
    sql`delete from oidc_records where expires_at < now()`,
    sql`delete from dashboard_sessions where expires_at < now()`,
    sql`delete from user_links where expires_at < now()`,
    sql`delete from tickets where expires_at < now()`,
    // A host without a server for that long is gone, or comes back and takes its lease anew.
    sql`delete from host_leases where renewed_at < now() - interval '7 days'`,
    sql`delete from rate_limits where expire < extract(epoch from now()) * 1000`,
    sql`delete from sign_in_attempts where expire < extract(epoch from now()) * 1000`,
    // Those that a server which died left behind, and those of turns that were removed.
    sql`delete from responses where created_at < now() - interval '1 hour'
      and not exists (select from turns where id = turn_id)`,
    sql`delete from audit_entries where at < now() - make_interval(days => ${auditDays}::integer)`,
    sql`delete from network_log where started_at < now() - make_interval(days => ${networkLogDays}::integer)`,
    // Usage names the keys that caused it.
    sql`delete from api_keys where coalesce(revoked_at, expires_at) < now() - make_interval(days => ${auditDays}::integer)
      and not exists (select from credit_entries where key_id = api_keys.id)`,
    // What an agent can cause to be written is limited by number, not only by time.
    sql`delete from network_log using agents
      where agent_id = agents.id and started_at < (
        select started_at from network_log of_agent where of_agent.agent_id = agents.id
        order by started_at desc, id desc offset ${keptConnections} limit 1)`,
  ];
}

/** Measures finished turns, once each. */
const measureTurns = sql`
  update turns set bytes = octet_length(message) + (
    select coalesce(sum(pg_column_size(turn_events.*)), 0) from turn_events where turn_id = turns.id
  ) + (
    select coalesce(sum(pg_column_size(responses.*)), 0) from responses where turn_id = turns.id
  )
  where id in (select id from turns where status <> 'running' and bytes is null limit ${batch})`;

/** Removes turns with their events. What they cost stays in the ledger. */
function turnRemovals({ turnDays, maximumStoredBytes }: Retention): RawBuilder<unknown>[] {
  const old = sql`delete from turns where id in (
    select id from turns
    where status <> 'running' and finished_at < now() - make_interval(days => ${turnDays}::integer) limit ${batch})`;
  const beyond = sql`delete from turns where id in (
    select id from (
      select turns.id, sum(bytes) over (partition by account_id order by finished_at desc, turns.id desc) as total
      from turns join agents on agents.id = agent_id
      where turns.status <> 'running' and account_id in (
        select account_id from turns join agents on agents.id = agent_id
        group by account_id having sum(bytes) > ${maximumStoredBytes}::bigint)
    ) sized
    where total > ${maximumStoredBytes}::bigint limit ${batch})`;
  return [...(turnDays > 0 ? [old] : []), ...(maximumStoredBytes > 0 ? [beyond] : [])];
}

/** Removes expired data. Called once an hour: nothing may rely on a row being removed in time. */
export async function cleanUp(database: Database, retention: Retention): Promise<void> {
  await numberAccountEvents(database);
  for (const removal of [eventRemoval, ...removals(retention)]) await removal.execute(database);
  for (const step of [measureTurns, ...turnRemovals(retention)]) {
    for (let changed = batch; changed >= batch; ) changed = Number((await step.execute(database)).numAffectedRows ?? 0);
  }
}
