import { type RawBuilder, sql } from "kysely";
import { inboxDays } from "../contract/inbox.ts";
import { notificationHours } from "../contract/notifications.ts";
import { unboundDays } from "../contract/openai-conversations.ts";
import type { Database } from "../core/database/database.ts";
import { numberAccountEvents } from "../events/store.ts";
import { isInUse } from "../uploads/store.ts";

/** How long expiring data is kept. */
export interface Retention {
  auditDays: number;
  networkLogDays: number;
  /** 0: for ever. */
  turnDays: number;
  /** How many bytes an account's finished turns may take; 0: no limit. */
  maximumStoredBytes: number;
}

/** Rows measured or removed by one statement, so that none locks many rows for long. */
const batch = 1_000;
/** The time limit of one statement, and of a complete step; the next clean-up continues with the rest. */
const statementMs = 600_000;
const stepMs = 300_000;

/** The most connections that are kept per agent. */
const keptConnections = 100_000;

/**
 * The most entries that are kept of an account's audit log. Those of its external keys are counted apart: a stolen one
 * cannot push the others out.
 */
const keptEntries = { external: 100_000, other: 1_000_000 };

/** The most ended keys that are kept of an account. */
const keptKeys = 10_000;

/** How long an account's events are kept, and how many of them. */
const keptEventDays = 7;
const keptEvents = 100_000;

/**
 * Removes the oldest events of each account, and records the last removed one, so that a reader who requests older ones
 * is informed.
 */
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

/** A delete statement for up to `batch` rows of a table. */
function removal(table: string, condition: RawBuilder<unknown>): RawBuilder<unknown> {
  const name = sql.table(table);
  return sql`delete from ${name} where ctid = any(array(select ctid from ${name} where ${condition} limit ${batch}))`;
}

/** Old keys that the ledger does not name: usage names the keys that caused it. */
export function oldKeys(auditDays: number): RawBuilder<unknown> {
  return removal(
    "api_keys",
    sql`coalesce(revoked_at, expires_at) < now() - make_interval(days => ${auditDays}::integer)
      and not exists (select from credit_entries where key_id = api_keys.id)`,
  );
}

/** The keys of an account that have ended, beyond the number that it keeps: keys can be made and revoked at once. */
export function keysBeyond(kept: number): RawBuilder<unknown> {
  return removal(
    "api_keys",
    sql`id in (
      select id from (
        select id, row_number() over (partition by account_id order by coalesce(revoked_at, expires_at) desc) as place
        from api_keys where coalesce(revoked_at, expires_at) < now()
      ) ended
      where place > ${kept}::integer and not exists (select from credit_entries where key_id = ended.id)
    )`,
  );
}

/** How many of an agent's commands, and how many of its files, keep their author: the newest. */
const keptMachineAuthors = 2_000;

/** The authors of commands and files beyond those that each agent keeps, the oldest first. Open commands stay. */
const machineAuthorsBeyond = removal(
  "machine_authors",
  sql`(agent_id, kind, ref) in (
    select agent_id, kind, ref from (
      select agent_id, kind, ref, row_number() over (partition by agent_id, kind order by created_at desc) as place
      from machine_authors
    ) placed
    where place > ${keptMachineAuthors}::integer
  ) and not open`,
);

/** How many runs an automation keeps: the newest. */
const keptRuns = 100;

const runsBeyond = removal(
  "automation_runs",
  sql`id in (
    select id from (
      select id, row_number() over (partition by automation_id order by created_at desc, id desc) as place
      from automation_runs
    ) placed
    where place > ${keptRuns}::integer
  ) and status not in ('queued', 'running') and agent_until is null`,
);

/** How long the ids of deliveries are remembered, and how many of an automation: a sender repeats within this time. */
const deliveryDays = 4;
const keptDeliveryIds = 10_000;

const deliveryIdsBeyond = removal(
  "automation_delivery_ids",
  sql`(automation_id, delivery_id) in (
    select automation_id, delivery_id from (
      select automation_id, delivery_id, row_number() over (partition by automation_id order by created_at desc) as place
      from automation_delivery_ids
    ) placed
    where place > ${keptDeliveryIds}::integer
  )`,
);

/** The names of deleted private agents that nothing mentions any more. */
const goneNames = removal(
  "private_names",
  sql`not exists (select from agents where id = agent_id)
    and not exists (
      select from credit_entries entry
      where entry.account_id = private_names.account_id and entry.agent_name = private_names.name)
    and not exists (
      select from audit_entries entry
      where entry.account_id = private_names.account_id and entry.agent_name = private_names.name)
    and not exists (
      select from account_events entry
      where entry.account_id = private_names.account_id and entry.event ->> 'agent' = private_names.name)`,
);

/** One step per table, by name. */
function removals({ auditDays, networkLogDays, turnDays }: Retention): [string, RawBuilder<unknown>][] {
  const old = (days: number) => sql`now() - make_interval(days => ${days}::integer)`;
  return [
    ["idempotency keys", removal("idempotency_keys", sql`created_at < now() - interval '24 hours'`)],
    ["begun requests", removal("begun_requests", sql`at < now() - interval '25 hours'`)],
    ["sign-ins", removal("oidc_records", sql`expires_at < now()`)],
    ["dashboard sessions", removal("dashboard_sessions", sql`expires_at < now()`)],
    ["users' links", removal("user_links", sql`expires_at < now()`)],
    ["invitations", removal("invitations", sql`expires_at < now() - interval '30 days'`)],
    ["tickets", removal("tickets", sql`expires_at < now()`)],
    // A host without a server for that long is gone, or returns and takes its lease again.
    ["host leases", removal("host_leases", sql`renewed_at < now() - interval '7 days'`)],
    // Files that are found after that go to the quarantine, which removes them by age.
    ["removals", removal("removals", sql`removed_at < now() - interval '30 days'`)],
    ["rate limits", removal("rate_limits", sql`expire < extract(epoch from now()) * 1000`)],
    ["sign-in attempts", removal("sign_in_attempts", sql`expire < extract(epoch from now()) * 1000`)],
    // Those that a server which died left behind, and those of turns that were removed.
    [
      "responses",
      removal(
        "responses",
        sql`created_at < now() - interval '1 hour' and not exists (select from turns where id = turn_id)`,
      ),
    ],
    [
      "OpenAI's conversations",
      removal(
        "openai_conversations",
        sql`agent_id is null and used_at < now() - make_interval(days => ${unboundDays}::integer)`,
      ),
    ],
    ["OpenAI's files", removal("openai_files", sql`expires_at < now()`)],
    ["uploads", removal("uploads", sql`expires_at < now() and not ${isInUse}`)],
    // Machines keep the last 100 commands that have ended, and few that run.
    ["authors of commands and files", machineAuthorsBeyond],
    [
      "notifications",
      removal("notifications", sql`created_at < now() - make_interval(hours => ${notificationHours}::integer)`),
    ],
    ["inbox", removal("inbox_items", sql`at < now() - make_interval(days => ${inboxDays}::integer)`)],
    ["turns that were seen", removal("seen_turns", sql`at < now() - make_interval(days => ${inboxDays}::integer)`)],
    ["names of private agents", goneNames],
    ["runs of automations", runsBeyond],
    [
      "ids of deliveries",
      removal("automation_delivery_ids", sql`created_at < now() - make_interval(days => ${deliveryDays}::integer)`),
    ],
    ["ids of deliveries beyond the limit", deliveryIdsBeyond],
    ["audit entries", removal("audit_entries", sql`at < ${old(auditDays)}`)],
    ["connections", removal("network_log", sql`started_at < ${old(networkLogDays)}`)],
    ["keys", oldKeys(auditDays)],
    ["keys beyond the limit", keysBeyond(keptKeys)],
    ["sizes of turns", measureTurns],
    ...(turnDays > 0
      ? [["turns", removal("turns", sql`status <> 'running' and finished_at < ${old(turnDays)}`)] as const]
      : []),
  ].map(([name, step]) => [name, step] as [string, RawBuilder<unknown>]);
}

/** Measures finished turns, once each. */
const measureTurns = sql`
  update turns set bytes = octet_length(message) + (
    select coalesce(sum(pg_column_size(turn_events.*)), 0) from turn_events where turn_id = turns.id
  ) + (
    select coalesce(sum(pg_column_size(responses.*)), 0) from responses where turn_id = turns.id
  )
  where id in (select id from turns where status <> 'running' and status <> 'queued' and bytes is null limit ${batch})`;

/** The newest row that an owner, an agent or an account, keeps no longer. */
interface Cut {
  owner: string;
  /** As text, which keeps the microseconds. */
  at: string;
  id: string;
}

/** The newest connection beyond the number that each agent keeps. This limits an agent's rows. */
export const connectionCuts = sql<Cut>`
  select agents.id as owner, cut.started_at::text as at, cut.id
  from agents cross join lateral (
    select started_at, id from network_log where agent_id = agents.id
    order by started_at desc, id desc offset ${keptConnections} limit 1) cut`;

/** The condition that an audit entry was written for an external key. */
const isExternal = sql<boolean>`(credential is not distinct from 'agent')`;

/** The newest entry beyond the number that each account's audit log keeps, of external keys or of all else. */
const auditCuts = (external: boolean, kept: number) => sql<Cut>`
  select accounts.id as owner, cut.at::text as at, cut.id
  from accounts cross join lateral (
    select at, id from audit_entries where account_id = accounts.id and ${isExternal} = ${external}
    order by at desc, id desc offset ${kept} limit 1) cut`;

const removeEntries =
  (external: boolean) =>
  ({ owner, at, id }: Cut) =>
    removal(
      "audit_entries",
      sql`account_id = ${owner} and (at, id) <= (${at}::timestamptz, ${id}::uuid) and ${isExternal} = ${external}`,
    );

/** Removes each account's audit entries beyond those that are kept. */
export async function trimAuditLog(database: Database, kept = keptEntries): Promise<void> {
  await each(database, auditCuts(false, kept.other), removeEntries(false));
  await each(database, auditCuts(true, kept.external), removeEntries(true));
}

const removeConnections = ({ owner, at, id }: Cut) =>
  removal("network_log", sql`agent_id = ${owner} and (started_at, id) <= (${at}::timestamptz, ${id}::uuid)`);

/** The newest turn beyond the bytes that each account keeps. */
const turnCuts = (maximumBytes: number) => sql<Cut>`
  select distinct on (account_id) account_id as owner, finished_at::text as at, id from (
    select account_id, turns.id, finished_at,
      sum(bytes) over (partition by account_id order by finished_at desc, turns.id desc) as total
    from turns join agents on agents.id = agent_id
    where turns.status <> 'running' and account_id in (
      select account_id from turns join agents on agents.id = agent_id
      group by account_id having sum(bytes) > ${maximumBytes}::bigint)
  ) sized
  where total > ${maximumBytes}::bigint
  order by account_id, finished_at desc, id desc`;

/** Removes turns with their events. Their cost stays in the ledger. */
const removeTurns = ({ owner, at, id }: Cut) =>
  sql`delete from turns where id in (
    select turns.id from turns join agents on agents.id = agent_id
    where account_id = ${owner} and turns.status <> 'running' and (finished_at, turns.id) <= (${at}::timestamptz, ${id}::uuid)
    limit ${batch})`;

/**
 * Removes expired data. Called once an hour: nothing may rely on a row being removed in time. A step that fails or takes
 * too long keeps no other from its work; `failed` is called for each.
 */
export async function cleanUp(
  database: Database,
  retention: Retention,
  failed: (step: string, error: unknown) => void,
): Promise<void> {
  const step = async (name: string, work: () => Promise<unknown>) => {
    await work().catch((error: unknown) => failed(name, error));
  };
  const { maximumStoredBytes } = retention;
  await step("account events", async () => {
    await numberAccountEvents(database);
    await timed(database, eventRemoval);
  });
  for (const [name, statement] of removals(retention)) await step(name, () => inBatches(database, statement));
  await step("audit entries beyond the limit", () => trimAuditLog(database));
  await step("connections beyond the limit", () => each(database, connectionCuts, removeConnections));
  if (maximumStoredBytes > 0) {
    await step("turns beyond the limit", () => each(database, turnCuts(maximumStoredBytes), removeTurns));
  }
}

/** Has each owner's rows up to its cut removed. */
async function each(database: Database, cuts: RawBuilder<Cut>, remove: (cut: Cut) => RawBuilder<unknown>) {
  for (const cut of (await timed(database, cuts)).rows) await inBatches(database, remove(cut));
}

/** Repeats a statement for `batch` rows until none are left, or its time is over. */
async function inBatches(database: Database, statement: RawBuilder<unknown>): Promise<void> {
  for (const until = performance.now() + stepMs; performance.now() < until; ) {
    const { numAffectedRows = 0n } = await timed(database, statement);
    if (numAffectedRows < batch) return;
  }
}

/** Executes a statement that the database ends when it takes too long. */
function timed<Row>(database: Database, statement: RawBuilder<Row>) {
  return database.transaction().execute(async (transaction) => {
    await sql`set local statement_timeout = ${sql.lit(statementMs)}`.execute(transaction);
    return statement.execute(transaction);
  });
}
