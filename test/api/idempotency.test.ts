import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import { type Answer, eventsOf, type TestClient } from "../support/client.ts";
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

test("of twenty at once one is done, two wait for its answer, and the others are refused", async () => {
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  const key = newIdempotencyKey();
  const all = Array.from({ length: 20 }, () => post(client, key, "/agents?wait=ready", { name: "dora" }));
  await expect.poll(() => namesOf(client, "/agents")).toContain("dora");
  let refused = 0;
  for (const one of all) void one.then(({ status }) => (refused += status === 409 ? 1 : 0));
  await expect.poll(() => refused).toBe(17);
  gate.resolve();
  const answers = await Promise.all(all);
  for (const { status, body } of answers) {
    if (status === 409) expect(body.code).toBe("idempotency_key_in_use");
    else expect([status, body.status, body.name]).toEqual([201, "ready", "dora"]);
  }
  expect(answers.filter(isReplayed)).toHaveLength(2);
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

test("a chat is replayed from its first event: while it runs, when it has ended, and after a restart", async () => {
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
  await expect.poll(async () => (await create()).status).toBe(201);
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
  await expect
    .poll(async () => (await small.client.call("GET", "/metrics")).body)
    .toContain('berth_agents_waiting{server="test"} 1');
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

test("only requests that can be retried leave a row of what they have begun", async () => {
  const begun = () => database.selectFrom("begun_requests").select("id").execute();
  const before = await begun();
  const paths = ["/agents/bea/conversation/reset", "/agents/bea/restart?wait=ready"];
  for (const path of paths) expect((await client.call("POST", path)).status).toBe(200);
  expect(await begun()).toEqual(before);
  for (const path of paths) expect((await post(client, newIdempotencyKey(), path)).status).toBe(200);
  expect(await begun()).toHaveLength(before.length + paths.length);
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

test("the interface's document names the header of each POST", async () => {
  const { paths } = (await client.call("GET", "/openapi.json")).body;
  // Other protocols, and senders of deliveries, repeat requests in their own way.
  const carriers = ["/mcp", "/agents/{name}/a2a", "/hooks/{hookId}"];
  const posts = Object.entries<Record<string, { parameters?: { name: string; in: string; required: boolean }[] }>>(
    paths,
  )
    .filter(([path]) => !carriers.includes(path))
    .map(([, { post: operation }]) => operation)
    .filter((operation) => operation !== undefined);
  expect(posts.length).toBeGreaterThan(5);
  for (const { parameters } of posts) {
    const header = parameters?.find(({ name }) => name === "idempotency-key");
    expect(header).toMatchObject({ in: "header", required: false });
  }
});

test.each([
  ["/v1/chat/completions", { messages: [{ role: "user", content: "count 20 50" }] }],
  ["/v1/responses", { input: "count 20 50" }],
])("a client that leaves before the answer is complete gets all of it on its retry: %s", async (path, asked) => {
  const headers = { "idempotency-key": newIdempotencyKey() };
  const body = { model: "bea", ...asked };
  const left = new AbortController();
  const first = fetch(`${client.url}${path}`, {
    method: "POST",
    headers: { ...headers, authorization: `Bearer ${client.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: left.signal,
  }).catch(() => "left");
  await expect.poll(() => statusOfLastTurn("bea")).toBe("running");
  left.abort();
  expect(await first).toBe("left");
  const second = await client.call("POST", path, body, headers);
  expect(second.status).toBe(200);
  expect(JSON.stringify(second.body)).toContain("17 18 19 20");
  expect((await client.call("POST", path, body, headers)).body).toEqual(second.body);
});

test("a refusal because of a running turn is not the answer of the retry", async () => {
  const key = newIdempotencyKey();
  const running = client.chat("bea", "count 20 50");
  await expect.poll(() => statusOfLastTurn("bea")).toBe("running");
  const asked = { message: "hello" };
  expect((await post(client, key, "/agents/bea/chat", asked)).body.code).toBe("turn_in_progress");
  await running;
  const second = await post(client, key, "/agents/bea/chat", asked);
  expect([second.status, isReplayed(second)]).toEqual([200, false]);
});

async function statusOfLastTurn(name: string): Promise<string | undefined> {
  return (await client.call("GET", `/agents/${name}/turns?limit=1`)).body.data[0]?.status;
}
