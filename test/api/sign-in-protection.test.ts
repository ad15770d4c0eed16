import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { secretKeyOf } from "../../src/config/secret-key.ts";
import { Sealer } from "../../src/core/sealing.ts";
import { createTokenKey } from "../../src/sign-in/provider.ts";
import { sealedKey } from "../../src/sign-in/provider-key-store.ts";
import { databaseOf } from "../support/accounts.ts";
import { Browser } from "../support/browser.ts";
import { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { beginSignIn, exchange, refresh, signIn, tokenRequest, useLink } from "../support/sign-in.ts";

const password = "correct horse battery staple";
/** Shared by all tests, with its first user: ulla. */
let service: ScriptedService;
let url: string;

beforeAll(async () => {
  service = await ScriptedService.start();
  url = service.server.url;
  await service.client.createAgent("ada");
  await useLink(service.server.firstSignIn!, password, "Ulla");
});
afterAll(() => service[Symbol.asyncDispose]());

const withToken = (token: string) => new TestClient(service.server.url, token);
const listed = async (token: string) => (await withToken(token).call("GET", "/agents")).status;

test("wrong passwords are limited, for a name that there is and one that there is not", async () => {
  const { body } = await service.client.call("POST", "/admin/users", { name: "vera" });
  await useLink(body.link, password);
  for (const name of ["vera", "nobody"]) {
    const browser = new Browser();
    let { page } = await beginSignIn(url, browser);
    for (let n = 0; n < 10; n++) {
      page = await browser.submit(page, { name, password: "wrong" });
      expect(page.status).toBe(401);
    }
    const limited = await browser.submit(page, { name, password });
    expect(limited).toMatchObject({ status: 429, text: expect.stringContaining("Try again in 15 minutes") });
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(800);
  }
  // Others' names are not in its way.
  await signIn(url, "ulla", password);
});

test("a restart keeps sessions and tokens, and makes no second first user", async () => {
  const browser = new Browser();
  const tokens = await signIn(url, "ulla", password, browser);
  await service.restart();
  expect(service.server.firstSignIn).toBeNull();
  // The port is another, and so is the address: access tokens of the old one end, nothing else does.
  expect(await listed(tokens.access_token)).toBe(401);
  const again = await signIn(service.server.url, "ulla", "is not asked for", browser);
  expect((await withToken(again.access_token).call("GET", "/agents")).body.data).toMatchObject([{ name: "ada" }]);
  expect((await refresh(service.server.url, tokens.refresh_token)).status).toBe(200);
  url = service.server.url;
});

test("the database holds no token, code, password, session or link that opens anything", async () => {
  const browser = new Browser();
  const { page, verifier } = await beginSignIn(url, browser);
  const secrets = new Set<string>(browser.secrets);
  const last = await browser.submit(page, { name: "ulla", password });
  const code = new URL(last.url).searchParams.get("code")!;
  const tokens = (await exchange(url, code, verifier)).body;
  const asked = await tokenRequest(url, { client_id: "berth-cli", scope: "openid" }, "/oidc/device/auth");
  await browser.submit(await browser.get(`${url}/oidc/device`), { user_code: asked.body.user_code });
  const confirm = await browser.submit(await browser.get(`${url}/oidc/device`), { user_code: asked.body.user_code });
  await browser.submit(confirm, { confirm: "yes" });
  const { body } = await service.client.call("POST", "/admin/users", { name: "wilma" });
  for (const secret of browser.secrets) secrets.add(secret);
  for (const secret of [code, tokens.access_token, tokens.refresh_token, password, asked.body.device_code]) {
    secrets.add(secret);
  }
  secrets.add(asked.body.user_code.replace("-", ""));
  secrets.add(new URL(body.link).searchParams.get("token")!);
  const database = await databaseOf(service);
  const tables = ["accounts", "users", "user_links", "oidc_records", "sign_in_attempts"] as const;
  const rows = await Promise.all(
    tables.map((table) => database.withTables<Record<string, object>>().selectFrom(table).selectAll().execute()),
  );
  await database.destroy();
  const dump = JSON.stringify(rows);
  expect(dump).toContain("RefreshToken");
  expect(secrets.size).toBeGreaterThan(8);
  for (const secret of secrets) expect(dump.includes(secret), secret).toBe(false);
});

test("a session in which nobody has signed in is kept for an hour, and for a month once somebody has", async () => {
  const browser = new Browser();
  const database = await databaseOf(service);
  const hours = async () => {
    const { rows } = await sql<{ hours: string }>`select extract(epoch from expires_at - now()) / 3600 as hours
      from oidc_records where model = 'Session'`.execute(database);
    return rows.map((row) => Math.round(Number(row.hours))).sort((one, other) => one - other);
  };
  const before = await hours();
  await browser.get(`${url}/oidc/device`);
  expect(await hours()).toEqual([1, ...before]);
  await signIn(url, "ulla", password, browser);
  expect(await hours()).toEqual([...before, 720]);
  await database.destroy();
});

test("what is typed for codes is limited by address, and what was right is not counted", async () => {
  const browser = new Browser();
  let page = await browser.get(`${url}/oidc/device`);
  for (let n = 0; n < 50 && page.status !== 429; n++) page = await browser.submit(page, { user_code: `WRONG-${n}` });
  const limited = page.status === 429 ? page : await browser.submit(page, { user_code: "WRONG" });
  expect(limited).toMatchObject({ status: 429, text: expect.stringContaining("too many attempts") });
  // The provider itself reads paths so.
  for (const path of ["/oidc/device/", "/oidc/Device"]) {
    const form = { ...page, text: `<form action="${path}">` };
    expect((await browser.submit(form, { user_code: "WRONG" })).status, path).toBe(429);
  }
  const database = await databaseOf(service);
  await database.withTables<{ sign_in_attempts: object }>().deleteFrom("sign_in_attempts").execute();
  const { body } = await tokenRequest(url, { client_id: "berth-cli", scope: "openid" }, "/oidc/device/auth");
  for (let n = 0; n < 3; n++) {
    await browser.submit(await browser.get(`${url}/oidc/device`), { user_code: body.user_code });
  }
  const counted = await database.withTables<{ sign_in_attempts: { points: number } }>();
  expect(await counted.selectFrom("sign_in_attempts").select("points").execute()).toEqual([{ points: 0 }]);
  await database.destroy();
});

test("a second signing key is taken up at the next start, signs from then on, and both are published", async () => {
  const { access_token: token } = await signIn(url, "ulla", password);
  const database = await databaseOf(service);
  const sealer = new Sealer(await secretKeyOf(service.config.dataFolder));
  const row = sealedKey(sealer, "tokens", await createTokenKey());
  await database.insertInto("provider_keys").values(row).execute();
  await database.destroy();
  await service.restart();
  url = service.server.url;
  const { keys } = (await withToken("").call("GET", "/oidc/jwks")).body;
  expect(keys).toHaveLength(2);
  const kidOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split(".")[0]!, "base64url").toString()).kid;
  const { access_token: next } = await signIn(url, "ulla", password);
  expect(keys.map(({ kid }: { kid: string }) => kid)).toEqual([kidOf(next), kidOf(token)]);
  expect(await listed(next)).toBe(200);
});

test("who reads the database has no key to make tokens with, and who writes to it puts none in", async () => {
  const database = await databaseOf(service);
  const rows = await database.selectFrom("provider_keys").selectAll().execute();
  expect(rows.map(({ value }) => Object.keys(value))).toEqual([["sealed"], ["sealed"], ["sealed"]]);
  const own = { ...(await createTokenKey()), kid: "of-a-stranger" };
  const values = { id: randomUUID(), purpose: "tokens" as const, value: JSON.stringify(own) };
  await database.insertInto("provider_keys").values(values).execute();
  await database.destroy();
  const sessions = new Browser();
  await signIn(url, "ulla", password, sessions);
  await service.restart();
  url = service.server.url;
  expect((await withToken("").call("GET", "/oidc/jwks")).body.keys).toHaveLength(2);
  await signIn(url, "ulla", "is not asked for", sessions);
});

test("behind a proxy its addresses are the public ones, and its cookies go over https alone", async () => {
  await using other = await ScriptedService.start({ publicUrl: "https://berth.example/at" });
  const client = new TestClient(other.server.url, "");
  const { body } = await client.call("GET", "/oidc/.well-known/openid-configuration");
  expect(body).toMatchObject({
    issuer: "https://berth.example/at/oidc",
    token_endpoint: "https://berth.example/at/oidc/token",
  });
  expect(other.server.firstSignIn).toMatch(/^https:\/\/berth\.example\/at\/oidc\/welcome\?token=/);
  const query = new URLSearchParams({
    client_id: "berth-dashboard",
    response_type: "code",
    scope: "openid",
    code_challenge: "x".repeat(43),
    code_challenge_method: "S256",
  });
  const forged = { "x-forwarded-host": "evil.example", "x-forwarded-proto": "http", host: "evil.example" };
  const response = await fetch(`${other.server.url}/oidc/auth?${query}`, { redirect: "manual", headers: forged });
  expect(response.headers.get("location")).toMatch(/^\/at\/oidc\/interaction\//);
  for (const cookie of response.headers.getSetCookie()) expect(cookie).toMatch(/; secure; httponly/);
  expect(response.headers.getSetCookie()[0]).toContain("path=/at/oidc/interaction/");
  expect((await client.call("GET", "/oidc/nowhere")).body).toMatchObject({ statusCode: 404, code: "path_not_found" });
});

test("with an identity provider elsewhere there are no users here", async () => {
  const oidc = { issuer: "http://127.0.0.1:9", audience: "berth", clientId: "berth", unknownKeyMs: 0 };
  await using other = await ScriptedService.start({ oidc });
  expect(other.server.firstSignIn).toBeNull();
  for (const [method, path, body] of [
    ["GET", "/admin/users", undefined],
    ["POST", "/admin/users", { name: "bob" }],
    ["POST", "/admin/users/bob/reset", undefined],
    ["POST", "/admin/users/bob/disable", undefined],
  ] as const) {
    const refused = await other.client.call(method, path, body);
    expect(refused).toMatchObject({ status: 409, body: { code: "users_managed_elsewhere" } });
  }
  expect((await other.client.call("GET", "/oidc/jwks")).status).toBe(404);
  const resource = (await other.client.call("GET", "/.well-known/oauth-protected-resource")).body;
  expect(resource).toMatchObject({ authorization_servers: ["http://127.0.0.1:9"], berth_audience: "berth" });
});
