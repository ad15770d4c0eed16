import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AutomationRun } from "../../src/contract/automations.ts";
import { type Database, openDatabase } from "../../src/core/database/database.ts";
import type { TestClient } from "../support/client.ts";
import { type Member, ServerGroup } from "../support/server-group.ts";

// Automations of two servers on one database: each time has one run.

let group: ServerGroup;
let database: Database;
let leader: Member;
let standby: Member;

beforeAll(async () => {
  group = await ServerGroup.start(2);
  database = openDatabase({ connectionString: group.databaseUrl, max: 2 }, () => {});
  leader = await group.leader();
  [standby] = (await group.others()) as [Member];
  await leader.client.createAgent("ada");
});
afterAll(async () => {
  await database?.destroy();
  await group?.[Symbol.asyncDispose]();
});

const asked = { agent: "ada", trigger: { type: "schedule", cron: "0 0 1 1 *", timeZone: "UTC" }, overlap: "queue" };
const patient = { timeout: 30_000 };

async function runsOf(client: TestClient, name: string): Promise<AutomationRun[]> {
  return (await client.call("GET", `/automations/${name}/runs`)).body.data;
}

const statusesOf = async (client: TestClient, names: readonly string[]) =>
  (await Promise.all(names.map((name) => runsOf(client, name)))).map((runs) => runs.map(({ status }) => status));

async function create(by: TestClient, name: string): Promise<string> {
  expect((await by.call("POST", "/automations", { ...asked, name, message: name })).status).toBe(201);
  return name;
}

test("a server that does not lead creates and runs automations, and each runs once", async () => {
  const names = await Promise.all(
    Array.from({ length: 12 }, (_, index) => create(index % 2 ? leader.client : standby.client, `even-${index}`)),
  );
  expect((await standby.client.call("POST", `/automations/${names[0]}/run`)).status).toBe(201);
  await expect.poll(async () => statusesOf(standby.client, [names[0]!]), patient).toEqual([["completed"]]);
  await sql`update automations set next_run_at = now(), next_base_at = now()`.execute(database);
  const once = names.map((_, index) => (index === 0 ? ["completed", "completed"] : ["completed"]));
  await expect.poll(() => statusesOf(standby.client, names), patient).toEqual(once);
  const { rows } = await sql<{ message: string; count: number }>`
    select message, count(*)::integer as count from turns where message like 'even-%' group by message`.execute(
    database,
  );
  expect(rows.map(({ count }) => count).toSorted()).toEqual([...Array(11).fill(1), 2]);
});

test("runs of a server that is killed are finished by the next leader, once each", async () => {
  const names = await Promise.all(Array.from({ length: 6 }, (_, index) => create(leader.client, `odd-${index}`)));
  const { rowCount } = await sql`
    update automations set next_run_at = now(), next_base_at = now() where name like 'odd-%' returning id`
    .execute(database)
    .then(({ rows }) => ({ rowCount: rows.length }));
  expect(rowCount).toBe(6);
  const begun = async () =>
    (await sql`select from automation_runs where message like 'odd-%'`.execute(database)).rows.length;
  await expect.poll(begun, patient).toBeGreaterThan(0);
  await leader.process.end("SIGKILL");
  await group.leader([standby]);
  await expect.poll(() => statusesOf(standby.client, names), patient).toEqual(names.map(() => ["completed"]));
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from turns where message like 'odd-%' group by message`.execute(database);
  expect(rows.map(({ count }) => count)).toEqual([1, 1, 1, 1, 1, 1]);
});
