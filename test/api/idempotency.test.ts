import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/store/database.ts";
import { startEmbeddedPostgres } from "../../src/store/embedded.ts";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
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

test("the same request again is given the first answer, and is done once", async () => {
  const key = newIdempotencyKey();
  const first = await post(client, key, "/agents", { name: "cleo", instructions: "Be kind." });
  expect([first.status, isReplayed(first)]).toEqual([201, false]);
  // The order of a body's fields says nothing.
  const second = await post(client, key, "/agents", { instructions: "Be kind.", name: "cleo" });
  expect([second.status, isReplayed(second)]).toEqual([201, true]);
  expect(second.body).toEqual(first.body);
  for (const name of ["location", "content-type"]) expect(second.headers.get(name)).toBe(first.headers.get(name));
  expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
  // Without a key, and with another, it is another request.
  expect((await client.call("POST", "/agents", { name: "cleo", instructions: "Be kind." })).status).toBe(409);
  expect((await post(client, newIdempotencyKey(), "/agents", { name: "cleo" })).body.code).toBe("agent_exists");
});

test("of twenty at once one is done, and all are given its answer", async () => {
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  const key = newIdempotencyKey();
  const all = Array.from({ length: 20 }, () => post(client, key, "/agents?wait=ready", { name: "dora" }));
  await expect.poll(() => namesOf(client, "/agents")).toContain("dora");
  gate.resolve();
  const answers = await Promise.all(all);
  expect(answers.filter(isReplayed)).toHaveLength(19);
  for (const { status, body } of answers) {
    expect(status).toBe(201);
    expect(body).toEqual(answers[0]!.body);
    expect(body.status).toBe("ready");
  }
});

test("a key that was used for another body, query or path is refused", async () => {
  const key = newIdempotencyKey();
  expect((await post(client, key, "/keys", { name: "one" })).status).toBe(201);
  for (const [path, body] of [
    ["/keys", { name: "two" }],
    ["/keys", {}],
    ["/agents", { name: "never-made" }],
    ["/agents/ada/restart", undefined],
  ] as const) {
    const refused = await post(client, key, path, body);
    expect(refused).toMatchObject({ status: 409, body: { code: "idempotency_key_reused" } });
    expect(isReplayed(refused)).toBe(false);
  }
  const other = newIdempotencyKey();
  await post(client, other, "/agents/ada/restart?wait=ready");
  expect((await post(client, other, "/agents/ada/restart")).body.code).toBe("idempotency_key_reused");
  expect(await namesOf(client, "/agents")).not.toContain("never-made");
});

test("a key is its credential's: another key, and another account, have their own", async () => {
  const key = newIdempotencyKey();
  const others = [client, await newKey(client, { name: "second" }), await newAccount(service)];
  const secrets = new Set<string>();
  for (const other of others) {
    const { status, body, headers } = await post(other, key, "/keys", { name: "mine" });
    expect([status, isReplayed({ headers })]).toEqual([201, false]);
    secrets.add(body.key);
  }
  expect(secrets.size).toBe(3);
  for (const other of others) expect(secrets).toContain((await post(other, key, "/keys", { name: "mine" })).body.key);
});

test("a new key's secret is answered again, and nothing of it can be read in the database", async () => {
  const key = newIdempotencyKey();
  const { body } = await post(client, key, "/keys", { name: "told twice" });
  const again = await post(client, key, "/keys", { name: "told twice" });
  expect(isReplayed(again)).toBe(true);
  expect(again.body).toEqual(body);
  expect(again.headers.get("cache-control")).toBe("no-store");
  expect((await namesOf(client, "/keys")).filter((name) => name === "told twice")).toHaveLength(1);
  const rows = await database.selectFrom("idempotency_keys").selectAll().execute();
  for (const row of rows) {
    const readable = `${JSON.stringify(row)} ${row.body?.toString("latin1")} ${row.body?.toString("utf16le")}`;
    expect(readable).not.toContain(body.key.slice(12));
    expect(readable).not.toContain("told twice");
  }
  expect(rows.some(({ key: each }) => each === key)).toBe(true);
});

test("a chat is replayed from its first event: while it goes on, when it has ended, and after a restart", async () => {
  const key = newIdempotencyKey();
  const body = { message: "count 60 20", include: ["status", "usage"] };
  const chat = () => client.fetch("POST", "/agents/ada/chat", body, { "idempotency-key": key });
  const [first, live] = await Promise.all([chat(), chat()]);
  expect([first, live].filter(isReplayed)).toHaveLength(1);
  const turnId = first.headers.get("x-turn-id");
  const [events, liveEvents] = await Promise.all([first, live].map((one) => Array.fromAsync(eventsOf(one))));
  expect(events!.at(-1)!.event.type).toBe("response.completed");
  expect(liveEvents).toEqual(events);
  const later = async () => {
    const replay = await client.fetch("POST", "/agents/ada/chat", body, { "idempotency-key": key });
    expect([replay.status, isReplayed(replay), replay.headers.get("x-turn-id")]).toEqual([200, true, turnId]);
    expect(await Array.fromAsync(eventsOf(replay))).toEqual(events);
  };
  await later();
  await service.restart();
  client = service.client;
  await later();
  const { data } = (await client.call("GET", "/agents/ada/turns")).body;
  expect(data.filter(({ message }: { message: string }) => message === body.message)).toHaveLength(1);
});

test("a chat whose turn went with its agent is not begun again with a new agent of that name", async () => {
  const key = newIdempotencyKey();
  await client.createAgent("elsa");
  const chat = () => post(client, key, "/agents/elsa/chat", { message: "hello" });
  expect((await chat()).status).toBe(200);
  await client.call("DELETE", "/agents/elsa");
  expect(await chat()).toMatchObject({ status: 404, body: { code: "agent_not_found" } });
  await client.createAgent("elsa");
  expect(await chat()).toMatchObject({ status: 404, body: { code: "turn_not_found" } });
  expect((await client.call("GET", "/agents/elsa/turns")).body.data).toEqual([]);
});

test("a refusal by the handler is answered again, one before it and a forbidden one are not", async () => {
  const key = newIdempotencyKey();
  await client.createAgent("fred");
  const create = () => post(client, key, "/agents", { name: "fred" });
  const refused = await create();
  expect(refused).toMatchObject({ status: 409, body: { code: "agent_exists" } });
  await client.call("DELETE", "/agents/fred");
  const again = await create();
  expect([isReplayed(again), again.body]).toEqual([true, refused.body]);

  const invalid = newIdempotencyKey();
  expect((await post(client, invalid, "/agents", { name: "X" })).body.code).toBe("agent_name_invalid");
  expect((await post(client, invalid, "/agents", { name: "fred" })).status).toBe(201);

  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const ending = await newKey(client, { expiresAt });
  const forbidden = newIdempotencyKey();
  for (let n = 0; n < 2; n++) {
    const answer = await post(ending, forbidden, "/keys", { name: "for ever" });
    expect([answer.status, isReplayed(answer)]).toEqual([403, false]);
  }
});

test("a failure of the service is not kept: the same request is done once the service can", async () => {
  const breaks = () => {
    throw new Error("no image");
  };
  await using broken = await ScriptedService.start({}, { breaks });
  const create = () => post(broken.client, "once", "/agents", { name: "gina" });
  for (let n = 0; n < 2; n++) {
    const failed = await create();
    expect([failed.status >= 500, isReplayed(failed)]).toEqual([true, false]);
  }
  broken.repair();
  await expect.poll(async () => (await create()).status, { timeout: 20_000 }).toBe(201);
  expect(isReplayed(await create())).toBe(true);
});

test("a chat that found no place is begun when it is sent again", async () => {
  await using small = await ScriptedService.start({ maximumAwake: 1, maximumWaiting: 1 });
  await small.client.createAgent("ada");
  for (const name of ["bea", "cleo"]) {
    await small.client.createAgent(name);
    await small.client.call("POST", `/agents/${name}/suspend`);
  }
  const long = await small.client.fetch("POST", "/agents/ada/chat", { message: "count 100 20" });
  const waiting = await small.client.fetch("POST", "/agents/bea/chat", { message: "me next" });
  await expect.poll(async () => (await small.client.call("GET", "/metrics")).body).toContain("berth_agents_waiting 1");
  const chat = () => post(small.client, "the same", "/agents/cleo/chat", { message: "me too" });
  const failed = await chat();
  expect([failed.body.code, isReplayed(failed)]).toEqual(["no_capacity", false]);
  for (const [name, reply] of [
    ["ada", long],
    ["bea", waiting],
  ] as const) {
    await Array.fromAsync(eventsOf(reply));
    await small.client.call("POST", `/agents/${name}/suspend`);
  }
  const done = await chat();
  expect([done.status, isReplayed(done)]).toEqual([200, false]);
  const again = await chat();
  expect([again.body, isReplayed(again)]).toEqual([done.body, true]);
});

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
  await expect.poll(leaseLeft, { timeout: 10_000 }).toBeGreaterThan(4);
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

test("a day later the key is free", async () => {
  const key = newIdempotencyKey();
  const { body } = await post(client, key, "/keys", {});
  await database
    .updateTable("idempotency_keys")
    .set({ created_at: sql<Date>`now() - interval '24 hours 1 minute'` })
    .where("key", "=", key)
    .execute();
  const later = await post(client, key, "/keys", { name: "another body" });
  expect([later.status, isReplayed(later)]).toEqual([201, false]);
  expect(later.body.id).not.toBe(body.id);
});

test.each([
  ["longer than 255 characters", "x".repeat(256)],
  ["empty", ""],
  ["not ASCII", "clé"],
  ["not printable", "a\tb"],
])("a key that is %s is refused", async (_case, key) => {
  const refused = await post(client, key, "/agents/ada/restart");
  expect(refused).toMatchObject({ status: 400, body: { code: "request_invalid" } });
  expect(refused.body.message).toMatch(/^idempotency-key: 1 to 255 printable ASCII/);
});

test("a key of 255 characters is taken; with another method than POST it means nothing", async () => {
  const key = "~".repeat(255);
  expect((await post(client, key, "/keys", {})).status).toBe(201);
  expect(isReplayed(await post(client, key, "/keys", {}))).toBe(true);
  for (const instructions of ["one", "two"]) {
    const { status, body } = await client.call("PATCH", "/agents/ada", { instructions }, { "idempotency-key": key });
    expect([status, body.instructions]).toEqual([200, instructions]);
  }
  expect((await client.call("GET", "/agents", undefined, { "idempotency-key": "clé" })).status).toBe(200);
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
  expect(answers.filter(isReplayed)).toHaveLength(19);
  for (const { status, body } of answers) expect([status, body]).toEqual([201, answers[0]!.body]);
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

test("the interface's document names the header of each POST", async () => {
  const { paths } = (await client.call("GET", "/openapi.json")).body;
  const posts = Object.values<Record<string, { parameters?: { name: string; in: string; required: boolean }[] }>>(paths)
    .map(({ post: operation }) => operation)
    .filter((operation) => operation !== undefined);
  expect(posts.length).toBeGreaterThan(5);
  for (const { parameters } of posts) {
    const header = parameters?.find(({ name }) => name === "idempotency-key");
    expect(header).toMatchObject({ in: "header", required: false });
  }
});
