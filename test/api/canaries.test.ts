import { sql } from "kysely";
import { expect, test } from "vitest";
import { databaseOf, newKey } from "../support/accounts.ts";
import { Browser } from "../support/browser.ts";
import type { TestClient } from "../support/client.ts";
import { KillableService } from "../support/killable-service.ts";
import { SignInServers } from "../support/mcp-oauth-servers.ts";
import { refresh, signIn, useLink } from "../support/sign-in.ts";

/** All rows of all tables, those of the timers too, as text; bytes in hexadecimal. */
async function dumpOf(service: KillableService): Promise<string> {
  const database = await databaseOf(service);
  try {
    const { rows: tables } = await sql<{ name: string }>`
      select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`.execute(database);
    const dumps = tables.map(({ name }) => sql<{ row: string }>`select t::text as row from ${sql.raw(name)} t`);
    const contents = await Promise.all(dumps.map((dump) => dump.execute(database)));
    return contents.flatMap(({ rows }) => rows.map(({ row }) => row)).join("\n");
  } finally {
    await database.destroy();
  }
}

test("no key, token, password or provider's key is in a log line, an error, a measurement or the database", async () => {
  const providerKey = "canary-of-the-providers-key";
  using servers = await SignInServers.start();
  await using service = await KillableService.start({
    logLevel: "trace",
    egressInside: servers.inside,
    anthropic: { baseUrl: "http://127.0.0.1:9", apiKey: providerKey },
  });
  const { client } = service;
  const secrets = [providerKey, client.key];
  const ownKey = "canary-of-the-workspaces-key";
  secrets.push(ownKey);
  const provider = { name: "acme", kind: "openai-compatible", baseUrl: "https://example.invalid/v1", apiKey: ownKey };
  const headers = { "idempotency-key": "provider" };
  expect((await client.call("POST", "/providers", provider, headers)).status).toBe(201);
  expect((await client.call("POST", "/providers/acme/test", { model: "any" })).body.ok).toBe(false);
  const claude = { name: "claude", kind: "claude", apiKey: "canary-of-a-claude-subscription" };
  secrets.push(claude.apiKey);
  expect((await client.call("POST", "/providers", claude)).status).toBe(201);
  expect((await client.call("POST", "/providers/claude/test", { model: "any" })).body.ok).toBe(false);
  const begun = await client.call("POST", "/secrets/MCP/connect", { url: servers.url }, { "idempotency-key": "mcp" });
  const page = new URL(begun.body.authorizationUrl);
  const browser = new Browser();
  browser.take(begun);
  const callback = await browser.get(page.href);
  expect((await browser.get(callback.url)).text).toContain("Connected");
  secrets.push(page.searchParams.get("state")!, new URL(callback.url).searchParams.get("code")!);
  secrets.push(...servers.provider.issued, ...servers.provider.refreshTokens.keys());
  const errors: string[] = [];
  const refused = async (who: TestClient, method: string, path: string, body?: unknown, headers = {}) => {
    const { status, body: error } = await who.call(method, path, body, headers);
    expect(status, `${method} ${path}`).toBeGreaterThanOrEqual(400);
    errors.push(JSON.stringify(error));
  };

  await client.createAgent("ada");
  const full = await client.call("POST", "/keys", { name: "full" }, { "idempotency-key": "once" });
  expect((await client.call("POST", "/keys", { name: "full" }, { "idempotency-key": "once" })).body).toEqual(full.body);
  const narrow = await newKey(client, { kind: "agent", agents: ["ada"] });
  secrets.push(full.body.key, narrow.key);

  // Keys in the places where somebody may paste them by mistake.
  for (const key of [client.key, full.body.key, narrow.key]) {
    await refused(client, "DELETE", `/keys/${key}`);
    await refused(client, "GET", `/agents/${key}`);
    await refused(client, "GET", `/agents?cursor=${key}`);
    await refused(client, "GET", `/agents/ada/turns/${key}/events`);
    await refused(client, "POST", "/agents", { name: key });
    await refused(client, "POST", "/agents", { name: "bea", [key]: 1 });
    await refused(client, "POST", "/agents", { name: "bea", model: key });
    await refused(client, "POST", "/agents", { name: "bea", runtime: key });
    await refused(client, "POST", "/keys", { kind: "agent", agents: [key] });
    await refused(client, "POST", "/admin/users/x/reset", undefined, { "idempotency-key": `é${key}` });
    await refused(client, "GET", "/agents", undefined, { authorization: `Bearer ${key}x` });
    await refused(client, "GET", "/agents", undefined, { authorization: `Basic ${key}` });
    await refused(client, "GET", `/${key}`);
  }
  await refused(narrow, "DELETE", "/agents/ada");
  // The provider is not there: the turn and the log get its refusal.
  await client.chat("ada", "hello");

  const password = "canary of the password";
  const { body: user } = await client.call("POST", "/admin/users", { name: "bob" });
  await useLink(user.link, password);
  const tokens = await signIn(client.url, "bob", password);
  const { body: next } = await refresh(client.url, tokens.refresh_token);
  await refused(client, "GET", "/account", undefined, { authorization: `Bearer ${tokens.access_token}x` });
  secrets.push(password, new URL(user.link).searchParams.get("token")!);
  secrets.push(tokens.access_token, tokens.refresh_token, tokens.id_token, next.access_token, next.refresh_token);

  const measurements = (await client.call("GET", "/metrics")).body;
  const audit = JSON.stringify((await client.call("GET", "/audit?limit=100")).body);
  const dump = await dumpOf(service);
  await service.server.end("SIGTERM");
  const log = service.server.lines.join("\n");
  expect(dump).toContain("ada");
  expect(log).toContain('"url":"/agents/…"');
  const places = { log, errors: errors.join("\n"), measurements, audit, dump };
  for (const [place, text] of Object.entries<string>(places)) {
    for (const secret of secrets) {
      expect(text.includes(secret), `${secret} in ${place}`).toBe(false);
      expect(text.includes(Buffer.from(secret).toString("hex")), `${secret} in ${place}, as bytes`).toBe(false);
    }
  }
});
