import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { databaseOf } from "../support/accounts.ts";
import { Browser } from "../support/browser.ts";
import type { TestClient } from "../support/client.ts";
import { connectIn, SignInServers, visit } from "../support/mcp-oauth-servers.ts";
import { inside, PeoplesService } from "../support/people.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Sign-ins to MCP servers: a person connects one in a browser, and agents use its token.

let servers: SignInServers;
let people: PeoplesService;
let workspace: string;
let owner: TestClient;
let admin: TestClient;
let member: TestClient;
let count = 0;

beforeAll(async () => {
  servers = await SignInServers.start();
  people = await PeoplesService.start({ egressInside: servers.inside });
  const person = await people.person({ name: "Olga" });
  workspace = await people.newWorkspace(person);
  owner = inside(person, workspace);
  admin = await people.join(owner, workspace, "admin");
  member = await people.join(owner, workspace, "member");
});
afterAll(async () => {
  await people?.[Symbol.asyncDispose]();
  servers?.[Symbol.dispose]();
});

let name: string;
beforeEach(() => {
  name = `MCP_${++count}`;
  servers.instead.clear();
  servers.metadata = {};
  Object.assign(servers.provider, { consents: true, iss: null, lifetimeSeconds: 3_600, givesRefreshTokens: true });
  Object.assign(servers.provider, { refreshMs: 0, prefix: "canary-token-" });
});

const begin = (fields: object = {}, client = owner) =>
  client.call("POST", `/secrets/${name}/connect`, { url: servers.url, ...fields });

const connect = (fields: object = {}) => connectIn(owner, name, { url: servers.url, ...fields });

const view = async (client = owner) => (await client.call("GET", `/secrets/${name}`)).body;
const loginOf = async () => (await view()).login;

/** A new agent's machine. */
async function machine(agent = `agent-${count}`) {
  const { driver } = people.service;
  const before = driver.running;
  expect((await owner.createAgent(agent)).body.status).toBe("ready");
  const id = driver.running.find((each) => !before.includes(each))!;
  const placeholder = () => driver.provided.get(id)?.placeholders[name] ?? "none";
  return {
    placeholder,
    ask: (token = placeholder()) => servers.ask(driver.proxyOf(id), `Bearer ${token}`),
  };
}

describe("a sign-in to an MCP server", () => {
  test("is begun, finished in the browser, and used by an agent that never sees the token", async () => {
    const page = await connect();
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining("Connected") });
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    const secret = await view(member);
    expect(secret).toMatchObject({
      hosts: [`http://${new URL(servers.url).host}`],
      headers: ["authorization"],
      agents: null,
      lastFour: null,
      login: {
        url: servers.url,
        status: "connected",
        scopes: ["mcp:tools", expect.any(String)],
        attemptExpiresAt: null,
        reason: null,
      },
    });
    expect(Date.parse(secret.login.expiresAt)).toBeGreaterThan(Date.now());
    const ada = await machine();
    expect(ada.placeholder()).toMatch(/^berth-secret-MCP_/);
    const { status, body } = await ada.ask();
    expect(status).toBe(200);
    expect(Buffer.from(JSON.parse(body).with, "base64").toString()).toMatch(/^Bearer canary-token-/);
    expect(servers.provider.resources).toContain(servers.url);
    expect(servers.provider.scopes.at(-1)).toEqual(["mcp:tools"]);
    // An agent's own placeholder only.
    const bob = await machine("bob-first");
    expect((await bob.ask(ada.placeholder())).status).toBe(401);
  });

  test("in another browser is finished with its code, by the person who began it", async () => {
    const { body } = await begin();
    expect((await owner.call("POST", `/secrets/${name}/confirm`, { code: "AAAA-AAAA" })).body.message).toContain(
      "has not come back",
    );
    const page = await visit(new Browser(), body.authorizationUrl);
    const code = /class="code">([A-Z2-9]{4}-[A-Z2-9]{4})</.exec(page.text)![1]!;
    expect(await loginOf()).toMatchObject({ status: "pending", attemptExpiresAt: body.expiresAt });
    const confirm = (client: TestClient, sent: string) =>
      client.call("POST", `/secrets/${name}/confirm`, { code: sent });
    expect(await confirm(admin, code)).toMatchObject({ status: 403 });
    expect(await confirm(member, code)).toMatchObject({ status: 403 });
    expect((await confirm(owner, "AAAA-AAAA")).body.message).toContain("The code is wrong");
    expect(await confirm(owner, code.toLowerCase().replace("-", " "))).toMatchObject({
      status: 200,
      body: { login: { status: "connected" } },
    });
    expect((await confirm(owner, code)).body.message).toContain("no sign-in to confirm");
  });

  test("changes nothing about secrets with a value, and keeps its address", async () => {
    await owner.call("PUT", `/secrets/${name}`, { value: "hush", hosts: ["example.com"] });
    expect((await begin()).body.message).toContain("is a secret with a value");
    await owner.call("DELETE", `/secrets/${name}`);
    expect((await begin({ url: undefined })).body.message).toContain("url is required");
    await connect();
    const other = `${servers.url}/other`;
    expect((await begin({ url: other })).body.message).toContain(`is a sign-in to ${servers.url}`);
    for (const fields of [{ value: "hush" }, { hosts: ["evil.example"] }, { headers: ["x-token"] }]) {
      const { status, body } = await owner.call("PUT", `/secrets/${name}`, fields);
      expect([status, body.message]).toEqual([400, expect.stringContaining("only `agents` can be changed")]);
    }
    expect((await owner.call("PUT", `/secrets/${name}`, { agents: [] })).body).toMatchObject({
      agents: [],
      login: { status: "connected" },
    });
    const provider = { name: "acme", kind: "openai-compatible", baseUrl: "https://example.invalid/v1", secret: name };
    expect((await owner.call("POST", "/providers", provider)).body.message).toContain("is a sign-in to an MCP server");
  });

  test.each([
    [{ url: "ftp://example.com" }, "https://"],
    [{ url: "https://user:pass@example.com/mcp" }, "credentials"],
    [{ url: "https://example.com/mcp#part" }, "fragment"],
    [{ url: "http://example.com/mcp" }, "Only https"],
    [{ url: "https://169.254.169.254/mcp" }, "public internet"],
    [{ url: "https://127.0.0.1/mcp" }, "public internet"],
    [{ url: "https://[::1]/mcp" }, "public internet"],
    [{ url: "https://10.0.0.1/mcp" }, "public internet"],
    [{ url: "https://printer.local/mcp" }, "public internet"],
    [{ clientSecret: "hush-canary" }, "needs a clientId"],
    [{ clientId: "a\nb" }, "printable ASCII"],
    [{ scopes: ["two words"] }, "one word"],
    [{ agents: ["nobody-here"] }, "there is no agent nobody-here"],
  ])("is refused with %j", async (fields, said) => {
    const { status, body } = await begin(fields);
    expect([status, body.message]).toEqual([400, expect.stringContaining(said)]);
    expect(JSON.stringify(body)).not.toContain("canary");
    expect((await owner.call("GET", `/secrets/${name}`)).status).toBe(404);
  });

  test("is for owners and admins; another workspace has none of it", async () => {
    expect((await begin({}, member)).status).toBe(403);
    expect((await begin({}, admin)).status).toBe(200);
    const stranger = inside(await people.person(), "personal");
    expect((await stranger.call("POST", `/secrets/${name}/confirm`, { code: "AAAA-AAAA" })).status).toBe(404);
    expect((await stranger.call("GET", `/secrets/${name}`)).status).toBe(404);
  });

  test("can be given to some agents, with a client that a person has registered", async () => {
    await owner.createAgent("chosen");
    const registered = await fetch(`${servers.issuer}register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        redirect_uris: [`${people.service.server.url}/mcp/callback`],
        token_endpoint_auth_method: "client_secret_post",
      }),
    });
    const { client_id: clientId, client_secret: clientSecret } = (await registered.json()) as Record<string, string>;
    servers.metadata = { registration_endpoint: undefined };
    expect((await begin()).body.message).toContain("registers no clients");
    await connect({ clientId, clientSecret, agents: ["chosen"], scopes: ["mcp:tools"] });
    expect(await view()).toMatchObject({ agents: ["chosen"], login: { status: "connected" } });
    expect(JSON.stringify(await view())).not.toContain(clientSecret);
    // The client is kept for the next time.
    await connect({ url: undefined });
    expect(await loginOf()).toMatchObject({ status: "connected" });
  });
});

describe("a server with a public https address", () => {
  test("introduces itself with a document, and keeps others' pages from setting its cookie", async () => {
    const publicUrl = "https://berth.example.com";
    await using service = await ScriptedService.start({ publicUrl, egressInside: servers.inside });
    const document = (await service.client.call("GET", "/mcp/client.json")).body;
    expect(document).toMatchObject({
      client_id: `${publicUrl}/mcp/client.json`,
      redirect_uris: [`${publicUrl}/mcp/callback`],
      application_type: "web",
    });
    const begun = () => service.client.call("POST", "/secrets/MCP/connect", { url: servers.url });
    servers.metadata = { client_id_metadata_document_supported: true };
    const { body, headers } = await begun();
    const asked = new URL(body.authorizationUrl).searchParams;
    expect(asked.get("client_id")).toBe(document.client_id);
    expect(asked.get("redirect_uri")).toBe(document.redirect_uris[0]);
    expect(headers.get("set-cookie")).toMatch(
      /^__Host-berth_mcp_[\w-]{8}=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/,
    );
    servers.metadata = {};
    expect(new URL((await begun()).body.authorizationUrl).searchParams.get("client_id")).not.toContain("https:");
  });
});

describe("the browser that comes back", () => {
  /** Where the authorization server sends the browser. */
  async function answerOf(fields: object = {}) {
    const begun = await begin(fields);
    const browser = new Browser();
    browser.take(begun);
    const { url } = await browser.get(begun.body.authorizationUrl);
    return { browser, url: new URL(url) };
  }

  test("can finish once", async () => {
    const { browser, url } = await answerOf();
    expect((await browser.get(url.href)).text).toContain("Connected");
    expect(await browser.get(url.href)).toMatchObject({ status: 400, text: expect.stringContaining("Not connected") });
    expect(await loginOf()).toMatchObject({ status: "connected", reason: null });
  });

  test("with a wrong state, without one or with two changes nothing", async () => {
    const { browser, url } = await answerOf();
    const wrong = new URL(url);
    wrong.searchParams.set("state", "A".repeat(43));
    const none = new URL(url);
    none.searchParams.delete("state");
    const twice = new URL(url);
    twice.searchParams.append("state", "B".repeat(43));
    for (const each of [wrong, none, twice]) expect((await browser.get(each.href)).status).toBe(400);
    expect(await loginOf()).toMatchObject({ status: "pending" });
    expect((await browser.get(url.href)).status).toBe(200);
  });

  test("of an earlier attempt finishes nothing", async () => {
    const { browser, url } = await answerOf();
    const second = await begin();
    expect((await browser.get(url.href)).status).toBe(400);
    browser.take(second);
    expect((await visit(browser, second.body.authorizationUrl)).text).toContain("Connected");
  });

  test("after a deletion finishes nothing", async () => {
    const { browser, url } = await answerOf();
    await owner.call("DELETE", `/secrets/${name}`);
    expect((await browser.get(url.href)).status).toBe(400);
    expect((await owner.call("GET", `/secrets/${name}`)).status).toBe(404);
  });

  test("of a person who is no admin any more finishes nothing", async () => {
    const former = await people.join(owner, workspace, "admin");
    const begun = await begin({}, former);
    const path = `/workspaces/${encodeURIComponent(workspace)}/members`;
    const { id } = (await former.call("GET", "/me")).body.person;
    expect((await owner.call("PATCH", `${path}/${id}`, { role: "member" })).status).toBe(200);
    const browser = new Browser();
    browser.take(begun);
    expect((await visit(browser, begun.body.authorizationUrl)).status).toBe(400);
    expect(await loginOf()).toMatchObject({ status: "pending", connectedAt: null });
  });

  test("with a refusal says so, and repeats nothing of the server's text", async () => {
    servers.provider.consents = false;
    const page = await connect();
    expect(page).toMatchObject({ status: 400, text: expect.stringContaining("refused the access") });
    expect(page.text).not.toContain("canary-description");
    expect(await loginOf()).toMatchObject({ status: "failed", reason: expect.stringContaining("refused the access") });
    servers.provider.consents = true;
    expect((await connect()).text).toContain("Connected");
  });

  test.each([
    ["another issuer", { iss: "https://evil.example" }, {}],
    ["no issuer, where one is announced", { iss: null }, { authorization_response_iss_parameter_supported: true }],
  ])("with %s is refused before the code is used", async (_, provider, metadata) => {
    Object.assign(servers.provider, provider);
    servers.metadata = metadata;
    const page = await connect();
    expect(page).toMatchObject({ status: 400, text: expect.stringContaining("did not come from") });
    expect(page.text).not.toContain("evil.example");
    expect(await loginOf()).toMatchObject({ status: "failed" });
  });

  test("with the issuer that was asked is accepted", async () => {
    servers.provider.iss = servers.issuer;
    servers.metadata = { authorization_response_iss_parameter_supported: true };
    expect((await connect()).text).toContain("Connected");
  });

  test("of another person gets a code that ends after five wrong ones", async () => {
    const { url } = await answerOf();
    const page = await new Browser().get(url.href);
    expect(page.text).toContain("Never pass it on");
    const confirm = (code: string) => owner.call("POST", `/secrets/${name}/confirm`, { code });
    for (let tries = 0; tries < 5; tries++) expect((await confirm("AAAA-AAAA")).body.message).toContain("wrong");
    const code = /class="code">([^<]+)</.exec(page.text)![1]!;
    expect((await confirm(code)).body.message).toContain("no sign-in to confirm");
    expect(await loginOf()).toMatchObject({ status: "failed", reason: "A wrong code was sent too often." });
  });
});

describe("the token of a sign-in", () => {
  test("is refreshed before it expires, once for all agents, and the old one is not used again", async () => {
    servers.provider.lifetimeSeconds = 10;
    await connect();
    const [ada, bob] = [await machine(`ada-${count}`), await machine(`bob-${count}`)];
    const before = servers.provider.refreshes;
    const first = (await loginOf()).expiresAt;
    await expect.poll(async () => Date.now() > Date.parse(first) - 2_400, { timeout: 20_000 }).toBe(true);
    servers.provider.refreshMs = 300;
    servers.provider.lifetimeSeconds = 3_600;
    const answers = await Promise.all([ada.ask(), bob.ask(), ada.ask(), bob.ask()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(servers.provider.refreshes).toBe(before + 1);
    expect(servers.provider.resources.at(-1)).toBe(servers.url);
    expect(await loginOf()).toMatchObject({ status: "connected" });
    expect(Date.parse((await loginOf()).expiresAt)).toBeGreaterThan(Date.parse(first));
  }, 40_000);

  test("that the server does not accept any more is replaced for the next request", async () => {
    await connect();
    const ada = await machine();
    const { refreshes } = servers.provider;
    servers.provider.endAll();
    expect((await ada.ask()).status).toBe(401);
    await expect.poll(async () => (await ada.ask()).status, { timeout: 20_000 }).toBe(200);
    expect(servers.provider.refreshes).toBe(refreshes + 1);
    // A server that refuses always is not a reason to refresh always.
    servers.provider.endAll();
    for (let times = 0; times < 3; times++) expect((await ada.ask()).status).toBe(401);
    expect(servers.provider.refreshes).toBe(refreshes + 1);
  });

  test("whose refresh is refused fails the sign-in, with an event and a way to connect again", async () => {
    await connect();
    const ada = await machine();
    const placeholder = ada.placeholder();
    servers.provider.endAll();
    servers.provider.refreshTokens.clear();
    expect((await ada.ask()).status).toBe(401);
    await expect.poll(async () => (await loginOf()).status, { timeout: 20_000 }).toBe("failed");
    const reason = "The authorization server did not refresh the token (invalid_grant).";
    expect(await loginOf()).toMatchObject({ reason, expiresAt: null, scopes: [] });
    expect(await ada.ask()).toEqual({
      status: 502,
      body: expect.stringContaining(`The sign-in ${name} cannot be used. ${reason}`),
    });
    const events = await eventsOf("secret.login_failed");
    expect(events).toContainEqual(expect.objectContaining({ secret: name, url: servers.url, reason }));
    await connect({ url: undefined });
    expect(ada.placeholder()).toBe(placeholder);
    await expect.poll(async () => (await ada.ask()).status, { timeout: 20_000 }).toBe(200);
  });

  test("that cannot be refreshed is used until it expires, and the sign-in stays", async () => {
    servers.provider.lifetimeSeconds = 10;
    await connect();
    const ada = await machine();
    const ends = Date.parse((await loginOf()).expiresAt);
    servers.instead.set("/token", (_, response) => response.writeHead(503).end("canary-of-the-server"));
    await expect.poll(() => Date.now() > ends - 2_000, { timeout: 20_000 }).toBe(true);
    expect((await ada.ask()).status).toBe(200);
    await expect.poll(() => Date.now() > ends, { timeout: 20_000 }).toBe(true);
    const { status, body } = await ada.ask();
    expect([status, body]).toEqual([502, expect.stringContaining("could not be refreshed")]);
    expect(await loginOf()).toMatchObject({ status: "connected", reason: null });
    servers.instead.clear();
    servers.provider.lifetimeSeconds = 3_600;
    await expect.poll(async () => (await ada.ask()).status, { timeout: 20_000 }).toBe(200);
  }, 60_000);

  test("without a refresh token ends the sign-in when it expires", async () => {
    Object.assign(servers.provider, { lifetimeSeconds: 10, givesRefreshTokens: false });
    await connect();
    const ada = await machine();
    expect((await ada.ask()).status).toBe(200);
    const failed = { status: "failed", scopes: [], reason: expect.stringContaining("no refresh token") };
    await expect.poll(loginOf, { timeout: 30_000, interval: 500 }).toMatchObject(failed);
    expect((await ada.ask()).status).toBe(502);
    expect(await loginOf()).toMatchObject({ ...failed, expiresAt: null });
    expect(await eventsOf("secret.login_failed")).toContainEqual(expect.objectContaining({ secret: name }));
  }, 60_000);

  test("without a lifetime is used as long as it is accepted", async () => {
    Object.assign(servers.provider, { lifetimeSeconds: null, givesRefreshTokens: false });
    await connect();
    expect(await loginOf()).toMatchObject({ status: "connected", expiresAt: null });
    expect((await (await machine()).ask()).status).toBe(200);
  });

  test("is revoked when the secret is deleted, and the earlier one when another client is connected", async () => {
    await connect();
    const [first] = [...servers.provider.refreshTokens.keys()].slice(-1);
    await connect();
    await expect.poll(() => servers.provider.revoked, { timeout: 20_000 }).toContain(first);
    const [second] = [...servers.provider.refreshTokens.keys()].slice(-1);
    const ada = await machine();
    const placeholder = ada.placeholder();
    await owner.call("DELETE", `/secrets/${name}`);
    await expect.poll(() => servers.provider.revoked, { timeout: 20_000 }).toContain(second);
    expect((await ada.ask(placeholder)).status).toBe(401);
  });

  test("is shown to a machine as the placeholder where the server repeats it", async () => {
    await connect();
    const ada = await machine();
    servers.instead.set("mcp /mcp", (request, response) => response.end(request.headers.authorization));
    const { body } = await ada.ask();
    expect(body).toBe(`Bearer ${ada.placeholder()}`);
    expect((await ada.ask("none")).body).toBe("Bearer none");
  });

  test("is neither in the database in clear text, nor in events, the audit log, an export or a fork's settings", async () => {
    await connect();
    const ada = await machine();
    expect((await ada.ask()).status).toBe(200);
    await owner.call("POST", "/agents", { name: `fork-${count}`, from: { agent: `agent-${count}`, secrets: true } });
    const database = await databaseOf(people.service);
    const { rows } = await sql<{ text: string }>`
      select t::text as text from secret_logins t union all select t::text from workspace_secrets t
      union all select t::text from account_events t union all select t::text from agents t
      union all select t::text from audit_entries t union all select t::text from idempotency_keys t`.execute(database);
    await database.destroy();
    const places = {
      rows: rows.map(({ text }) => text).join("\n"),
      audit: JSON.stringify((await owner.call("GET", "/audit?limit=100")).body),
      secrets: JSON.stringify((await owner.call("GET", "/secrets")).body),
      agents: JSON.stringify((await owner.call("GET", `/agents/agent-${count}/secrets`)).body),
      archive: await (await owner.fetch("GET", `/agents/agent-${count}/export`)).text(),
      machines: JSON.stringify([...people.service.driver.provided.values()]),
    };
    for (const [place, text] of Object.entries(places)) {
      for (const canary of ["canary-token", "canary-refresh"]) {
        expect(text.includes(canary), `${canary} in ${place}`).toBe(false);
        expect(text.includes(Buffer.from(canary).toString("hex")), `${canary} in ${place}, as bytes`).toBe(false);
      }
    }
  });
});

/** Those of the workspace, of a type. */
async function eventsOf(type: string): Promise<Record<string, unknown>[]> {
  const database = await databaseOf(people.service);
  const { rows } = await sql<{ event: Record<string, unknown> }>`
    select event from account_events where event ->> 'type' = ${type}`.execute(database);
  await database.destroy();
  return rows.map(({ event }) => event);
}
