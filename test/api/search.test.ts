import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { SearchMatch } from "../../src/contract/search.ts";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import { importArchive } from "../support/archives.ts";
import type { Answer, TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let database: Database;
let client: TestClient;
/** Each test has an account of its own. */
beforeAll(async () => {
  service = await ScriptedService.start();
  database = await databaseOf(service);
});
beforeEach(async () => {
  client = await newAccount(service);
  await client.createAgent("ada");
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

const search = (q: string, query: Record<string, string> = {}, by = client): Promise<Answer> =>
  by.call("GET", `/search?${new URLSearchParams({ q, ...query })}`);

/** The list of results once everything that has ended is stored. */
async function found(q: string, query: Record<string, string> = {}, by = client): Promise<SearchMatch[]> {
  await stored();
  const { status, body } = await search(q, query, by);
  expect([status, body]).toEqual([200, expect.anything()]);
  return body.data;
}

async function stored(): Promise<void> {
  await expect.poll(waiting, { timeout: 10_000 }).toBe(0);
}

async function waiting(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from search_queue`.execute(database);
  return rows[0]!.count;
}

const textOf = ({ excerpt, matches }: SearchMatch) => matches.map(({ start, end }) => excerpt.slice(start, end));

test("messages and replies are found by their words, the newest turn first", async () => {
  const first = await client.chat("ada", "Deploy the gateway to Zürich");
  await client.chat("ada", "Nothing of the kind");
  const last = await client.chat("ada", "Is the zurich gateway up?");
  const results = await found("gateway zurich");
  expect(results.map(({ turnId, kind }) => [turnId, kind])).toEqual(
    [last, first].flatMap(({ turnId }) => [
      [turnId, "reply"],
      [turnId, "message"],
    ]),
  );
  expect(results.at(-1)).toEqual({
    agent: "ada",
    conversation: { id: 1, title: "Deploy the gateway to Zürich" },
    turnId: first.turnId,
    kind: "message",
    createdAt: expect.any(String),
    excerpt: "Deploy the gateway to Zürich",
    matches: [
      { start: 11, end: 18 },
      { start: 22, end: 28 },
    ],
  });
});

test("languages without spaces, emoji, other alphabets and quoted phrases are found", async () => {
  const messages = [
    "東京タワーで機械学習を学ぶ",
    "ผมกินข้าวแล้ว",
    "다른 학교에서",
    "Привет, Наташа!",
    "ship it 👍🏽",
    "the red rose",
  ];
  for (const message of messages) await client.chat("ada", message);
  for (const [q, expected] of [
    ["機械学習", "機械学習"],
    ["タワー", "タワー"],
    ["ข้าว", "ข้าว"],
    ["학교", "학교"],
    ["наташа", "Наташа"],
    ["👍", "👍🏽"],
    ['"red rose"', "red rose"],
  ] as const) {
    const results = await found(q);
    expect([q, results.map(textOf)[0]]).toEqual([q, [expected]]);
  }
  expect(await found('"rose red"')).toEqual([]);
  expect(await found("学習機械")).toEqual([]);
});

test("pages continue where the one before ended, and one agent's texts can be searched", async () => {
  await client.createAgent("bea");
  for (let count = 0; count < 4; count++) await client.chat(count % 2 === 0 ? "ada" : "bea", `needle ${count}`);
  const all = await found("needle");
  expect(all).toHaveLength(8);
  const pages: SearchMatch[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await search("needle", { limit: "3", ...(cursor && { cursor }) });
    pages.push(...body.data);
    cursor = body.nextCursor;
  }
  expect(pages).toEqual(all);
  expect((await found("needle", { agent: "bea" })).map(({ agent }) => agent)).toEqual(Array(4).fill("bea"));
  expect(await search("needle", { agent: "eve" })).toMatchObject({ status: 404, body: { code: "agent_not_found" } });
});

test("candidates that do not match are read up to a limit, and the page continues", async () => {
  await client.chat("ada", "red rose");
  await stored();
  await copies("rose then red", 500);
  const { body } = await search('"red rose"');
  expect(body).toMatchObject({ data: [], nextCursor: expect.any(String) });
  const next = await search('"red rose"', { cursor: body.nextCursor });
  expect(next.body.data).toHaveLength(2);
  expect(next.body.nextCursor).toBeNull();
});

/** Ended turns of ada, one millisecond apart, which are to be stored. */
async function copies(message: string, count: number): Promise<void> {
  const { body } = await client.call("GET", "/agents/ada/turns?limit=1");
  await sql`
    insert into turns
    select (jsonb_populate_record(turns, jsonb_build_object('id', gen_random_uuid(), 'message', ${message}::text,
      'created_at', now() + number * interval '1 millisecond'))).*
    from turns, generate_series(1, ${count}::integer) number where id = ${body.data[0].id}`.execute(database);
  await client.chat("ada", "one more");
  await stored();
}

test("bad searches are refused", async () => {
  for (const q of ["", "x".repeat(201), "?!", "a ".repeat(21)]) {
    expect(await search(q)).toMatchObject({ status: 400, body: { code: "request_invalid" } });
  }
  for (const query of [{ limit: "101" }, { cursor: "e30" }, { other: "1" }]) {
    expect(await search("x", query as Record<string, string>)).toMatchObject({ status: 400 });
  }
  expect((await client.call("GET", "/search")).status).toBe(400);
});

test("a search that takes too long is ended", async () => {
  await client.chat("ada", "needle");
  await stored();
  await database.transaction().execute(async (transaction) => {
    await sql`lock table search_texts in access exclusive mode`.execute(transaction);
    expect(await search("needle")).toMatchObject({
      status: 504,
      body: { code: "search_timeout", message: expect.stringContaining("add a word") },
    });
  });
  expect(await found("needle")).toHaveLength(2);
});

describe("a search finds nothing", () => {
  test("of another account", async () => {
    await client.chat("ada", "needle");
    expect(await found("needle", {}, await newAccount(service))).toEqual([]);
  });

  test("of turns that others than an external key started", async () => {
    await client.createAgent("bea");
    const key = await newKey(client, { kind: "agent", agents: ["ada"] });
    const other = await newKey(client, { kind: "agent", agents: ["ada", "bea"] });
    await client.chat("ada", "needle of the owner");
    const { turnId } = await key.chat("ada", "needle of the key");
    expect((await found("needle", {}, key)).map((result) => result.turnId)).toEqual([turnId, turnId]);
    expect(await found("needle", {}, other)).toEqual([]);
    expect(await search("needle", { agent: "bea" }, key)).toMatchObject({ status: 403, body: { code: "forbidden" } });
  });

  test("of deleted conversations and agents", async () => {
    await client.call("POST", "/agents/ada/conversations", {});
    await client.call("POST", "/agents/ada/chat", { message: "needle in two", conversation: 2 });
    await client.chat("ada", "needle in one");
    expect(await found("needle")).toHaveLength(4);
    await client.call("DELETE", "/agents/ada/conversations/2");
    expect((await search("needle")).body.data.map(({ conversation }: SearchMatch) => conversation.id)).toEqual([1, 1]);
    await client.call("DELETE", "/agents/ada");
    expect((await search("needle")).body.data).toEqual([]);
    await expect.poll(async () => (await client.call("GET", "/agents/ada")).status, { timeout: 10_000 }).toBe(404);
    expect((await search("needle")).body.data).toEqual([]);
  });
});

test("an imported agent's turns are found", async () => {
  await client.chat("ada", "needle");
  const archive = Buffer.from(await (await client.fetch("GET", "/agents/ada/export")).arrayBuffer());
  expect(await importArchive(client, archive, { query: "?name=copy" })).toMatchObject({ status: 201 });
  const results = await found("needle");
  expect(results.map(({ agent }) => agent).toSorted()).toEqual(["ada", "ada", "copy", "copy"]);
});

test("a steered message is found with the message of its turn", async () => {
  const listening = client.chat("ada", "listen 1");
  await expect
    .poll(async () => (await client.call("GET", "/agents/ada/files/.local/state/messages")).status, { timeout: 10_000 })
    .toBe(200);
  await client.call("POST", "/agents/ada/chat", { message: "a needle", whenBusy: "steer" });
  const { turnId } = await listening;
  expect((await found("needle")).find(({ kind }) => kind === "message")).toMatchObject({
    turnId,
    excerpt: "listen 1 a needle",
    matches: [{ start: 11, end: 17 }],
  });
});

test("turns whose removal is under way do not hold up others, nor the removal", async () => {
  await client.createAgent("bea");
  const { turnId } = await client.chat("bea", "needle to be removed");
  await stored();
  await sql`insert into search_queue (turn_id) values (${turnId})`.execute(database);
  await database.transaction().execute(async (transaction) => {
    await transaction.deleteFrom("turns").where("id", "=", turnId).execute();
    await client.chat("ada", "needle that stays");
    await expect.poll(async () => (await search("stays")).body.data.length, { timeout: 10_000 }).toBe(2);
  });
  expect((await found("needle")).map(({ agent }) => agent)).toEqual(["ada", "ada"]);
});
