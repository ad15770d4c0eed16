import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { cleanUp, connectionCuts, keysBeyond, oldKeys, trimAuditLog } from "../../src/upkeep/clean-up-store.ts";
import { databaseOf } from "../support/accounts.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let database: Database;
beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
  await service.client.createAgent("bea");
  database = await databaseOf(service);
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

async function connect(name: string, count: number): Promise<void> {
  await sql`
    insert into network_log
      (id, agent_id, started_at, finished_at, outcome, host, port, bytes_sent, bytes_received, count)
    select gen_random_uuid(), id, now() - make_interval(secs => at), now(), 'closed', 'example.com', 443, 1, 1, 1
    from agents, generate_series(1, ${count}::integer) at where name = ${name}`.execute(database);
}

async function connections(): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; count: number }>`
    select name, count(*)::integer as count from network_log join agents on agents.id = agent_id
    group by name`.execute(database);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

test("each agent keeps its last 100,000 connections", async () => {
  await connect("ada", 103_500);
  await connect("bea", 10);
  await cleanUp(database, service.config, expect.unreachable);
  expect(await connections()).toEqual({ ada: 100_000, bea: 10 });
});

test("each agent keeps the authors of its newest 2,000 commands, and of as many files", async () => {
  await sql`
    insert into machine_authors (agent_id, kind, ref, created_at)
    select id, kind, at, now() - make_interval(secs => at)
    from agents, unnest(array['command', 'file']) kind, generate_series(1, 2005) at where name = 'ada'`.execute(
    database,
  );
  await cleanUp(database, service.config, expect.unreachable);
  const { rows } = await sql`
    select kind, count(*)::integer, max(ref::integer) as oldest from machine_authors group by kind order by kind`.execute(
    database,
  );
  expect(rows).toEqual(["command", "file"].map((kind) => ({ kind, count: 2_000, oldest: 2_000 })));
});

test("an account's audit log keeps the last entries of external keys and of all else apart", async () => {
  const add = (credential: string, count: number) =>
    sql`
      insert into audit_entries (id, account_id, at, credential, address, operation, status, request_id)
      select gen_random_uuid(), account_id, now() - make_interval(secs => at), ${credential}, '::1', 'GET /agents', 200,
        gen_random_uuid()
      from (select account_id from agents limit 1) of_one, generate_series(1, ${count}::integer) at`.execute(database);
  const counts = async () => {
    const { rows } = await sql<{ external: boolean; count: number }>`
      select credential is not distinct from 'agent' as external, count(*)::integer as count
      from audit_entries group by 1 order by 1`.execute(database);
    return rows.map(({ count }) => count);
  };
  await add("full", 2_500);
  await add("agent", 1_500);
  const [others, external] = await counts();
  expect(others).toBeGreaterThan(2_500);
  expect(external).toBe(1_500);
  await trimAuditLog(database, { other: 1_200, external: 50 });
  expect(await counts()).toEqual([1_200, 50]);
});

test("keys that are made and revoked at once do not pile up, and those that are good stay", async () => {
  const made: string[] = [];
  for (let count = 0; count < 5; count++) {
    const { body } = await service.client.call("POST", "/keys", { kind: "full" });
    made.push(body.id);
    if (count < 4) await service.client.call("DELETE", `/keys/${body.id}`);
  }
  await keysBeyond(2).execute(database);
  const { rows } = await sql<{ id: string }>`select id from api_keys where id = any(${made})`.execute(database);
  expect(rows.map(({ id }) => id).toSorted()).toEqual([made[2], made[3], made[4]].toSorted());
});

test("a step that fails keeps no other from its work", async () => {
  const failed: string[] = [];
  await sql`alter table tickets rename to tickets_elsewhere`.execute(database);
  await sql`update network_log set started_at = now() - interval '100 years'`.execute(database);
  await cleanUp(database, service.config, (step) => failed.push(step));
  await sql`alter table tickets_elsewhere rename to tickets`.execute(database);
  expect(failed).toEqual(["tickets"]);
  expect(await connections()).toEqual({});
});

test("the plans of the clean-up look at each row once", async () => {
  const plan = async (statement: typeof connectionCuts | ReturnType<typeof oldKeys>) =>
    database.transaction().execute(async (transaction) => {
      await sql`set local enable_seqscan = off`.execute(transaction);
      await sql`set local enable_hashjoin = off`.execute(transaction);
      const { rows } = await sql<Record<string, string>>`explain ${statement}`.execute(transaction);
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    });
  const cuts = await plan(connectionCuts);
  expect(cuts).toMatch(/Index.* Scan.*network_log_by_agent/);
  expect(cuts).not.toMatch(/SubPlan|Join Filter/);
  expect(await plan(oldKeys(90))).toContain("credit_entries_by_key");
});

test("an agent with a long history is removed a batch of events at a time", async () => {
  await service.client.createAgent("cleo");
  await sql`
    with turn as (
      insert into turns (id, agent_id, conversation, message, status, usage)
      select gen_random_uuid(), id, 1, 'hello', 'completed', '{}' from agents where name = 'cleo' returning id)
    insert into turn_events (turn_id, seq, event)
    select id, seq, '{"type": "response.created"}' from turn, generate_series(1, 25000) seq`.execute(database);
  await sql`create table removed_events (count integer)`.execute(database);
  await sql`
    create function note_removed_events() returns trigger language plpgsql as $$
    begin
      insert into removed_events select count(*) from removed;
      return null;
    end $$`.execute(database);
  await sql`
    create trigger noted after delete on turn_events referencing old table as removed
    for each statement execute function note_removed_events()`.execute(database);
  expect((await service.client.call("DELETE", "/agents/cleo")).status).toBe(204);
  const { rows } = await sql<{ count: number }>`select count from removed_events`.execute(database);
  const counts = rows.map(({ count }) => count);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(25_000);
  expect(Math.max(...counts)).toBe(10_000);
});
