import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ErrorBody } from "../../src/contract/agents.ts";
import { createKey } from "../../src/identity/keys.ts";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { signIn, useLink } from "../support/sign-in.ts";
import { StripeServer } from "../support/stripe-server.ts";

// Every operation of the interface with every kind of credential. What is expected is written here by hand, and not read
// from the table of routes, so that a mistake in the table is found.

interface Expected {
  full: "all" | "operator";
  token: "all" | "operator";
  /** An external agent key: of the agents that it names, or not at all. */
  agent: "named" | "no";
}

const account: Expected = { full: "all", token: "all", agent: "no" };
const chatting: Expected = { full: "all", token: "all", agent: "named" };
const operatorOnly: Expected = { full: "operator", token: "operator", agent: "no" };

const expected: Readonly<Record<string, Expected>> = {
  "GET /agents": chatting,
  "POST /agents": account,
  "GET /agents/{name}": chatting,
  "PATCH /agents/{name}": account,
  "DELETE /agents/{name}": account,
  "GET /agents/{name}/install-status": account,
  "GET /agents/{name}/logs": account,
  "POST /agents/{name}/suspend": account,
  "POST /agents/{name}/resume": account,
  "POST /agents/{name}/restart": account,
  "POST /agents/{name}/conversation/reset": account,
  "GET /agents/{name}/network": account,
  "PUT /agents/{name}/network": account,
  "GET /agents/{name}/network/log": account,
  "POST /agents/{name}/chat": chatting,
  "GET /agents/{name}/turns": account,
  // Of an external agent key, only the turns that it has begun.
  "GET /agents/{name}/turns/{turnId}/events": chatting,
  "POST /agents/{name}/turns/{turnId}/cancel": chatting,
  "GET /agents/{name}/secrets": account,
  "PUT /agents/{name}/secrets/{secret}": account,
  "DELETE /agents/{name}/secrets/{secret}": account,
  "GET /models": account,
  "GET /runtimes": account,
  "GET /keys": account,
  "POST /keys": account,
  "DELETE /keys/{id}": account,
  "POST /billing/top-ups": account,
  "GET /audit": account,
  "GET /account": account,
  "GET /billing": account,
  "PATCH /billing": account,
  "GET /billing/entries": account,
  "GET /billing/usage": account,
  "GET /admin/users": operatorOnly,
  "POST /admin/users": operatorOnly,
  "POST /admin/users/{name}/reset": operatorOnly,
  "POST /admin/users/{name}/disable": operatorOnly,
  "POST /admin/users/{name}/enable": operatorOnly,
  "GET /admin/credits": operatorOnly,
  "POST /admin/credits/grants": operatorOnly,
};

let provider: StripeServer;
let service: ScriptedService;
let owner: TestClient;
let stranger: TestClient;
/** Tokens of those who have signed in: the first user, whose account is the owner's, and another. */
let signedIn: TestClient;
let signedInStranger: TestClient;

const password = "correct horse battery";

beforeAll(async () => {
  provider = await StripeServer.start();
  service = await ScriptedService.start({ stripe: { secretKey: "sk", webhookSecret: "whsec", apiUrl: provider.url } });
  owner = service.client;
  stranger = await newAccount(service);
  await useLink(service.server.firstSignIn!, password, "olga");
  await useLink((await owner.call("POST", "/admin/users", { name: "simon" })).body.link, password);
  signedIn = await tokenOf("olga");
  signedInStranger = await tokenOf("simon");
  await owner.createAgent("another");
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

async function tokenOf(name: string): Promise<TestClient> {
  return new TestClient(owner.url, (await signIn(owner.url, name, password)).access_token);
}

/** What a call is made on: an agent, a key and a user of the owner's, new for each call, since some calls end them. */
interface Target {
  name: string;
  keyId: string;
  turnId: string;
  user: string;
}

/** A body where the operation needs one that is right. */
const bodies: Readonly<Record<string, (target: Target) => unknown>> = {
  "POST /agents": () => ({ name: `made-${randomUUID().slice(0, 8)}` }),
  "PATCH /agents/{name}": () => ({ instructions: "Be brief." }),
  "PUT /agents/{name}/network": () => ({ allow: ["*"], deny: [] }),
  "POST /agents/{name}/chat": () => ({ message: "hello" }),
  "PUT /agents/{name}/secrets/{secret}": () => ({ value: "hush", hosts: ["example.com"] }),
  "POST /keys": () => ({}),
  "POST /billing/top-ups": () => ({ credits: "100" }),
  "PATCH /billing": () => ({ monthlyLimit: null }),
  "POST /admin/credits/grants": ({ user }) => ({ user, credits: "5" }),
  "POST /admin/users": () => ({ name: `made-${randomUUID().slice(0, 8)}` }),
};

async function statusOf(operation: string, client: TestClient, target: Target): Promise<number> {
  const [method, path] = operation.split(" ") as [string, string];
  const { turnId, keyId } = target;
  const name = path.startsWith("/admin/users") ? target.user : target.name;
  const filled = path
    .replace("{name}", name)
    .replace("{turnId}", turnId)
    .replace("{id}", keyId)
    .replace("{secret}", "TOKEN");
  const { status, body } = await client.call(method, filled, bodies[operation]?.(target));
  if (status >= 400) expect(ErrorBody.parse(body).statusCode).toBe(status);
  return status;
}

/** `begunBy`: whose turn it is that the call may be about. */
async function newTarget(begunBy: (name: string) => Promise<TestClient>): Promise<Target> {
  const name = `agent-${randomUUID().slice(0, 8)}`;
  await owner.createAgent(name);
  const { turnId } = await (await begunBy(name)).chat(name, "hello");
  await owner.call("PUT", `/agents/${name}/secrets/TOKEN`, { value: "hush", hosts: ["example.com"] });
  const user = `user-${randomUUID().slice(0, 8)}`;
  await owner.call("POST", "/admin/users", { name: user });
  return { name, turnId, user, keyId: (await owner.call("POST", "/keys", {})).body.id };
}

const byOwner = async () => owner;
const ownersTarget = () => newTarget(byOwner);
const operations = Object.keys(expected);
const ofResource = (operation: string) => /\{(name|id)\}/.test(operation);

test("there is an expectation for each operation that needs credentials, and no other", async () => {
  const { paths } = (await owner.call("GET", "/openapi.json")).body;
  const guarded: string[] = [];
  for (const [path, methods] of Object.entries<Record<string, { security?: unknown }>>(paths)) {
    for (const [method, { security }] of Object.entries(methods)) {
      if (security) guarded.push(`${method.toUpperCase()} ${path}`);
    }
  }
  expect(guarded.sort()).toEqual([...operations].sort());
});

/** A key that was good, and is no more. */
async function ended(change: { expires_at?: Date; revoked_at?: Date }): Promise<TestClient> {
  const { body } = await owner.call("POST", "/keys", {});
  const database = await databaseOf(service);
  await database.updateTable("api_keys").set(change).where("id", "=", body.id).execute();
  await database.destroy();
  return new TestClient(owner.url, body.key);
}

const useless: [string, () => Promise<TestClient>][] = [
  ["no credential", async () => new TestClient(owner.url, "")],
  ["a broken key", async () => new TestClient(owner.url, `${owner.key.slice(0, -1)}!`)],
  ["a key that nobody has", async () => new TestClient(owner.url, createKey("full").key)],
  ["an expired key", () => ended({ expires_at: new Date(Date.now() - 1) })],
  ["a revoked key", () => ended({ revoked_at: new Date() })],
  ["a broken token", async () => new TestClient(owner.url, `${signedIn.key.slice(0, -4)}AAAA`)],
];

test.each(useless)("%s opens nothing", async (_case, make) => {
  const client = await make();
  const target = await ownersTarget();
  for (const operation of operations) {
    expect([operation, await statusOf(operation, client, target)]).toEqual([operation, 401]);
  }
});

test.each(operations)("%s with a full key of the account, and with a token", async (operation) => {
  const { full, token } = expected[operation]!;
  for (const [rule, client] of [
    [full, owner],
    [token, signedIn],
  ] as const) {
    const status = await statusOf(operation, client, await ownersTarget());
    expect(rule).toMatch(/^(all|operator)$/);
    expect(status === 409 || status < 300, `${status}`).toBe(true);
  }
});

test.each(operations)("%s with a full key of another account, and with another's token", async (operation) => {
  const { full, token } = expected[operation]!;
  for (const [rule, client] of [
    [full, stranger],
    [token, signedInStranger],
  ] as const) {
    const target = await ownersTarget();
    const status = await statusOf(operation, client, target);
    if (rule === "operator") expect(status).toBe(403);
    else if (ofResource(operation)) expect(status).toBe(404);
    else expect(status).toBeLessThan(300);
    expect((await owner.call("GET", `/agents/${target.name}`)).status).toBe(200);
  }
});

test.each(operations)("%s with an external key of this agent, and of another", async (operation) => {
  const { agent } = expected[operation]!;
  let key = owner;
  const target = await newTarget(async (name) => {
    key = await newKey(owner, { kind: "agent", agents: [name] });
    return key;
  });
  const status = await statusOf(operation, key, target);
  if (agent === "no") expect(status).toBe(403);
  else expect(status === 409 || status < 300, `${status}`).toBe(true);

  const ofAnother = await newKey(owner, { kind: "agent", agents: ["another"] });
  const refused = await statusOf(operation, ofAnother, await ownersTarget());
  if (agent === "no" || ofResource(operation)) expect(refused).toBe(403);
  else expect(refused).toBeLessThan(300);

  const foreign = await newKey(stranger, { kind: "agent", agents: [await strangersAgent()] });
  const hidden = await statusOf(operation, foreign, await ownersTarget());
  if (agent === "no") expect(hidden).toBe(403);
  else if (ofResource(operation)) expect(hidden).toBe(404);
  else expect(hidden).toBeLessThan(300);
});

async function strangersAgent(): Promise<string> {
  await stranger.call("POST", "/agents", { name: "their-own" });
  return "their-own";
}
