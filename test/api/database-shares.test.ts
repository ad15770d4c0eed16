import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { databaseOf, newAccount } from "../support/accounts.ts";
import { archiveWith, importArchive, line } from "../support/archives.ts";
import { ScriptedService } from "../support/scripted-service.ts";

test("slow reads of one account leave connections to others", async () => {
  await using service = await ScriptedService.start();
  const other = await newAccount(service);
  const database = await databaseOf(service);
  await using _ = { [Symbol.asyncDispose]: () => database.destroy() };
  const locked = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const lock = database.transaction().execute(async (transaction) => {
    await sql`lock table audit_entries in access exclusive mode`.execute(transaction);
    locked.resolve();
    await over.promise;
  });
  await locked.promise;
  const slow = Array.from({ length: 40 }, () => service.client.call("GET", "/audit?limit=1"));
  // All that get a connection have it before anything else is asked.
  await expect
    .poll(async () => {
      const { rows } = await sql<{ count: number }>`
        select count(*)::integer as count from pg_stat_activity
        where wait_event_type = 'Lock' and query like '%audit_entries%'`.execute(database);
      return rows[0]!.count;
    })
    .toBe(4);
  expect((await other.call("GET", "/keys")).status).toBe(200);
  over.resolve();
  await lock;
  for (const { status } of await Promise.all(slow)) expect(status).toBe(200);
});

test("imports of one account are stored one after the other", async () => {
  await using service = await ScriptedService.start();
  const database = await databaseOf(service);
  await using _ = { [Symbol.asyncDispose]: () => database.destroy() };
  const locked = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const lock = database.transaction().execute(async (transaction) => {
    await sql`lock table turns in share mode`.execute(transaction);
    locked.resolve();
    await over.promise;
  });
  await locked.promise;
  const archive = await archiveWith({ transcript: [line] });
  const imports = ["eve", "fay", "gil"].map((name) =>
    importArchive(service.client, archive, { query: `?name=${name}` }),
  );
  const storing = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from pg_stat_activity
      where wait_event_type = 'Lock' and query like 'insert into "turns"%'`.execute(database);
    return rows[0]!.count;
  };
  await expect.poll(storing).toBe(1);
  // All have been received by then.
  await expect.poll(() => readdir(join(service.config.dataFolder, "imports"))).toHaveLength(3);
  expect(await storing()).toBe(1);
  over.resolve();
  await lock;
  for (const { status } of await Promise.all(imports)) expect(status).toBe(201);
});
