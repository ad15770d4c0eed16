import { spawn } from "node:child_process";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BerthError } from "../../src/contract/errors.ts";
import { openDatabase, ping } from "../../src/core/database/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { supervise } from "../../src/core/database/supervise.ts";
import { eventsOf } from "../support/client.ts";
import { newFolder } from "../support/config.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { newDatabase } from "../support/new-database.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// PostgreSQL fails in all the ways that it can. The operator's own (`databaseUrl`) is stopped and started by the test; that
// of the service is restarted by the service.

const include = ["status", "usage"];
let folder: string;
let postgres: EmbeddedPostgres;

beforeAll(async () => {
  folder = await newFolder();
  postgres = await startEmbeddedPostgres(folder);
});
afterAll(async () => {
  await postgres.stop();
  await rm(folder, { recursive: true });
});

async function pidIn(cluster: string): Promise<number> {
  return Number((await readFile(join(cluster, "postmaster.pid"), "utf8")).split("\n")[0]);
}

test("without a database: 503 with retry-after, and turns continue", async () => {
  const { databaseUrl } = await newDatabase(postgres, folder, "away");
  await using service = await ScriptedService.start({ databaseUrl });
  const { client } = service;
  await client.createAgent("ada");
  const response = await client.fetch("POST", "/agents/ada/chat", { message: "count 300 20", include });
  const events = eventsOf(response);
  const seen: { id: number }[] = [];
  // The machine's reports wait for the server's earlier announcements, which wait for the database.
  while (seen.length < 3) seen.push((await events.next()).value!);
  await postgres.stop();
  const refused = await client.call("GET", "/agents/ada");
  expect(refused).toMatchObject({ status: 503, body: { code: "database_unavailable" } });
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await client.call("POST", "/agents/ada/chat", { message: "hello" })).status).toBe(503);
  expect(await client.call("GET", "/readyz")).toMatchObject({
    status: 503,
    body: { ready: false, checks: { database: { ok: false } } },
  });
  expect((await client.call("GET", "/healthz")).status).toBe(200);
  // Its reader is sent what comes meanwhile.
  for (let more = 0; more < 100; more++) seen.push((await events.next()).value!);
  await postgres.ensure();
  for await (const event of events) seen.push(event);
  expect(seen.map(({ id }) => id)).toEqual(Array.from({ length: 303 }, (_, index) => index + 1));
  const stored = await client.events("ada", response.headers.get("x-turn-id")!);
  expect(stored.events).toEqual(seen);
  expect(await client.ask("ada", "still there?")).toBe("still there?");
  await expect.poll(async () => (await client.call("GET", "/readyz")).status).toBe(200);
});

test("a turn that is longer than what the server holds for an absent database waits in its machine", async () => {
  const { databaseUrl } = await newDatabase(postgres, folder, "bulk");
  await using service = await ScriptedService.start({ databaseUrl, stallMs: 2_000 });
  const { client } = service;
  await client.createAgent("bulk");
  const response = await client.fetch("POST", "/agents/bulk/chat", { message: "bulk 200 100000 20", include });
  const events = eventsOf(response);
  const seen = [(await events.next()).value!];
  await postgres.stop();
  const reading = (async () => {
    for await (const event of events) seen.push(event);
  })();
  // It stands still, for longer than a turn may in which nothing happens.
  for (let before = 0; before < seen.length; await sleep(3_000)) before = seen.length;
  expect(seen.length).toBeLessThan(100);
  await postgres.ensure();
  await reading;
  expect(seen.map(({ id }) => id)).toEqual(Array.from({ length: 203 }, (_, index) => index + 1));
  expect(seen.at(-1)!.event.type).toBe("response.completed");
  const stored = await client.events("bulk", response.headers.get("x-turn-id")!);
  // One by one: 20 MB at once show no difference.
  for (const [index, event] of stored.events.entries()) expect(event).toEqual(seen[index]);
  expect(stored.events).toHaveLength(seen.length);
});

test("a message whose acceptance the database could not confirm does not block the agent", async () => {
  const { databaseUrl } = await newDatabase(postgres, folder, "unsure");
  await using proxy = await CuttingProxy.start(join(folder, ".s.PGSQL.5432"));
  await using service = await ScriptedService.start({
    databaseUrl: databaseUrl.replace(/host=.*/, `host=${proxy.folder}`),
  });
  const { client } = service;
  await client.createAgent("eve");
  proxy.cutNextCommit = true;
  expect((await client.call("POST", "/agents/eve/chat", { message: "hello" })).status).toBe(503);
  expect(proxy.cutNextCommit).toBe(false);
  await expect.poll(async () => (await client.call("POST", "/agents/eve/chat", { message: "again" })).status).toBe(200);
  const { data } = (await client.call("GET", "/agents/eve/turns")).body as { data: { message: string }[] };
  expect(data.map(({ message }) => message)).toEqual(["again"]);
});

test("a connection that is cut between two queries of a transaction is a fault of that request only", async () => {
  const lost: Error[] = [];
  const database = openDatabase({ ...postgres.config, max: 1 }, (error) => lost.push(error));
  await using _ = { [Symbol.asyncDispose]: () => database.destroy() };
  const broken = database.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(transaction);
    process.kill(rows[0]!.pid, "SIGTERM");
    await sleep(500);
    await sql`select 1`.execute(transaction);
  });
  await expect(broken).rejects.toMatchObject({ code: "database_unavailable" });
  await ping(database, 10_000);
  // And one that is idle.
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database);
  process.kill(rows[0]!.pid, "SIGTERM");
  await expect.poll(() => lost.length).toBe(1);
  await ping(database, 10_000);
});

test("a full disk is said as that", async () => {
  const database = openDatabase(postgres.config, () => {});
  await using _ = { [Symbol.asyncDispose]: () => database.destroy() };
  const full = sql`do $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`;
  const error: unknown = await full.execute(database).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(BerthError);
  expect(error).toMatchObject({ code: "disk_full", status: 503 });
});

test("the embedded PostgreSQL is restarted each time it is killed", async () => {
  await using service = await ScriptedService.start();
  const { client, config } = service;
  await client.createAgent("ada");
  const response = await client.fetch("POST", "/agents/ada/chat", { message: "count 400 10", include });
  const reading = Array.fromAsync(eventsOf(response));
  for (let times = 0; times < 2; times++) {
    const pid = await pidIn(join(config.dataFolder, "postgres/data"));
    process.kill(pid, "SIGKILL");
    await expect.poll(() => pidIn(join(config.dataFolder, "postgres/data")).catch(() => pid)).not.toBe(pid);
    await expect.poll(async () => (await client.call("GET", "/agents/ada")).status, { timeout: 60_000 }).toBe(200);
  }
  const events = await reading;
  expect(events.map(({ id }) => id)).toEqual(Array.from({ length: 403 }, (_, index) => index + 1));
  expect((await client.events("ada", response.headers.get("x-turn-id")!)).events).toEqual(events);
}, 300_000);

test("a pid file that names another program's process by now does not keep PostgreSQL from starting", async () => {
  await using stack = new AsyncDisposableStack();
  const own = await newFolder();
  stack.defer(() => rm(own, { recursive: true }));
  const first = await startEmbeddedPostgres(own);
  const lines = (await readFile(join(own, "data/postmaster.pid"), "utf8")).split("\n");
  await first.stop();
  const owner = await stat(own);
  const other = spawn("sleep", ["1000"], { uid: owner.uid, gid: owner.gid });
  stack.defer(() => void other.kill("SIGKILL"));
  // As after a reboot, which assigns the ids again.
  await writeFile(join(own, "data/postmaster.pid"), [other.pid, ...lines.slice(1)].join("\n"));
  expect(await first.running()).toBeNull();
  const logged: string[] = [];
  const supervised = supervise(first, (message) => logged.push(message));
  await expect.poll(async () => (await first.running())?.ready, { timeout: 60_000 }).toBe(true);
  await supervised[Symbol.asyncDispose]();
  expect(await first.running()).toBeNull();
  expect(logged).toContain("PostgreSQL runs again");
});

test("a server that stops while PostgreSQL is being started again leaves none behind", async () => {
  const own = await newFolder();
  const cluster = await startEmbeddedPostgres(own);
  const supervised = supervise(cluster, () => {});
  process.kill((await cluster.running())!.pid, "SIGKILL");
  await expect.poll(() => cluster.running()).toBeNull();
  await expect.poll(() => cluster.running(), { interval: 10, timeout: 60_000 }).not.toBeNull();
  await supervised[Symbol.asyncDispose]();
  expect(await cluster.running()).toBeNull();
  await rm(own, { recursive: true });
});

test("a database that is partitioned off: 503 within the queries' time, metrics without it, and an end of the server", async () => {
  const { databaseUrl } = await newDatabase(postgres, folder, "partitioned");
  await using proxy = await CuttingProxy.start(join(folder, ".s.PGSQL.5432"));
  const through = databaseUrl.replace(/host=.*/, `host=${proxy.folder}`);
  await using service = await ScriptedService.start({ databaseUrl: through });
  const { client } = service;
  await client.createAgent("ada");
  proxy.isPartitioned = true;
  const answers = await Promise.all([1, 2, 3].map(() => client.call("GET", "/agents/ada")));
  for (const answer of answers) expect(answer).toMatchObject({ status: 503, body: { code: "database_unavailable" } });
  const metrics = await client.call("GET", "/metrics");
  expect(metrics.status).toBe(200);
  expect(metrics.body).toMatch(/^berth_turns_running\{server="test"\} 0$/m);
  expect(metrics.body).not.toMatch(/^berth_agents\{/m);
  proxy.isPartitioned = false;
  await expect.poll(async () => (await client.call("GET", "/agents/ada")).status).toBe(200);
  // The server ends although nothing answers.
  proxy.isPartitioned = true;
});
