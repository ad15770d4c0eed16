import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TestClient } from "../support/client.ts";
import { Browser, SignInServers } from "../support/mcp-oauth-servers.ts";
import { inside, PeoplesService } from "../support/people.ts";

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

/** The whole of it, in the browser that began it. */
async function connect(fields: object = {}) {
  const begun = await begin(fields);
  expect(begun.body.message).toBeUndefined();
  const browser = new Browser();
  browser.take(begun);
  return browser.open(begun.body.authorizationUrl);
}

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
    const page = await new Browser().open(body.authorizationUrl);
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
});
