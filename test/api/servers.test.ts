import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Caller } from "../../src/core/http/caller.ts";
import { passportHeader, sealPassport } from "../../src/hosts/passing/passport.ts";
import { ServerSeal } from "../../src/hosts/server-seal.ts";
import { newKey } from "../support/accounts.ts";
import { eventsOf, TestClient } from "../support/client.ts";
import { type Member, ServerGroup } from "../support/server-group.ts";
import { signIn, useLink } from "../support/sign-in.ts";

// Rules for three servers on one data folder, and what they believe of each other.

let group: ServerGroup;
let leader: Member;
let standby: Member;

beforeAll(async () => {
  const rateLimits = { requests: 60, account: 0, address: 0, agents: 5, keys: 0, hooks: 0 };
  group = await ServerGroup.start(3, { rateLimits, trustedProxies: ["127.0.0.1"] });
  leader = await group.leader();
  [standby] = (await group.others()) as [Member];
  await leader.client.createAgent("ada");
});
afterAll(() => group?.[Symbol.asyncDispose]());

/** The clients of all servers, with one new key. */
async function withKey(name: string): Promise<{ clients: TestClient[]; id: string }> {
  const { key } = await newKey(leader.client, { name });
  const { data } = (await leader.client.call("GET", "/keys")).body;
  const { id } = data.find((each: { name: string }) => each.name === name);
  return { clients: group.members.map(({ client }) => new TestClient(client.url, key)), id };
}

test("a key's requests are limited over all three, each counted once, whoever does it", async () => {
  const { clients } = await withKey("limited");
  const answers = await Promise.all(
    Array.from({ length: 90 }, (_, index) => clients[index % 3]!.call("GET", index % 2 ? "/agents/ada" : "/agents")),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(60);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
  // A passed-on answer says what is left, once.
  const { clients: others } = await withKey("unlimited");
  for (const client of others) {
    expect((await client.call("GET", "/agents/ada")).headers.get("ratelimit")).toMatch(/^"requests";r=5\d;t=\d+$/);
  }
});

test("an idempotency key holds over all three: one turn, and one agent", async () => {
  const { clients } = await withKey("idempotent");
  const headers = { "idempotency-key": randomUUID() };
  const chats = await Promise.all(
    clients.map((client) => client.fetch("POST", "/agents/ada/chat", { message: "count 5 10" }, headers)),
  );
  expect(chats.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set(chats.map((chat) => chat.headers.get("x-turn-id"))).size).toBe(1);
  const events = await Promise.all(chats.map((chat) => Array.fromAsync(eventsOf(chat))));
  expect(events[1]).toEqual(events[0]);
  expect(events[2]).toEqual(events[0]);

  const again = { "idempotency-key": randomUUID() };
  const made = await Promise.all(clients.map((client) => client.call("POST", "/agents", { name: "bob" }, again)));
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(made.filter((each) => each.headers.get("idempotent-replayed") === "true")).toHaveLength(2);
});

test("a key that is revoked at one server is refused by all, and its streams end", async () => {
  const { clients, id } = await withKey("revoked");
  const streams = await Promise.all(clients.map((client) => client.fetch("GET", "/agents/ada/logs?follow=true")));
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await standby.client.call("DELETE", `/keys/${id}`)).status).toBe(204);
  for (const client of clients) {
    await expect.poll(async () => (await client.call("GET", "/agents/ada")).status).toBe(401);
  }
  for (const stream of streams) await expect(stream.text()).rejects.toThrow();
});

test("a member who is removed at one server is refused by all, and their streams end", async () => {
  const { client } = leader;
  const { link } = (await client.call("POST", "/admin/users", { name: "mel" })).body;
  const password = "correct horse battery";
  await useLink(link, password);
  const { id: workspace } = (await client.call("GET", "/me")).body.workspace;
  const { token: invitation } = (await client.call("POST", `/workspaces/${workspace}/invitations`, {})).body;
  // Each server is the issuer of its own tokens here.
  const clients: TestClient[] = [];
  for (const {
    client: { url },
  } of group.members) {
    clients.push(new TestClient(url, (await signIn(url, "mel", password)).access_token, workspace));
  }
  const personal = new TestClient(clients[0]!.url, clients[0]!.key);
  expect((await personal.call("POST", `/invitations/${invitation}/accept`)).status).toBe(200);
  const streams = await Promise.all(clients.map((each) => each.fetch("GET", "/agents/ada/logs?follow=true")));
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  const { id } = (await clients[0]!.call("GET", "/me")).body.person;
  expect((await client.call("DELETE", `/workspaces/${workspace}/members/${id}`)).status).toBe(204);
  for (const each of clients) expect((await each.call("GET", "/agents/ada")).status).toBe(404);
  for (const stream of streams) await expect(stream.text()).rejects.toThrow();
});

test("a client that goes away from a standby is gone at the leader", async () => {
  const gone = new AbortController();
  const response = await fetch(`${standby.client.url}/agents/ada/logs?follow=true`, {
    headers: { authorization: `Bearer ${standby.client.key}` },
    signal: gone.signal,
  });
  expect(response.status).toBe(200);
  await expect.poll(() => openStreams(leader)).toBe(1);
  gone.abort();
  await expect.poll(() => openStreams(leader)).toBe(0);
});

async function openStreams({ client }: Member): Promise<number> {
  const text = String((await client.call("GET", "/metrics")).body);
  return Number(/berth_event_streams\{.*\} (\d+)/.exec(text)?.[1]);
}

test("the leader sees the client's own address, and the standby's word for it is in the audit log", async () => {
  const headers = { "x-forwarded-for": "203.0.113.7" };
  expect((await standby.client.call("POST", "/agents/ada/suspend", undefined, headers)).status).toBe(200);
  const { data } = (await leader.client.call("GET", "/audit?limit=1")).body;
  expect(data[0]).toMatchObject({ operation: "POST /agents/{name}/suspend", address: "203.0.113.7", status: 200 });
});

const somebody: Caller = {
  accountId: randomUUID(),
  personId: null,
  role: "owner",
  credential: "full",
  keyId: null,
  agentIds: null,
  creditLimitMicro: null,
  expiresAt: null,
  token: null,
  operator: true,
};

/** As a server would seal it, for the server `to`. */
function passport(secretKey: string, to: string, request: string) {
  const sealed = sealPassport(new ServerSeal(secretKey), to, request, {
    address: "203.0.113.9",
    caller: somebody,
    ticket: null,
    traceparent: null,
  });
  return { [passportHeader]: sealed };
}

test("a forged passport is ignored, and a good one is for one server and one request", async () => {
  const { secretKey } = leader.config;
  const server = (await group.lease()).server;
  const ask = (client: TestClient, headers: Record<string, string>) =>
    fetch(`${client.url}/agents/ada`, { headers }).then(({ status }) => status);

  const forged = passport(Buffer.alloc(32, 1).toString("base64"), server, "GET /agents/ada");
  expect(await ask(leader.client, forged)).toBe(401);
  for (const header of ["", "a.b", `${forged[passportHeader]}x`]) {
    expect(await ask(leader.client, { [passportHeader]: header })).toBe(401);
  }
  const authorization = `Bearer ${leader.client.key}`;
  expect(await ask(leader.client, { ...forged, authorization })).toBe(200);

  // This is what only a server can make: an unknown account has no agent.
  expect(await ask(leader.client, passport(secretKey!, server, "GET /agents/ada"))).toBe(404);
  // For another request, and for another server.
  expect(await ask(leader.client, passport(secretKey!, server, "GET /agents/bob"))).toBe(503);
  expect(await ask(leader.client, passport(secretKey!, randomUUID(), "GET /agents/ada"))).toBe(503);
});

test("a forwarded request is refused, not forwarded again", async () => {
  const { secretKey } = leader.config;
  // The leader's passport at a standby: as after a take-over.
  const headers = passport(secretKey!, (await group.lease()).server, "GET /agents/ada");
  const answer = await fetch(`${standby.client.url}/agents/ada`, { headers });
  expect([answer.status, answer.headers.get("berth-not-leading")]).toEqual([503, "1"]);
  expect(await answer.json()).toMatchObject({ code: "agent_elsewhere" });
});
