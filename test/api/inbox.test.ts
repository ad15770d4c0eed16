import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BerthError } from "../../src/contract/errors.ts";
import type { InboxItem } from "../../src/contract/inbox.ts";
import { cleanUp } from "../../src/upkeep/clean-up-store.ts";
import { TestClient } from "../support/client.ts";
import { NotifiedService, type Reached } from "../support/notified-service.ts";
import { inside } from "../support/people.ts";

// Items that wait for a person in a workspace. It is made from the account's events.

let notified: NotifiedService;

const patient = { timeout: 20_000 };

beforeAll(async () => {
  notified = await NotifiedService.start();
});
afterAll(() => notified?.[Symbol.asyncDispose]());

async function inboxOf({ client }: Reached, query = ""): Promise<InboxItem[]> {
  await notified.collect();
  const { status, body } = await client.call("GET", `/inbox${query}`);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.data;
}

async function unreadOf({ client }: Reached): Promise<number> {
  await notified.collect();
  const unread = (await client.call("GET", "/inbox/unread")).body as Record<string, number>;
  return Object.values(unread).reduce((sum, each) => sum + each, 0);
}

const typesOf = async (reached: Reached, query = "") => (await inboxOf(reached, query)).map(({ type }) => type);

/** A message whose turn waits for an approval; settles once it does. */
async function ask({ client }: Reached, agent: string): Promise<{ path: string; ended: Promise<unknown> }> {
  const body = { message: "use execute rm -rf build", include: ["approvals"] };
  const response = await client.fetch("POST", `/agents/${agent}/chat`, body);
  const path = `/agents/${agent}/turns/${response.headers.get("x-turn-id")}`;
  const ended = response.text().catch(() => {});
  const open = async () => (await client.call("GET", `${path}/approvals`)).body.data;
  await expect.poll(async () => (await open()).length, patient).toBe(1);
  return { path: `${path}/approvals/${(await open())[0].id}`, ended };
}

/** Connects to a host as a program of the agent that began last. */
async function reach(authority: string): Promise<void> {
  const { driver } = notified.people.service;
  const proxy = driver.proxyOf(driver.running.at(-1)!);
  const asked = request(proxy, { method: "CONNECT", path: authority }).end();
  const [response] = (await once(asked, "connect")) as [IncomingMessage];
  expect(response.statusCode).toBe(403);
  response.destroy();
}

const asks = { permissions: { execute: "ask" } };

describe("the inbox has", () => {
  test("the person's turns that completed and failed, newest first, with their message and reply", async () => {
    const person = await notified.newPerson();
    await person.client.createAgent("ada");
    const { turnId, text } = await person.client.chat("ada", "hello");
    await person.client.chat("ada", "crash");
    expect(await inboxOf(person)).toMatchObject([
      { kind: "failed", type: "turn.failed", agent: "ada", message: "crash", reply: null, read: false, count: 1 },
      { kind: "done", type: "turn.completed", turnId, message: "hello", reply: text, reason: null, conversation: 1 },
    ]);
    expect((await person.client.call("GET", "/inbox/unread")).body).toEqual({
      ...{ asks: 0, failed: 1, done: 1, costs: 0, blocked: 0 },
    });
  });

  test("an approval until it is answered", async () => {
    const person = await notified.newPerson();
    await person.client.createAgent("ada", asks);
    const { path, ended } = await ask(person, "ada");
    expect(await inboxOf(person)).toMatchObject([{ kind: "asks", type: "turn.waiting", agent: "ada" }]);
    await person.client.call("POST", path, { decision: "allow" });
    expect((await person.client.call("GET", "/inbox?kind=asks")).body.data).toEqual([]);
    await ended;
    expect(await typesOf(person)).toEqual(["turn.completed"]);
  });

  test("held messages until they are released", async () => {
    const person = await notified.newPerson();
    await person.client.createAgent("ada");
    const response = await person.client.fetch("POST", "/agents/ada/chat", { message: "hang" });
    const ended = response.text();
    const queued = await person.client.fetch("POST", "/agents/ada/chat", { message: "next", whenBusy: "queue" });
    void queued.text().catch(() => {});
    await person.client.call("POST", `/agents/ada/turns/${response.headers.get("x-turn-id")}/cancel`);
    await ended;
    // The turn that the person stopped is no item.
    expect(await typesOf(person)).toEqual(["turn.held"]);
    await person.client.call("POST", "/agents/ada/queue", { action: "discard" });
    expect(await typesOf(person)).toEqual([]);
  });

  test("a refused host once for each agent, until a rule is about it", async () => {
    const person = await notified.newPerson();
    await person.client.createAgent("ada");
    await person.client.call("PUT", "/agents/ada/network", { allow: ["example.com"], deny: [], ask: true });
    await person.client.chat("ada", "crash");
    await reach("api.example.org:443");
    const blocked = async () =>
      (await inboxOf(person, "?kind=blocked")).map(({ host, port, count }) => [host, port, count]);
    await expect.poll(blocked, patient).toEqual([["api.example.org", 443, 1]]);
    await person.client.call("POST", "/inbox/read", { agent: "ada" });
    await reach("api.example.org:443");
    await expect.poll(blocked, patient).toEqual([["api.example.org", 443, 2]]);
    expect(await unreadOf(person)).toBe(0);
    await person.client.call("PUT", "/agents/ada/network", { allow: ["*.example.org:80"], deny: [] });
    expect(await blocked()).toHaveLength(1);
    await person.client.call("PUT", "/agents/ada/network", { allow: ["*.example.org:443"], deny: [] });
    expect(await blocked()).toEqual([]);
  });

  test("a refused host until any list of the egress policy allows or denies it", async () => {
    const person = await notified.newPerson();
    await person.client.createAgent("ada");
    await person.client.chat("ada", "hello");
    const rules = async (allow: string[], deny: string[] = []) => {
      expect((await person.client.call("PUT", "/agents/ada/network", { allow, deny })).status).toBe(200);
    };
    const blocked = async () => (await inboxOf(person, "?kind=blocked")).map(({ host }) => host);
    for (const [host, others, allow, deny] of [
      ["198.51.100.7", ["198.51.101.0/24", "198.51.100.0/24:80"], ["198.51.100.0/24"]],
      ["[2001:db8::7]", ["2001:db8:1::/48"], ["2001:db8::/32"]],
      ["a.b.example.org", ["*.b.example.org:80", "b.example.org"], ["*.example.org"]],
      ["example.net", ["*.example.net"], [], ["*"]],
    ] satisfies [string, string[], string[], string[]?][]) {
      await rules(["example.com"]);
      await reach(`${host}:443`);
      const shown = host.replace(/[[\]]/g, "");
      await expect.poll(blocked, patient).toEqual([shown]);
      await rules(others);
      expect(await blocked()).toEqual([shown]);
      await rules(allow, deny);
      expect(await blocked()).toEqual([]);
    }
    await rules(["*"]);
    await sql`
      insert into account_events (account_id, event)
      select account_id, jsonb_build_object('type', 'host.refused', 'agent', name, 'host', 'example.org', 'port', 443,
        'reason', 'not_allowed_by_operator', 'count', 1) from agents
      where name = 'ada' and person_id = ${person.id}`.execute(notified.database);
    expect(await blocked()).toEqual(["example.org"]);
    await rules(["*"]);
    expect(await blocked()).toEqual([]);
  });

  test("an agent that failed until it works again, for its maker alone", async () => {
    const { owner, others } = await notified.newTeam("member");
    const [member] = others as [Reached];
    notified.people.service.driver.failures.push(new BerthError("disk_full", "The disk is full."));
    expect((await member.client.createAgent("ada")).body.status).toBe("failed");
    expect(await inboxOf(member)).toMatchObject([{ kind: "failed", type: "agent.failed", agent: "ada" }]);
    expect(await inboxOf(owner)).toEqual([]);
    expect(await member.client.call("POST", "/agents/ada/restart")).toMatchObject({ status: 200 });
    expect(await inboxOf(member)).toEqual([]);
  });

  test.each([
    ["secret", "secret.login_connected"],
    ["secret", "secret.deleted"],
    ["provider", "provider.login_connected"],
    ["provider", "provider.deleted"],
  ])("a sign-in of a %s that failed, for owners and admins, until %s", async (noun, end) => {
    const { owner, others } = await notified.newTeam("member");
    const [member] = others as [Reached];
    const { id } = (await owner.client.call("GET", "/me")).body.workspace;
    const report = (type: string, more: object = {}) =>
      sql`
      insert into account_events (account_id, event)
      values (${id}, ${JSON.stringify({ type, [noun]: "example", ownerId: null, ...more })}::jsonb)`.execute(
        notified.database,
      );
    await report(`${noun}.login_failed`, { error: { code: "x", message: "The grant has ended." } });
    expect(await inboxOf(owner)).toMatchObject([
      { kind: "failed", type: `${noun}.login_failed`, [noun]: "example", reason: "The grant has ended." },
    ]);
    expect(await inboxOf(member)).toEqual([]);
    await report(end);
    expect(await inboxOf(owner)).toEqual([]);
  });

  test("an automation once, as its last run was", async () => {
    const person = await notified.newPerson();
    await person.client.createAgent("ada");
    const trigger = { type: "schedule", cron: "0 3 1 1 *", timeZone: "UTC" };
    const automation = { name: "nightly", agent: "ada", message: "crash", trigger };
    expect((await person.client.call("POST", "/automations", automation)).status).toBe(201);
    const run = async (count: number) => {
      await person.client.call("POST", "/automations/nightly/run");
      await expect.poll(async () => (await inboxOf(person))[0]?.count, patient).toBe(count);
    };
    await run(1);
    await run(2);
    const found = await inboxOf(person);
    expect(found).toMatchObject([{ kind: "failed", type: "run.failed", automation: "nightly", agent: "ada" }]);
    await person.client.call("DELETE", "/automations/nightly");
    expect(await inboxOf(person)).toEqual([]);
  });

  test("what concerns the workspace, for owners and admins, until it is over", async () => {
    const { owner, others } = await notified.newTeam("admin", "member", "viewer");
    const { id } = (await owner.client.call("GET", "/me")).body.workspace;
    const balance = (credits: number) =>
      sql`update accounts set balance = ${credits * 1_000_000} where id = ${id}`.execute(notified.database);
    const before = (await owner.client.call("GET", "/billing")).body.balance;
    await balance(-1);
    const all = [owner, ...others];
    const counts = async () => Promise.all(all.map(async (each) => (await inboxOf(each, "?kind=costs")).length));
    expect(await counts()).toEqual([1, 1, 0, 0]);
    await balance(Number(before));
    expect(await counts()).toEqual([0, 0, 0, 0]);
  });
});

describe("the inbox leaves out", () => {
  test("turns of keys that completed, but not those that failed", async () => {
    const person = await notified.newPerson();
    await person.client.createAgent("ada");
    const { key } = (await person.client.call("POST", "/keys", {})).body;
    const program = new TestClient(person.client.url, key);
    await program.chat("ada", "hello");
    await program.chat("ada", "crash");
    expect(await typesOf(person)).toEqual(["turn.failed"]);
  });

  test("other people's turns and private agents, and everything of agents with `none`", async () => {
    const { owner, others } = await notified.newTeam("member");
    const [member] = others as [Reached];
    await member.client.call("PATCH", "/me/profile", { notify: "all" });
    await owner.client.createAgent("ada", { ...asks, private: true });
    await owner.client.createAgent("bea", asks);
    for (const agent of ["ada", "bea"]) await ask(owner, agent);
    expect((await inboxOf(owner)).map(({ agent }) => agent)).toEqual(["bea", "ada"]);
    expect((await inboxOf(member)).map(({ agent }) => agent)).toEqual(["bea"]);
    await owner.client.call("PATCH", "/agents/bea", { private: true });
    expect(await inboxOf(member)).toEqual([]);
    await owner.client.call("PUT", "/me/profile/agents/bea", { notify: "none" });
    await owner.client.createAgent("cleo");
    await owner.client.call("PUT", "/me/profile/agents/cleo", { notify: "none" });
    await owner.client.chat("cleo", "crash");
    expect((await inboxOf(owner)).map(({ agent }) => agent)).toEqual(["bea", "ada"]);
  });

  test("deleted agents, and everything for those who left", async () => {
    const { owner, others } = await notified.newTeam("member");
    const [member] = others as [Reached];
    await owner.client.createAgent("ada");
    await member.client.chat("ada", "crash");
    expect(await typesOf(member)).toEqual(["turn.failed"]);
    await owner.client.call("DELETE", "/agents/ada");
    await expect.poll(() => inboxOf(member), patient).toEqual([]);
    await owner.client.createAgent("bea");
    await member.client.chat("bea", "crash");
    expect(await typesOf(member)).toEqual(["turn.failed"]);
    await member.client.call("DELETE", `/workspaces/${owner.client.workspace}/members/${member.id}`);
    const { rows } = await sql`select from inbox_items where person_id = ${member.id}`.execute(notified.database);
    expect(rows).toHaveLength(0);
  });
});

describe("a turn whose end the person has seen", () => {
  test("makes no item, whether it would be there already or later", async () => {
    const person = await notified.newPerson({ notify: "all" });
    await person.client.createAgent("ada");
    const seen = (turnId: string) => person.client.call("POST", "/inbox/read", { agent: "ada", turnId });
    for (const isThere of [true, false]) {
      const { turnId } = await person.client.chat("ada", "hello");
      if (isThere) expect(await typesOf(person)).toEqual(["turn.completed"]);
      expect((await seen(turnId)).status).toBe(200);
      expect([await typesOf(person), await typesOf(person, "?unread=true")]).toEqual([[], []]);
    }
    // The first one had its notification before it was seen, which is dropped when it is due.
    expect(await notified.waiting(person)).toEqual(["turn.completed"]);
  });

  test("is read if it failed, and is not reported", async () => {
    const person = await notified.newPerson();
    await person.client.createAgent("ada");
    const { turnId } = await person.client.chat("ada", "crash");
    await person.client.call("POST", "/inbox/read", { agent: "ada", turnId });
    expect(await inboxOf(person)).toMatchObject([{ kind: "failed", read: true }]);
    expect(await notified.waiting(person)).toEqual([]);
    await person.client.chat("ada", "crash");
    expect((await inboxOf(person)).map(({ read }) => read)).toEqual([false, true]);
  });

  test("is another's that another has seen, and of an agent of the workspace", async () => {
    const { owner, others } = await notified.newTeam("member");
    await owner.client.createAgent("ada");
    const { turnId } = await owner.client.chat("ada", "hello");
    const member = inside(others[0]!.client, owner.client.workspace!);
    expect((await member.call("POST", "/inbox/read", { agent: "ada", turnId })).body.changed).toBe(0);
    const stranger = await notified.newPerson();
    expect((await stranger.client.call("POST", "/inbox/read", { agent: "ada", turnId })).body.changed).toBe(0);
    expect(await typesOf(owner)).toEqual(["turn.completed"]);
    const { rows } = await sql`select from seen_turns where person_id = ${stranger.id}`.execute(notified.database);
    expect(rows).toEqual([]);
  });

  test("is chosen with its agent, by a valid id", async () => {
    const { client } = await notified.newPerson();
    const turnId = crypto.randomUUID();
    for (const selection of [{ turnId }, { agent: "ada", turnId: "first" }]) {
      expect((await client.call("POST", "/inbox/read", selection)).status).toBe(400);
    }
    expect((await client.call("POST", "/inbox/read", { agent: "ada", turnId })).body.changed).toBe(0);
  });
});

describe("items", () => {
  test("are listed in pages and by agent, kind and unread", async () => {
    const person = await notified.newPerson();
    for (const name of ["ada", "bea"]) await person.client.createAgent(name);
    await person.client.chat("ada", "crash");
    await person.client.chat("bea", "hello");
    await person.client.chat("ada", "hello");
    const first = await inboxOf(person);
    const page = (await person.client.call("GET", "/inbox?limit=2")).body;
    const rest = (await person.client.call("GET", `/inbox?limit=2&cursor=${page.nextCursor}`)).body;
    expect([...page.data, ...rest.data]).toEqual(first);
    expect(rest.nextCursor).toBe(null);
    expect(await typesOf(person, "?agent=ada&kind=done")).toEqual(["turn.completed"]);
    await person.client.call("POST", "/inbox/read", { ids: [first[0]!.id] });
    expect(await inboxOf(person, "?unread=true")).toHaveLength(2);
    expect(await inboxOf(person, "?unread=false")).toMatchObject([{ id: first[0]!.id, read: true }]);
    expect((await person.client.call("GET", "/inbox?kind=other")).body.message).toMatch(/kind.*asks/s);
    expect((await person.client.call("GET", "/inbox?cursor=x")).status).toBe(400);
  });

  test("that arrive after the list stay unread", async () => {
    const person = await notified.newPerson();
    await person.client.createAgent("ada");
    await person.client.chat("ada", "crash");
    const [{ position }] = (await inboxOf(person)) as [InboxItem];
    await person.client.chat("ada", "crash");
    await notified.collect();
    const { body } = await person.client.call("POST", "/inbox/read", { upTo: position });
    expect(body).toMatchObject({ changed: 1, unread: { failed: 1 } });
    expect((await person.client.call("POST", "/inbox/dismiss", { upTo: position })).body.changed).toBe(1);
    expect(await inboxOf(person)).toHaveLength(1);
  });

  test("of a conversation that was opened are read, and completed turns leave", async () => {
    const person = await notified.newPerson();
    await person.client.createAgent("ada");
    await person.client.chat("ada", "hello");
    await person.client.chat("ada", "crash");
    await notified.collect();
    await person.client.call("POST", "/inbox/read", { agent: "ada", conversation: 2 });
    expect(await unreadOf(person)).toBe(2);
    await person.client.call("POST", "/inbox/read", { agent: "ada", conversation: 1 });
    expect(await inboxOf(person)).toMatchObject([{ type: "turn.failed", read: true }]);
  });

  test("are the person's alone", async () => {
    const [one, other] = [await notified.newPerson(), await notified.newPerson()];
    await one.client.createAgent("ada");
    await one.client.chat("ada", "crash");
    const [{ id }] = (await inboxOf(one)) as [InboxItem];
    expect(await inboxOf(other)).toEqual([]);
    expect((await other.client.call("DELETE", `/inbox/${id}`)).body.code).toBe("inbox_item_not_found");
    expect((await other.client.call("POST", "/inbox/read", { ids: [id] })).body.changed).toBe(0);
    expect(await unreadOf(one)).toBe(1);
    expect((await one.client.call("DELETE", `/inbox/${id}`)).status).toBe(204);
    expect((await one.client.call("DELETE", `/inbox/${id}`)).status).toBe(404);
    const { key } = (await one.client.call("POST", "/keys", {})).body;
    expect((await new TestClient(one.client.url, key).call("GET", "/inbox")).status).toBe(403);
  });

  test.each([
    [{}, /Either ids, or agent, upTo or both/],
    [{ ids: [] }, /ids/],
    [{ ids: ["x"] }, /ids\.0/],
    [{ ids: ["4f9c0f3c-6a5e-4a5b-9a53-2a1d7a3d8f10"], upTo: 1 }, /Either ids/],
    [{ conversation: 1, upTo: 1 }, /conversation requires agent/],
    [{ upTo: -1 }, /upTo/],
  ])("cannot be chosen by %j", async (body, message) => {
    const person = await notified.newPerson();
    const answer = await person.client.call("POST", "/inbox/read", body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(message);
  });

  test("are up to 500, and go after 30 days", async () => {
    const person = await notified.newPerson();
    await person.client.createAgent("ada");
    await person.client.chat("ada", "crash");
    await sql`
      insert into account_events (account_id, event)
      select account_id, event || jsonb_build_object('type', 'host.refused', 'host', 'host-' || each, 'port', 443,
        'reason', 'not_allowed', 'count', 1)
      from account_events cross join generate_series(1, 520) each where event ->> 'status' = 'failed'
        and account_id = (select account_id from people where id = ${person.id})`.execute(notified.database);
    expect(await unreadOf(person)).toBe(500);
    expect(await typesOf(person, "?kind=failed")).toEqual([]);
    await sql`update inbox_items set at = now() - interval '31 days' where person_id = ${person.id}`.execute(
      notified.database,
    );
    await cleanUp(notified.database, notified.people.service.config, () => {});
    expect(await unreadOf(person)).toBe(0);
  });
});

test("an item that was read is not sent as a notification", async () => {
  const person = await notified.newPerson();
  await person.client.createAgent("ada");
  await person.client.chat("ada", "crash");
  expect(await notified.waiting(person)).toEqual(["turn.failed"]);
  await person.client.call("POST", "/inbox/read", { agent: "ada" });
  expect(await notified.arrive(person)).toEqual([]);
});
