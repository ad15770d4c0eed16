import { Kysely, type LogEvent, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { expect, test } from "vitest";
import { AgentStore } from "../../src/agents/store.ts";
import { MachineTime } from "../../src/billing/machine-time-store.ts";
import { BillingStore } from "../../src/billing/store.ts";
import { startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import type { Tables } from "../../src/core/database/tables.ts";
import { EgressLogStore } from "../../src/egress/log-store.ts";
import { LifecycleStore } from "../../src/lifecycle/store.ts";
import { databaseOf } from "../support/accounts.ts";
import { ScriptedService } from "../support/scripted-service.ts";

test("periodic reads of agents use the index on their state", async () => {
  await using service = await ScriptedService.start();
  await service.client.createAgent("ada");
  const plain = await databaseOf(service);
  // Agents of others that are awake, and of this host that sleep.
  await sql`
    insert into agents
    select (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), 'name', 'a' || number) || case
      when number % 100 = 0 then '{"desired": "running", "status": "ready", "host": "another"}'::jsonb
      else '{"desired": "suspended", "status": "suspended"}' end)).*
    from agents one, generate_series(1, 4000) number where name = 'ada'`.execute(plain);
  await sql`analyze agents`.execute(plain);
  const { rows } = await sql<{ host: string; accountId: string }>`
    select host, account_id as "accountId" from agents where name = 'ada'`.execute(plain);
  const { host, accountId } = rows[0]!;

  const plans = await plansOf(service, async (database) => {
    const agents = new AgentStore(database, host, 1_000);
    const lifecycle = new LifecycleStore(database, host, 0);
    const machineTime = new MachineTime(database, host, 0);
    await lifecycle.idle(null, 10);
    await lifecycle.runningIds();
    await lifecycle.unsettled();
    await agents.importing();
    const viewer = { accountId, personId: accountId, role: "member" as const, agentIds: null };
    await agents.list(viewer, 51, null, "all");
    await machineTime.charge();
    await machineTime.unpaid();
  });
  await plain.destroy();
  expect(plans).toHaveLength(7);
  for (const plan of plans) expect(plan).not.toMatch(/Seq Scan on agents/);
});

test("connections of one verdict are found without reading those of the other", async () => {
  await using service = await ScriptedService.start();
  await service.client.createAgent("ada");
  const plain = await databaseOf(service);
  await sql`
    insert into network_log
      (id, agent_id, started_at, finished_at, reason, host, port, bytes_sent, bytes_received, count)
    select gen_random_uuid(), id, now() - make_interval(secs => at), now(), 'not_allowed', 'example.com', 443, 0, 0, 1
    from agents, generate_series(1, 20000) at`.execute(plain);
  await sql`analyze network_log`.execute(plain);
  const { rows } = await sql<{ id: string; account_id: string }>`select id, account_id from agents`.execute(plain);
  const { id, account_id: accountId } = rows[0]!;
  const plans = await plansOf(service, async (database) => {
    const log = new EgressLogStore(database);
    await log.list(id, 10, null, "allowed");
    await log.ofAccount({ accountId, personId: null, role: "member" }, 10, null, { verdict: "allowed", since: null });
  });
  await plain.destroy();
  expect(plans).toHaveLength(2);
  for (const plan of plans) expect(plan).toContain("network_log_allowed");
});

test("entries of the ledger are found without reading the others", async () => {
  await using service = await ScriptedService.start();
  await service.client.createAgent("ada");
  const plain = await databaseOf(service);
  const { rows } = await sql<{ account_id: string }>`select account_id from agents`.execute(plain);
  const accountId = rows[0]!.account_id;
  // An entry a minute. One in ten belongs to another agent, one in a thousand to none.
  await plain.transaction().execute(async (transaction) => {
    await sql`set local session_replication_role = replica`.execute(transaction);
    await sql`
      insert into credit_entries (account_id, number, at, kind, amount, balance_after, agent_name)
      select ${accountId}, 1000 + n, now() - make_interval(mins => 50000 - n),
        case when n % 1000 = 0 then 'top_up' else 'machine' end, 0, 0,
        case when n % 1000 = 0 then null when n % 10 = 1 then 'bea' else 'ada' end
      from generate_series(1, 50000) n`.execute(transaction);
  });
  await sql`analyze credit_entries`.execute(plain);
  const early = new Date(Date.now() - 30 * 24 * 60 * 60_000);
  const soon = new Date(Date.now() + 60_000);
  const none = { agent: null, kind: null, since: null, until: null };
  const plans = await plansOf(service, async (database) => {
    const billing = new BillingStore(database);
    const viewer = { accountId, personId: null, role: "member" as const };
    await billing.entries(viewer, { ...none, agent: "ada", kind: "model" }, 50, null);
    await billing.entries(viewer, { ...none, agent: "bea", until: early }, 50, null);
    await billing.entries(viewer, { ...none, agent: "ada", since: soon }, 50, null);
    await billing.entries(viewer, { ...none, kind: "machine", until: early }, 50, null);
    await billing.entries(viewer, { ...none, until: early }, 50, null);
  });
  await plain.destroy();
  expect(plans).toHaveLength(5);
  expect(plans[0]).toContain("credit_entries_by_agent_and_kind");
  // The rows read: none but those of the period, with a day more.
  for (const plan of plans.slice(1)) expect(plan).toMatch(/Index Cond: .*\((number [<>]=|at >=)/);
});

/** The plans of the queries that `work` asks of the service's database. */
async function plansOf(service: ScriptedService, work: (database: Kysely<Tables>) => Promise<void>): Promise<string[]> {
  const asked: LogEvent["query"][] = [];
  const { config } = await startEmbeddedPostgres(`${service.config.dataFolder}/postgres`);
  const pool = new pg.Pool({ ...config, max: 1 });
  pool.on("error", () => {}); // The service's end may come before the connection's.
  const dialect = new PostgresDialect({ pool });
  const database = new Kysely<Tables>({ dialect, log: ({ query }) => void asked.push(query) });
  await work(database);
  const plans: string[] = [];
  for (const { sql: text, parameters } of asked.filter((query) => query.sql.trimStart().startsWith("select"))) {
    const explained = await sql.raw(`explain ${inlined(text, parameters)}`).execute(database);
    plans.push(explained.rows.map((row) => Object.values(row as object)[0]).join("\n"));
  }
  await database.destroy();
  return plans;
}

/** A statement with its parameters in it, since `explain` takes none. */
function inlined(text: string, parameters: readonly unknown[]): string {
  return text.replaceAll(/\$(\d+)/g, (_, number) => {
    const value = parameters[Number(number) - 1];
    if (value === null) return "null";
    return pg.escapeLiteral(value instanceof Date ? value.toISOString() : String(value));
  });
}
