import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/core/database/database.ts";
import { startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { databaseOf } from "../support/accounts.ts";
import { type Answer, eventsOf, TestClient } from "../support/client.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { KillableService } from "../support/killable-service.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let client: TestClient;
let database: Database;

beforeAll(async () => {
  service = await ScriptedService.start();
  client = service.client;
  database = await databaseOf(service);
  for (const name of ["ada", "bea"]) await client.createAgent(name);
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

let used = 0;
const newIdempotencyKey = () => `key ${++used}`;

const post = (by: TestClient, key: string, path: string, body?: unknown): Promise<Answer> =>
  by.call("POST", path, body, { "idempotency-key": key });
const isReplayed = ({ headers }: { headers: Headers }) => headers.get("idempotent-replayed") === "true";

async function namesOf(by: TestClient, path: string): Promise<string[]> {
  return (await by.call("GET", `${path}?limit=100`)).body.data.map(({ name }: { name: string }) => name);
}

/** As a server leaves it that dies between the work and its answer. */
async function loseAnswer(key: string, leasedUntil = sql<Date>`now() - interval '1 second'`): Promise<void> {
  const { numUpdatedRows } = await database
    .updateTable("idempotency_keys")
    .set({ status: null, headers: null, body: null, leased_until: leasedUntil })
    .where("key", "=", key)
    .executeTakeFirst();
  expect(numUpdatedRows).toBe(1n);
}

test.each([
  ["is answered at once where its owner has let go", sql<Date>`now() - interval '1 second'`],
  ["waits while its owner may still be at work", sql<Date>`now() + interval '2 seconds'`],
])("work whose answer was lost is not done twice, and %s", async (_case, leasedUntil) => {
  const name = `lost${++used}`;
  const [agentKey, keyKey, chatKey] = [newIdempotencyKey(), newIdempotencyKey(), newIdempotencyKey()];
  const create = () => post(client, agentKey, "/agents?wait=ready", { name });
  const { body: agent } = await create();
  await loseAnswer(agentKey, leasedUntil);
  const recreated = await create();
  expect([recreated.status, isReplayed(recreated), recreated.body]).toEqual([201, false, agent]);
  expect(recreated.headers.get("location")).toBe(`/agents/${name}`);
  expect((await create()).body).toEqual(agent);

  const makeKey = () => post(client, keyKey, "/keys", { name });
  const { body: lost } = await makeKey();
  await loseAnswer(keyKey, leasedUntil);
  const remade = await makeKey();
  expect([remade.status, isReplayed(remade), remade.body.id]).toEqual([201, false, lost.id]);
  // Nobody was shown the old secret.
  expect((await new TestClient(client.url, lost.key).call("GET", "/agents")).status).toBe(401);
  expect((await new TestClient(client.url, remade.body.key).call("GET", "/agents")).status).toBe(200);
  expect((await makeKey()).body).toEqual(remade.body);
  expect((await namesOf(client, "/keys")).filter((each) => each === name)).toHaveLength(1);

  const chat = () => post(client, chatKey, `/agents/${name}/chat`, { message: "hello" });
  const begun = await chat();
  await loseAnswer(chatKey, leasedUntil);
  const resumed = await chat();
  expect(isReplayed(resumed)).toBe(false);
  expect([resumed.headers.get("x-turn-id"), resumed.body]).toEqual([begun.headers.get("x-turn-id"), begun.body]);
  expect((await client.call("GET", `/agents/${name}/turns`)).body.data).toHaveLength(1);
});

test.each([
  ["a conversation", "/conversation/reset"],
  ["a restart with a new machine", "/restart?machine=new&wait=ready"],
  ["a rollback", "/rollback?wait=ready"],
])("%s whose answer was lost is not begun again after what came then", async (_case, path) => {
  const name = `anew${++used}`;
  const key = newIdempotencyKey();
  await client.createAgent(name, { autoSnapshot: 0 });
  await client.ask(name, "before");
  const { id } = (await client.call("POST", `/agents/${name}/snapshots`, {})).body;
  const begin = () =>
    post(client, key, `/agents/${name}${path}`, path.startsWith("/rollback") ? { snapshot: id } : undefined);
  expect((await begin()).status).toBe(200);
  await loseAnswer(key);
  // Another request begins something, too.
  expect((await client.call("POST", `/agents/${name}/restart?wait=ready`)).status).toBe(200);
  await client.ask(name, "then");
  const snapshots = (await client.call("GET", `/agents/${name}/snapshots`)).body;
  const machines = await service.server.machines.list();
  // Work that has begun needs no credits to begin.
  await database.updateTable("accounts").set({ monthly_limit: "0" }).execute();
  expect((await begin()).status).toBe(200);
  await database.updateTable("accounts").set({ monthly_limit: null }).execute();
  expect(await client.ask(name, "recall")).toMatch(/then\nrecall\n$/);
  expect((await client.call("GET", `/agents/${name}/snapshots`)).body).toEqual(snapshots);
  expect(await service.server.machines.list()).toEqual(machines);
});

test("work that was claimed and never done is done by the next", async () => {
  for (const [path, body, status] of [
    ["/keys", { name: "later" }, 201],
    ["/agents", { name: "later" }, 201],
    ["/agents/ada/chat", { message: "later" }, 200],
    ["/agents/ada/conversation/reset", undefined, 200],
  ] as const) {
    const key = newIdempotencyKey();
    await post(client, key, path, body);
    await loseAnswer(key);
    // As if the owner had died before: there is nothing of that id.
    await database
      .updateTable("idempotency_keys")
      .set({ resource_id: sql<string>`gen_random_uuid()` })
      .where("key", "=", key)
      .execute();
    if (path === "/agents") await client.call("DELETE", "/agents/later");
    expect((await post(client, key, path, body)).status).toBe(status);
  }
});

test("one whose client went away is done, its claim kept meanwhile, and answered when it comes again", async () => {
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  const key = newIdempotencyKey();
  const gone = new AbortController();
  const request = fetch(`${client.url}/agents?wait=ready`, {
    method: "POST",
    headers: { authorization: `Bearer ${client.key}`, "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ name: "hugo" }),
    signal: gone.signal,
  });
  await expect.poll(() => namesOf(client, "/agents")).toContain("hugo");
  gone.abort();
  await expect(request).rejects.toThrow();
  const claim = database.updateTable("idempotency_keys").where("key", "=", key);
  await claim.set({ leased_until: sql<Date>`now() + interval '4 seconds'` }).execute();
  const leaseLeft = async () => {
    const { rows } = await sql<{ seconds: number }>`
      select extract(epoch from leased_until - now())::float as seconds from idempotency_keys where key = ${key}`.execute(
      database,
    );
    return rows[0]!.seconds;
  };
  await expect.poll(leaseLeft).toBeGreaterThan(4);
  gate.resolve();
  const again = await post(client, key, "/agents?wait=ready", { name: "hugo" });
  expect([again.status, isReplayed(again), again.body.status]).toEqual([201, true, "ready"]);
});

test("an answer that cannot be kept is not given, and the work is not done twice", async () => {
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  const [overtaken, unkept] = [newIdempotencyKey(), newIdempotencyKey()];
  const create = (key: string, name: string) => post(client, key, "/agents?wait=ready", { name });
  const first = create(overtaken, "ines");
  const second = create(unkept, "ivan");
  await expect.poll(() => namesOf(client, "/agents")).toEqual(expect.arrayContaining(["ines", "ivan"]));
  await database
    .updateTable("idempotency_keys")
    .set({ owner: sql<string>`gen_random_uuid()`, leased_until: sql<Date>`now()` })
    .where("key", "=", overtaken)
    .execute();
  const check = sql`alter table idempotency_keys add constraint nothing_kept check (key <> ${sql.lit(unkept)} or status is null)`;
  await check.execute(database);
  gate.resolve();
  expect(await first).toMatchObject({ status: 409, body: { code: "idempotency_key_in_use" } });
  expect(await second).toMatchObject({ status: 500, body: { code: "internal" } });
  await sql`alter table idempotency_keys drop constraint nothing_kept`.execute(database);
  for (const [key, name] of [
    [overtaken, "ines"],
    [unkept, "ivan"],
  ] as const) {
    expect(await create(key, name)).toMatchObject({ status: 201, body: { name, status: "ready" } });
  }
});

test("work whose commit the database did not answer is not done twice", async () => {
  const cluster = join(service.config.dataFolder, "postgres");
  await sql`create database cut`.execute(database);
  const { config } = await startEmbeddedPostgres(cluster);
  await using proxy = await CuttingProxy.start(join(cluster, ".s.PGSQL.5432"));
  const databaseUrl = `postgres://${config.user}:${config.password}@localhost/cut?host=${encodeURIComponent(proxy.folder)}`;
  await using behind = await ScriptedService.start({ databaseUrl });
  await using direct = new AsyncDisposableStack();
  const other = openDatabase({ ...config, database: "cut" }, () => {});
  direct.defer(() => other.destroy());
  await behind.client.createAgent("ada");

  const makeKey = () => post(behind.client, "key", "/keys", { name: "once" });
  proxy.cutNextCommit = true;
  expect((await makeKey()).body.code).toBe("database_unavailable");
  expect((await makeKey()).status).toBe(201);
  expect(await namesOf(behind.client, "/keys")).toEqual(["once", "operator"]);

  // The turn that was refused is there, and cannot be removed as long as this lock is held.
  await sql`
    create function wait_for_lock() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock(1); return old; end';
    create trigger slowly before delete on turns for each row execute function wait_for_lock()`.execute(other);
  const chat = () => post(behind.client, "chat", "/agents/ada/chat", { message: "hello" });
  await other.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(1)`.execute(connection);
    proxy.cutNextCommit = true;
    for (let n = 0; n < 3; n++) expect((await chat()).body.code).toBe("database_unavailable");
    await sql`select pg_advisory_unlock(1)`.execute(connection);
  });
  await expect.poll(async () => (await chat()).status).toBe(200);
  const { data } = (await behind.client.call("GET", "/agents/ada/turns")).body;
  expect(data.map(({ message, status }: { message: string; status: string }) => [message, status])).toEqual([
    ["hello", "completed"],
  ]);
});

test("two servers on one database do it once; one with another secret key says that it cannot read the answer", async () => {
  const folder = join(service.config.dataFolder, "postgres");
  const { user, password } = (await startEmbeddedPostgres(folder)).config;
  await sql`create database two`.execute(database);
  const databaseUrl = `postgres://${user}:${password}@localhost/two?host=${encodeURIComponent(folder)}`;
  const secretKey = randomBytes(32).toString("base64");
  await using first = await ScriptedService.start({ databaseUrl, secretKey });
  await using second = await ScriptedService.start({ databaseUrl, secretKey });
  await using stranger = await ScriptedService.start({ databaseUrl });
  const [one, two, three] = [first, second, stranger].map(({ server }) => new TestClient(server.url, first.client.key));
  const make = (by: TestClient) => post(by, "shared", "/keys", { name: "shared" });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => make(index % 2 ? one! : two!)));
  const made = answers.filter(({ status }) => status === 201);
  expect(made.filter((answer) => !isReplayed(answer))).toHaveLength(1);
  for (const { body } of made) expect(body).toEqual(made[0]!.body);
  // Two wait at each server.
  for (const { status, body } of answers) if (status !== 201) expect(body.code).toBe("idempotency_key_in_use");
  expect((await namesOf(one!, "/keys")).filter((name) => name === "shared")).toHaveLength(1);
  expect(await make(three!)).toMatchObject({ status: 409, body: { code: "idempotency_answer_unreadable" } });
});

test("a server that is killed while it makes an agent, or in mid-turn: the next one answers the same request with the same", async () => {
  await using killable = await KillableService.start();
  const create = () => post(killable.client, "over a death", "/agents?wait=ready", { name: "ada" });
  const lost = create().catch(() => null);
  await expect.poll(() => namesOf(killable.client, "/agents")).toContain("ada");
  await killable.killServer();
  expect(await lost).toBeNull();
  await killable.startServer();
  const [again, replayed] = await Promise.all([create(), create()]);
  for (const each of [again, replayed])
    expect(each).toMatchObject({ status: 201, body: { name: "ada", status: "ready" } });
  expect([again, replayed].filter(isReplayed)).toHaveLength(1);
  expect(await namesOf(killable.client, "/agents")).toEqual(["ada"]);

  const chat = () =>
    killable.client.fetch("POST", "/agents/ada/chat", { message: "count 100 20" }, { "idempotency-key": "chat" });
  const cut = await chat();
  const seen: unknown[] = [];
  const reading = (async () => {
    for await (const entry of eventsOf(cut)) if (seen.push(entry) === 10) await killable.killServer();
  })();
  await reading.catch(() => {});
  await killable.startServer();
  const replay = await chat();
  expect([isReplayed(replay), replay.headers.get("x-turn-id")]).toEqual([true, cut.headers.get("x-turn-id")]);
  const events = await Array.fromAsync(eventsOf(replay));
  expect(events.slice(0, seen.length)).toEqual(seen);
  expect([events.length, events.at(-1)!.event.type]).toEqual([101, "response.completed"]);
  expect((await killable.client.call("GET", "/agents/ada/turns")).body.data).toHaveLength(1);
});
