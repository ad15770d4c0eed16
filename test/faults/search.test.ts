import { sql } from "kysely";
import { expect, test } from "vitest";
import { databaseOf } from "../support/accounts.ts";
import { KillableService } from "../support/killable-service.ts";

test("a turn whose server is killed while it stores it is found after a restart", async () => {
  await using service = await KillableService.start();
  const { client } = service;
  const database = await databaseOf(service);
  await client.createAgent("ada");
  const found = async () => (await client.call("GET", "/search?q=needle")).body.data;
  await database.transaction().execute(async (transaction) => {
    await sql`lock table search_texts in access exclusive mode`.execute(transaction);
    await client.chat("ada", "needle");
    const blocked = async () => {
      const { rows } = await sql<{ query: string }>`
        select query from pg_stat_activity where wait_event_type = 'Lock'`.execute(database);
      return rows.map(({ query }) => query.trim().split(/\s+/).join(" "));
    };
    await expect.poll(blocked, { timeout: 10_000 }).toEqual([expect.stringMatching(/search_texts/)]);
    await service.killServer();
  });
  await database.destroy();
  await service.startServer();
  await expect.poll(found, { timeout: 30_000 }).toMatchObject([{ kind: "reply" }, { kind: "message" }]);
});
