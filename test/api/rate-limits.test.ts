import { once } from "node:events";
import { rm } from "node:fs/promises";
import { get, type IncomingMessage } from "node:http";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuditEntry } from "../../src/contract/audit.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { clientOf } from "../../src/core/http/rate-limits.ts";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { newFolder } from "../support/config.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Two servers on one database: what one has given out, the other does not give out again.

let folder: string;
let postgres: EmbeddedPostgres;
let services: ScriptedService[];
let client: TestClient;

beforeAll(async () => {
  folder = await newFolder();
  postgres = await startEmbeddedPostgres(folder);
  const { user, password } = postgres.config;
  const databaseUrl = `postgres://${user}:${password}@localhost/postgres?host=${encodeURIComponent(folder)}`;
  const rateLimits = { requests: 40, account: 0, address: 10, agents: 3, keys: 6, hooks: 0 };
  // One after the other: the first makes the operator's account, and has its key.
  services = [];
  for (let n = 0; n < 2; n++) services.push(await ScriptedService.start({ databaseUrl, rateLimits }));
  client = services[0]!.client;
});
afterAll(async () => {
  for (const service of services) await service[Symbol.asyncDispose]();
  await postgres.stop();
  await rm(folder, { recursive: true });
});

const elsewhere = (key: string) => new TestClient(services[1]!.server.url, key);

test("a key's requests are limited over all servers, and every answer says what is left", async () => {
  const here = await newKey(client, { name: "limited" });
  const there = elsewhere(here.key);
  const first = await here.call("GET", "/agents");
  expect(first.headers.get("ratelimit-policy")).toBe('"requests";q=40;w=60');
  expect(first.headers.get("ratelimit")).toMatch(/^"requests";r=39;t=(60|5\d)$/);
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) => (index % 2 ? here : there).call("GET", "/agents")),
  );
  const allowed = answers.filter(({ status }) => status === 200);
  expect(allowed).toHaveLength(39);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(21);
  for (const { body, headers } of refused) {
    expect(body).toMatchObject({ statusCode: 429, error: "Too Many Requests", code: "rate_limited" });
    expect(body.details).toEqual({ policy: "requests", limit: 40, windowSeconds: 60 });
    expect(headers.get("ratelimit")).toMatch(/^"requests";r=0;t=\d+$/);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(60);
  }
  // Another key is another count.
  expect((await (await newKey(client, {})).call("GET", "/agents")).status).toBe(200);
});

test("requests without a valid key are limited by address, and those with one continue", async () => {
  const key = await newKey(client, {});
  const nobody = (index: number) => new TestClient(services[index % 2]!.server.url, "x");
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => nobody(index).call("GET", "/agents")));
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(10).fill(401), ...Array(10).fill(429)]);
  const refused = answers.find(({ status }) => status === 429)!;
  expect(refused.body.message).toMatch(/from this address without a valid key/);
  expect(refused.headers.get("ratelimit-policy")).toBe('"address";q=10;w=60');
  expect((await nobody(0).call("GET", "/nothing")).status).toBe(429);
  expect((await nobody(0).call("GET", "/openapi.json")).status).toBe(429);
  expect((await key.call("GET", "/agents")).status).toBe(200);
  expect((await nobody(0).call("GET", "/healthz")).status).toBe(200);
  expect((await nobody(0).call("GET", "/readyz")).status).toBe(200);
});

test("agents and keys have limits of their own, per account; what is refused for its form does not count", async () => {
  const key = await newKey(client, {});
  for (const name of ["a", "B", "1"]) expect((await key.call("POST", "/agents", { name })).status).toBe(400);
  const made = [];
  for (const name of ["ada", "bea", "cleo", "dora"]) made.push(await key.call("POST", "/agents", { name }));
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 429]);
  expect(made[0]!.headers.get("ratelimit-policy")).toBe('"requests";q=40;w=60, "agents";q=3;w=60');
  expect(made[0]!.headers.get("ratelimit")).toMatch(/^"requests";r=\d+;t=\d+, "agents";r=2;t=\d+$/);
  // Another key of the account does not help.
  const again = await client.call("POST", "/agents", { name: "dora" });
  expect(again).toMatchObject({ status: 429, body: { details: { policy: "agents" } } });
  let last = await client.call("POST", "/keys", {});
  for (let n = 0; n < 6 && last.status === 201; n++) last = await client.call("POST", "/keys", {});
  expect(last).toMatchObject({ status: 429, body: { message: expect.stringMatching(/Too many keys/) } });
  // Endless refusals are not logged endlessly.
  const entries = (await client.call("GET", "/audit?limit=100")).body.data as AuditEntry[];
  expect(entries.map(({ status }) => status)).toContain(201);
  expect(entries.map(({ status }) => status)).not.toContain(429);
});

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "20010db800010002/64"],
  ["2001:db8:1:2::1", "20010db800010002/64"],
  ["no address", "no address"],
])("the address %s counts as %s", (address, client_) => {
  expect(clientOf(address)).toBe(client_);
});

test("requests for a sign-in are limited by address, since each is kept", async () => {
  await using service = await ScriptedService.start({
    rateLimits: { requests: 0, account: 0, address: 5, agents: 0, keys: 0, hooks: 0 },
  });
  const ask = () =>
    fetch(`${service.server.url}/oidc/device/auth`, {
      method: "POST",
      body: new URLSearchParams({ client_id: "berth-cli", scope: "openid" }),
    });
  for (let n = 4; n >= 0; n--) {
    const { status, headers } = await ask();
    expect([status, headers.get("ratelimit")]).toEqual([200, expect.stringMatching(`^"address";r=${n};`)]);
  }
  const refused = await ask();
  expect([refused.status, await refused.json()]).toEqual([429, expect.objectContaining({ code: "rate_limited" })]);
  expect(refused.headers.get("retry-after")).toBeTruthy();
});

test("attempts to sign in from one network of IPv6 are one client's", async () => {
  await using service = await ScriptedService.start({ trustedProxies: ["127.0.0.1"] });
  const type = async (address: string) => {
    const headers = { "x-forwarded-for": address };
    const body = new URLSearchParams({ user_code: "WRONG" });
    return (await fetch(`${service.server.url}/oidc/device`, { method: "POST", headers, body })).status;
  };
  for (let n = 0; n < 50; n++) expect(await type(`2001:db8:1:2::${n}`)).not.toBe(429);
  expect(await type("2001:db8:1:2:ffff::1")).toBe(429);
  expect(await type("2001:db8:1:3::1")).not.toBe(429);
});

test("an account's limits hold for all of its keys together, and others are not in its way", async () => {
  await using service = await ScriptedService.start({
    rateLimits: { requests: 0, account: 20, address: 0, agents: 0, keys: 0, hooks: 0 },
    maximumAccountStreams: 3,
  });
  await service.client.createAgent("ada");
  const other = await newAccount(service);
  const keys = [];
  for (let n = 0; n < 3; n++) keys.push(await newKey(service.client, { name: `key ${n}` }));
  const gone = new AbortController();
  const follow = (key: TestClient) =>
    fetch(`${key.url}/agents/ada/logs?follow=true`, {
      headers: { authorization: `Bearer ${key.key}` },
      signal: gone.signal,
    });
  for (const key of keys) expect((await follow(key)).status).toBe(200);
  const refused = await follow(service.client);
  expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining("this account's keys")]);
  const answers = [];
  for (let n = 0; n < 20; n++) answers.push(await keys[n % 3]!.call("GET", "/agents"));
  expect(answers.at(-1)).toMatchObject({ status: 429, body: { details: { policy: "account", limit: 20 } } });
  expect((await other.call("GET", "/agents")).status).toBe(200);
  gone.abort();
});

test("an account has a limited number of keys", async () => {
  await using service = await ScriptedService.start();
  const database = await databaseOf(service);
  const account = await database
    .selectFrom("accounts")
    .select("id")
    .where("operator", "=", true)
    .executeTakeFirstOrThrow();
  await sql`insert into api_keys (id, account_id, kind, prefix, hash)
    select gen_random_uuid(), ${account.id}, 'full', 'x', decode(md5(n::text), 'hex') from generate_series(1, 999) n`.execute(
    database,
  );
  const full = await service.client.call("POST", "/keys", {});
  expect(full).toMatchObject({ status: 400, body: { message: expect.stringContaining("at most 1000 keys") } });
  await sql`update api_keys set revoked_at = now() where prefix = 'x' and hash = decode(md5('1'), 'hex')`.execute(
    database,
  );
  expect((await service.client.call("POST", "/keys", {})).status).toBe(201);
  await database.destroy();
});

test("vain requests for pages are counted by the client's address, not the proxy's", async () => {
  await using service = await ScriptedService.start({
    trustedProxies: ["127.0.0.1"],
    rateLimits: { requests: 0, account: 0, address: 5, agents: 0, keys: 0, hooks: 0 },
  });
  const ask = async (address: string) => {
    const headers = { host: "8000--ada--0123456789ab.localhost", "x-forwarded-for": address };
    const [response] = (await once(get(service.server.url, { headers }), "response")) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  };
  for (let n = 0; n < 5; n++) expect(await ask("192.0.2.7")).toBe(401);
  expect(await ask("192.0.2.7")).toBe(429);
  expect(await ask("192.0.2.8")).toBe(401);
});
