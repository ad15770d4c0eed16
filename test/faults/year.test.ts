import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { KillableService } from "../support/killable-service.ts";
import { ring } from "../support/timers.ts";

// A year of weeks that are alike, each made by setting all that is stored back by seven days. Once everything that
// expires has begun to, nothing grows but what is kept for ever: the ledger.

const weeks = 52;
/** After the longest retention, 90 days, with some weeks for caches to fill. */
const steadyWeek = 18;
const agents = ["ada", "bob", "cleo"];
/** The ledger is kept for ever. pg-boss removes its jobs an hour after they end, which has not passed. */
const notCounted = /^(credit_entries$|timers\.)/;

interface Size {
  /** By table. */
  rows: Record<string, number>;
  files: number;
  serverMiB: number;
}

test("a year of use takes no more rows, files or memory than its first months", { timeout: 1_800_000 }, async () => {
  await using service = await KillableService.start({ turnDays: 30, startingCredits: "100000000" });
  const database = await databaseOf(service);
  try {
    for (const name of agents) await service.client.createAgent(name);
    let steady: Size | null = null;
    for (let week = 1; week <= weeks; week++) {
      await use(service.client, week);
      await passWeek(database);
      await ring(database, "clean-up");
      const old = sql<{ count: string }>`select count(*) from turns where finished_at < now() - interval '30 days'`;
      await expect.poll(async () => Number((await old.execute(database)).rows[0]!.count)).toBe(0);
      if (week === steadyWeek) steady = await sizeOf(service, database);
    }
    const last = await sizeOf(service, database);
    console.log(JSON.stringify({ steady, last }));
    for (const [table, rows] of Object.entries(last.rows)) {
      // A week's worth more or less, since clean-ups and weeks do not fall together.
      if (!notCounted.test(table)) expect([table, rows <= steady!.rows[table]! * 1.2 + 20]).toEqual([table, true]);
    }
    expect(last.files).toBeLessThanOrEqual(steady!.files + 10);
    expect(last.serverMiB).toBeLessThan(steady!.serverMiB * 1.3 + 20);
  } finally {
    await database.destroy();
  }
});

/** The events of a week: messages, refusals, and objects that are made and removed again. */
async function use(client: TestClient, week: number): Promise<void> {
  for (const name of agents) {
    for (let turn = 0; turn < 5; turn++) await client.ask(name, `week ${week}, turn ${turn}`);
    await client.call("POST", `/agents/${name}/suspend`);
  }
  const passing = `passing-${week}`;
  await client.createAgent(passing);
  await client.ask(passing, "hello");
  await client.call("PUT", `/agents/${passing}/secrets/TOKEN`, { value: "hush", hosts: ["example.com"] });
  await client.call("DELETE", `/agents/${passing}`);
  const key = (await client.call("POST", "/keys", { name: passing })).body;
  await client.call("DELETE", `/keys/${key.id}`);
  await client.call("POST", "/agents", { name: "no such name, and no runtime" });
}

/** All that is stored becomes a week older. */
async function passWeek(database: Database): Promise<void> {
  const columns = await sql<{ table: string; column: string }>`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = 'public' and data_type like 'timestamp%'`.execute(database);
  await database.transaction().execute(async (transaction) => {
    // Without triggers: machine time is not what passes here.
    await sql`set local session_replication_role = replica`.execute(transaction);
    for (const { table, column } of columns.rows) {
      const [named, at] = [sql.id(table), sql.id(column)];
      await sql`update ${named} set ${at} = ${at} - interval '7 days'`.execute(transaction);
    }
    for (const table of ["rate_limits", "sign_in_attempts"]) {
      await sql`update ${sql.id(table)} set expire = expire - ${7 * 86_400_000}`.execute(transaction);
    }
  });
}

async function sizeOf({ config, server }: KillableService, database: Database): Promise<Size> {
  const tables = await sql<{ name: string }>`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_schema in ('public', 'timers') and table_type = 'BASE TABLE'`.execute(database);
  const rows: Record<string, number> = {};
  for (const { name } of tables.rows) {
    const counted = await sql<{ count: string }>`select count(*) from ${sql.table(name)}`.execute(database);
    rows[name.replace("public.", "")] = Number(counted.rows[0]!.count);
  }
  const files = (await readdir(join(config.dataFolder, "machines"), { recursive: true })).length;
  const status = await readFile(`/proc/${server.child.pid}/status`, "utf8");
  return { rows, files, serverMiB: Number(/^VmRSS:\s*(\d+)/m.exec(status)![1]) / 1024 };
}
