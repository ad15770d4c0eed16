import { rm } from "node:fs/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/core/database/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { freePort } from "../../src/core/ports.ts";
import { InboxStore } from "../../src/inbox/store.ts";
import { newFolder } from "../support/config.ts";
import { newDatabase } from "../support/new-database.ts";
import { addNotifiedPeople } from "../support/notified-people.ts";
import { NtfyServer } from "../support/ntfy-server.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Two servers that lead a host each, on one database: both notify people.

const secretKey = Buffer.alloc(32, 1).toString("base64");

let ntfy: NtfyServer;
let databaseFolder: string;
let postgres: EmbeddedPostgres;
let databaseUrl: string;
let database: Database;
let one: ScriptedService;
let accountId: string;

beforeAll(async () => {
  ntfy = await NtfyServer.start();
  databaseFolder = await newFolder();
  postgres = await startEmbeddedPostgres(databaseFolder);
  ({ databaseUrl } = await newDatabase(postgres, databaseFolder, "notifications"));
  database = openDatabase({ connectionString: databaseUrl, max: 4 }, () => {});
  one = await start();
  accountId = (await one.client.call("GET", "/account")).body.id;
});
afterAll(async () => {
  await one?.[Symbol.asyncDispose]();
  await database?.destroy();
  await postgres?.stop();
  await rm(databaseFolder, { recursive: true });
  ntfy?.[Symbol.dispose]();
});

async function start(): Promise<ScriptedService> {
  const port = await freePort();
  const internalUrl = `http://127.0.0.1:${port}`;
  return ScriptedService.start({ databaseUrl, secretKey, port, internalUrl, webhooksInside: [ntfy.authorityText] });
}

/** An event of all people. */
async function happen(): Promise<void> {
  const event = JSON.stringify({ type: "credits.low", balance: "1" });
  await sql`select add_account_event(${accountId}::uuid, ${event}::jsonb)`.execute(database);
  await new InboxStore(database).collect();
  await sql`update notifications set due_at = now()`.execute(database);
}

const isSettled = async () => {
  const { rows } = await sql`select from notifications union all select from notification_sends`.execute(database);
  return rows.length === 0;
};

test("each person is notified once", async () => {
  await using _ = await start();
  const people = await addNotifiedPeople(database, accountId, { count: 60, ntfyUrl: ntfy.url("") });
  await happen();
  await expect.poll(isSettled, { timeout: 40_000 }).toBe(true);
  expect(people.map(({ topic }) => ntfy.of(topic).length)).toEqual(Array(60).fill(1));
  const items = await sql<{ count: string }>`select count from inbox_items`.execute(database);
  expect(items.rows).toEqual(Array(60).fill({ count: "1" }));
  await sql`delete from people where issuer = 'test'`.execute(database);
});

test("a server that stops leaves its notifications to the other", async () => {
  const other = await start();
  const people = await addNotifiedPeople(database, accountId, { count: 12, ntfyUrl: ntfy.url("") });
  const asked = ntfy.asked;
  const held = ntfy.hold();
  await happen();
  await expect.poll(() => ntfy.asked - asked, { timeout: 20_000 }).toBe(12);
  await other[Symbol.asyncDispose]();
  held.release();
  await expect.poll(isSettled, { timeout: 40_000 }).toBe(true);
  for (const { topic } of people) expect(ntfy.of(topic).length).toBeGreaterThan(0);
});
