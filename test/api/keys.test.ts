import { afterAll, beforeAll, expect, test } from "vitest";
import { databaseOf, newAccount, newKey, spend } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  service = await ScriptedService.start();
  client = service.client;
  for (const name of ["ada", "bea"]) await client.createAgent(name);
});
afterAll(() => service[Symbol.asyncDispose]());

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

test("a key is shown once, works at once, and is listed without its secret", async () => {
  const { status, headers, body } = await client.call("POST", "/keys", { name: "Schlüssel 🔑" });
  expect(status).toBe(201);
  expect(headers.get("cache-control")).toBe("no-store");
  const { key, ...record } = body;
  expect(key).toMatch(/^berth_sk_[0-9A-Za-z]{39}$/);
  expect(record).toEqual({
    id: record.id,
    name: "Schlüssel 🔑",
    kind: "full",
    role: "owner",
    agents: null,
    creditLimit: null,
    keyPrefix: key.slice(0, 12),
    createdAt: record.createdAt,
    lastUsedAt: null,
    expiresAt: null,
  });
  expect(headers.get("location")).toBe(`/keys/${record.id}`);
  expect((await new TestClient(client.url, key).call("GET", "/agents")).status).toBe(200);
  const listOf = async () =>
    (await client.call("GET", "/keys")).body.data.find(({ id }: { id: string }) => id === record.id);
  await expect.poll(async () => (await listOf()).lastUsedAt).toMatch(/Z$/);
  expect(JSON.stringify(await listOf())).not.toContain(key.slice(12));
});

test("a use is noted once a minute at most", async () => {
  const used = await newKey(client, { name: "busy" });
  const lastUsed = async () =>
    (await client.call("GET", "/keys")).body.data.find(({ name }: { name: string }) => name === "busy").lastUsedAt;
  await used.call("GET", "/agents");
  await expect.poll(lastUsed).not.toBeNull();
  const first = await lastUsed();
  for (let n = 0; n < 5; n++) await used.call("GET", "/agents");
  expect(await lastUsed()).toBe(first);
  const database = await databaseOf(service);
  await database
    .updateTable("api_keys")
    .set({ last_used_at: new Date(0) })
    .where("name", "=", "busy")
    .execute();
  await database.destroy();
  await used.call("GET", "/agents");
  await expect.poll(lastUsed).not.toBe(new Date(0).toISOString());
});

test("a revoked key is refused at once and for ever, by every server", async () => {
  const { body } = await client.call("POST", "/keys", {});
  const revoked = new TestClient(client.url, body.key);
  expect((await revoked.call("GET", "/agents")).status).toBe(200);
  expect((await client.call("DELETE", `/keys/${body.id}`)).status).toBe(204);
  expect(await revoked.call("GET", "/agents")).toMatchObject({ status: 401, body: { code: "credentials_invalid" } });
  expect(await client.call("DELETE", `/keys/${body.id}`)).toMatchObject({
    status: 404,
    body: { code: "key_not_found" },
  });
  const { data } = (await client.call("GET", "/keys?limit=100")).body;
  expect(data.map(({ id }: { id: string }) => id)).not.toContain(body.id);
  // A key may end itself.
  const own = await client.call("POST", "/keys", {});
  const itself = new TestClient(client.url, own.body.key);
  expect((await itself.call("DELETE", `/keys/${own.body.id}`)).status).toBe(204);
  expect((await itself.call("GET", "/agents")).status).toBe(401);
});

test("a key expires, and cannot create one that outlives it", async () => {
  const expiresAt = inAnHour();
  const ending = await newKey(client, { expiresAt, name: "ending" });
  for (const asked of [{}, { expiresAt: null }, { expiresAt: "2999-01-01T00:00:00Z" }]) {
    const refused = await ending.call("POST", "/keys", asked);
    expect(refused).toMatchObject({ status: 403, body: { code: "forbidden" } });
    expect(refused.body.message).toContain(expiresAt);
  }
  const child = await ending.call("POST", "/keys", { expiresAt, kind: "agent", agents: ["ada"] });
  expect(child.body.expiresAt).toBe(expiresAt);
  const database = await databaseOf(service);
  await database.updateTable("api_keys").set({ expires_at: new Date() }).where("name", "=", "ending").execute();
  await database.destroy();
  expect((await ending.call("GET", "/agents")).status).toBe(401);
});

test.each([
  ["an expiry in the past", { expiresAt: "2020-01-01T00:00:00Z" }, /in the past/],
  ["an expiry that is no time", { expiresAt: "tomorrow" }, /ISO 8601/],
  ["an unknown kind", { kind: "super" }, /kind/],
  ["agents for a full key", { agents: ["ada"] }, /only keys of kind `agent`/],
  ["no agents for an agent key", { kind: "agent" }, /at least one agent/],
  ["an empty list of agents", { kind: "agent", agents: [] }, /agents/],
  ["an agent that is not there", { kind: "agent", agents: ["ada", "nobody"] }, /no agent nobody/],
  ["a limit for a full key", { creditLimit: "5" }, /only keys of kind `agent`/],
  ["a limit that is a number", { kind: "agent", agents: ["ada"], creditLimit: 5 }, /creditLimit/],
  ["a limit below nothing", { kind: "agent", agents: ["ada"], creditLimit: "-1" }, /decimal string/],
  ["a name of 101 characters", { name: "x".repeat(101) }, /name/],
  ["a null character in its name", { name: "a\0" }, /null character/],
  ["an unknown field", { scope: "all" }, /scope/],
])("a key with %s is refused", async (_case, asked, message) => {
  const refused = await client.call("POST", "/keys", asked);
  expect(refused).toMatchObject({ status: 400, body: { code: "request_invalid" } });
  expect(refused.body.message).toMatch(message);
});

test("another account's keys and agents are as if they were not there", async () => {
  const other = await newAccount(service);
  const { body } = await client.call("POST", "/keys", {});
  expect((await other.call("DELETE", `/keys/${body.id}`)).status).toBe(404);
  expect((await other.call("GET", "/keys")).body.data.map(({ id }: { id: string }) => id)).not.toContain(body.id);
  expect(await other.call("POST", "/keys", { kind: "agent", agents: ["ada"] })).toMatchObject({
    status: 400,
    body: { message: /no agent ada/ },
  });
  expect((await other.createAgent("ada")).body.status).toBe("ready");
  expect((await other.call("GET", "/agents")).body.data).toHaveLength(1);
  expect((await other.call("DELETE", "/agents/bea")).status).toBe(404);
});

test("keys are listed page by page, the newest first", async () => {
  const other = await newAccount(service);
  for (let n = 0; n < 5; n++) await other.call("POST", "/keys", { name: `k${n}` });
  const names: string[] = [];
  for (let cursor = ""; ; ) {
    const { data, nextCursor } = (await other.call("GET", `/keys?limit=2${cursor}`)).body;
    names.push(...data.map(({ name }: { name: string | null }) => name));
    if (nextCursor === null) break;
    cursor = `&cursor=${nextCursor}`;
  }
  expect(names).toEqual(["k4", "k3", "k2", "k1", "k0", null]);
});

test("an external agent key lists, reads and chats with its agents, and follows its own turns only", async () => {
  const key = await newKey(client, { kind: "agent", agents: ["ada"], name: "outside" });
  expect((await key.call("GET", "/agents")).body.data.map(({ name }: { name: string }) => name)).toEqual(["ada"]);
  expect((await key.call("GET", "/agents/ada")).body.status).toBe("ready");
  const own = await key.chat("ada", "hello");
  expect(own.events.at(-1)!.event.type).toBe("response.completed");
  expect((await key.events("ada", own.turnId)).text).toBe(own.text);
  const { turnId } = await client.chat("ada", "the owner's own words");
  const events = `/agents/ada/turns/${turnId}/events`;
  expect(await key.call("GET", events)).toMatchObject({ status: 403, body: { code: "forbidden" } });
  expect(await key.call("POST", `/agents/ada/turns/${turnId}/cancel`)).toMatchObject({ status: 403 });
  expect((await client.call("GET", `/agents/ada/turns/${own.turnId}/events`)).status).toBe(200);
});

test("a key for an agent that was deleted does not open a new one of that name", async () => {
  await client.createAgent("cleo");
  const key = await newKey(client, { kind: "agent", agents: ["cleo"], name: "for cleo" });
  expect((await key.call("GET", "/agents/cleo")).status).toBe(200);
  await client.call("DELETE", "/agents/cleo");
  await client.createAgent("cleo");
  expect((await key.call("GET", "/agents/cleo")).status).toBe(403);
  expect((await key.call("GET", "/agents")).body.data).toEqual([]);
  const { data } = (await client.call("GET", "/keys?limit=100")).body;
  expect(data.find(({ name }: { name: string }) => name === "for cleo").agents).toEqual([]);
});

test("a key at its limit starts no turns; the owner's turns continue", async () => {
  const key = await newKey(client, { kind: "agent", agents: ["ada"], creditLimit: "0.5", name: "limited" });
  await key.chat("ada", "hello");
  await spend(service, "limited", 500_000);
  const refused = await key.call("POST", "/agents/ada/chat", { message: "and?" });
  expect(refused).toMatchObject({ status: 402, body: { code: "insufficient_credits" } });
  expect(refused.body).toMatchObject({ message: /this key/, details: { reason: "key_limit" } });
  expect((await client.chat("ada", "still there?")).events.at(-1)!.event.type).toBe("response.completed");
});

test("what the turns of a key leave running counts for the key's limit, until the agent's next turn", async () => {
  const key = await newKey(client, { kind: "agent", agents: ["ada"], creditLimit: "0.5", name: "left running" });
  await key.chat("ada", "hello");
  const call = async () => {
    const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01" };
    const body = { model: "demo", max_tokens: 16, messages: [{ role: "user", content: "hello" }] };
    const url = `${service.driver.gatewayOf("ada")}/anthropic/v1/messages`;
    return (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).status;
  };
  expect(await call()).toBe(200);
  await spend(service, "left running", 500_000);
  expect(await call()).toBe(402);
  await service.restart();
  client = service.client;
  expect(await call()).toBe(402);
  await client.chat("ada", "hello");
  expect(await call()).toBe(200);
});
