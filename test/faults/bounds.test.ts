import { appendFile, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf, newAccount } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { ring, timeOf } from "../support/timers.ts";

// Stored data has limits. Elapsed time is simulated by setting rows back.

const mebibyte = 1024 ** 2;
let service: ScriptedService;
let database: Database;
let client: TestClient;
let host: string;

beforeAll(async () => {
  service = await ScriptedService.start({ turnDays: 30, maximumStoredBytes: mebibyte });
  database = await databaseOf(service);
  client = service.client;
  host = (await readFile(join(service.config.dataFolder, "host.id"), "utf8")).trim();
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

async function turnsOf(name: string, who = client): Promise<{ id: string; message: string }[]> {
  return (await who.call("GET", `/agents/${name}/turns?limit=100`)).body.data;
}

const measured = () => database.selectFrom("turns").select("id").where("bytes", "is not", null).execute();

test("finished turns go with their events when they are old, and what they cost stays", async () => {
  await client.createAgent("ada");
  for (const message of ["first", "second"]) await client.chat("ada", message);
  const [second, first] = await turnsOf("ada");
  await sql`update turns set finished_at = now() - interval '31 days' where id = ${first!.id}`.execute(database);
  await ring(database, "clean-up");
  await expect.poll(() => turnsOf("ada").then((turns) => turns.map(({ message }) => message))).toEqual(["second"]);
  expect((await client.call("GET", `/agents/ada/turns/${first!.id}/events`)).status).toBe(404);
  const events = await database.selectFrom("turn_events").select("seq").where("turn_id", "=", first!.id).execute();
  expect(events).toEqual([]);
  expect((await measured()).map(({ id }) => id)).toEqual([second!.id]);
});

test("an account's oldest turns go once all together take too much; those of others stay, and so does a running one", async () => {
  const rich = await newAccount(service);
  await rich.createAgent("eve");
  await rich.createAgent("fay");
  await rich.createAgent("gil");
  const running = await rich.fetch("POST", "/agents/gil/chat", { message: "count 100000 20" });
  // Of 400 KiB each, which do not compress to less.
  for (const agent of ["eve", "eve", "fay", "eve"]) await rich.chat(agent, "bulk 400 1024");
  const sizes = (names: string[]) => Promise.all(names.map(async (name) => (await turnsOf(name, rich)).length));
  expect(await sizes(["eve", "fay", "gil"])).toEqual([3, 1, 1]);
  await ring(database, "clean-up");
  await expect.poll(() => sizes(["eve", "fay", "gil"])).toEqual([1, 1, 1]);
  expect(await turnsOf("ada")).toHaveLength(1);
  await rich.call("POST", `/agents/gil/turns/${running.headers.get("x-turn-id")}/cancel`);
  await running.text();
});

test("PostgreSQL's log is cut when it is large, and statements are not in it", async () => {
  const log = join(service.config.dataFolder, "postgres/postgres.log");
  await sql`select 'a tenant''s words' / 0`.execute(database).catch(() => {});
  expect(await readFile(log, "utf8")).toContain("ERROR");
  expect(await readFile(log, "utf8")).not.toContain("words' /");
  await appendFile(log, "x".repeat(9 * mebibyte));
  await expect.poll(async () => (await stat(log)).size).toBeLessThan(mebibyte);
  expect((await stat(`${log}.old`)).size).toBe(mebibyte);
  await sql`select 1 / 0`.execute(database).catch(() => {});
  await expect.poll(() => readFile(log, "utf8")).toMatch(/^[^\0]*division by zero/);
});

test("a host whose disk is nearly full begins nothing new, puts machines to sleep, and still answers and deletes", async () => {
  expect(await timeOf(database, `host-tidy-${host}`)).toBe("17 3 * * *");
  await client.createAgent("kim");
  service.config.diskReserveBytes = 2 ** 60;
  await service.restart();
  client = service.client;
  const create = await client.call("POST", "/agents", { name: "leo", runtime: "claude-code" });
  expect(create).toMatchObject({ status: 503, body: { code: "disk_full" } });
  expect(create.body.message).toMatch(/nearly full: \d+ MiB are free/);
  const chat = await client.call("POST", "/agents/kim/chat", { message: "hello" });
  expect(chat).toMatchObject({ status: 503, body: { code: "disk_full" } });
  await ring(database, `agent-sweep-${host}`);
  await expect.poll(async () => (await client.call("GET", "/agents/kim")).body.status).toBe("suspended");
  expect(await turnsOf("ada")).toHaveLength(1);
  expect((await client.call("DELETE", "/agents/kim")).status).toBe(204);
  service.config.diskReserveBytes = 0;
  await service.restart();
  client = service.client;
  expect(await client.ask("ada", "and now?")).toBe("and now?");
});
