import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { databaseOf, newKey } from "../support/accounts.ts";
import { importArchive } from "../support/archives.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let client: TestClient;
let number = 0;
/** Each test has an agent of its own. */
let agent: string;

beforeAll(async () => {
  service = await ScriptedService.start();
});
beforeEach(async () => {
  client = service.client;
  agent = `agent-${++number}`;
  await client.createAgent(agent);
});
afterAll(() => service[Symbol.asyncDispose]());

const path = () => `/agents/${agent}/conversations`;
const create = (fields: object = {}, by = client) => by.call("POST", path(), fields);
const list = async (query = "", by = client) => (await by.call("GET", path() + query)).body.data;
const use = (id: number) => client.call("PATCH", `${path()}/${id}`, { current: true });
const currentNumber = async () => (await client.call("GET", `/agents/${agent}`)).body.conversation;
const reset = () => client.call("POST", `/agents/${agent}/conversation/reset`);

/** Sends a message to a conversation, by default to the current one. Returns the reply's text. */
async function ask(message: string, conversation?: number, by = client): Promise<string> {
  const response = await by.fetch("POST", `/agents/${agent}/chat`, { message, conversation });
  if (response.status !== 200) throw Object.assign(new Error("refused"), { body: await response.json() });
  const events = await Array.fromAsync(eventsOf(response));
  return events.map(({ event }) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
}

async function turnsOf(conversation: number): Promise<string[]> {
  const { body } = await client.call("GET", `/agents/${agent}/turns?conversation=${conversation}`);
  return body.data.map(({ message }: { message: string }) => message);
}

test("an agent has one conversation at first, titled by its first message", async () => {
  expect(await list()).toEqual([
    {
      id: 1,
      title: null,
      current: true,
      forkedFrom: null,
      createdBy: null,
      createdAt: expect.any(String),
      lastTurnAt: null,
    },
  ]);
  await ask("Fix the build\nplease");
  await ask("and the tests");
  expect(await list()).toMatchObject([{ id: 1, title: "Fix the build", lastTurnAt: expect.any(String) }]);
});

test("conversations alternate and each remembers only its own, also after restarts", async () => {
  const created = await create({ title: "Second" });
  expect(created).toMatchObject({ status: 201, body: { id: 2, title: "Second", current: false } });
  await ask("red", 1);
  await ask("blue", 2);
  await ask("rose", 1);
  expect(await ask("recall", 2)).toBe("blue\nrecall\n");
  expect(await ask("recall")).toBe("red\nrose\nrecall\n");
  await client.restartAgent(agent);
  expect(await ask("recall", 2)).toBe("blue\nrecall\nrecall\n");
  await service.restart();
  client = service.client;
  expect(await ask("recall", 1)).toBe("red\nrose\nrecall\nrecall\n");
  expect(await turnsOf(1)).toEqual(["recall", "recall", "rose", "red"]);
  expect(await turnsOf(2)).toEqual(["recall", "recall", "blue"]);
  expect(await turnsOf(3)).toEqual([]);
});

test("the list has the newest activity first, in pages, and those since a time", async () => {
  for (const id of [2, 3, 4]) expect((await create()).body.id).toBe(id);
  const before = new Date().toISOString();
  await ask("again", 2);
  const all = await list();
  expect(all.map(({ id }: { id: number }) => id)).toEqual([2, 4, 3, 1]);
  const first = (await client.call("GET", `${path()}?limit=3`)).body;
  const second = (await client.call("GET", `${path()}?limit=3&cursor=${first.nextCursor}`)).body;
  expect([...first.data, ...second.data]).toEqual(all);
  expect(second.nextCursor).toBeNull();
  expect(await list(`?since=${before}`)).toMatchObject([{ id: 2 }]);
  expect((await client.call("GET", `${path()}?cursor=nonsense`)).status).toBe(400);
});

test("another conversation is made current, and a reset creates one", async () => {
  await ask("one");
  expect((await reset()).body.conversation).toBe(2);
  await ask("two");
  expect((await use(1)).body).toMatchObject({ id: 1, current: true });
  expect(await currentNumber()).toBe(1);
  expect(await ask("recall")).toBe("one\nrecall\n");
  expect((await reset()).body.conversation).toBe(3);
  expect((await create({ current: true })).body).toMatchObject({ id: 4, current: true });
  expect(await ask("recall")).toBe("recall\n");
});

test("a title is set, kept, and checked", async () => {
  expect((await client.call("PATCH", `${path()}/1`, { title: "  日本語 🚢  " })).body.title).toBe("日本語 🚢");
  await ask("hello");
  expect((await list())[0].title).toBe("日本語 🚢");
  for (const title of ["", "a\nb", "x".repeat(201), null]) {
    expect(await client.call("PATCH", `${path()}/1`, { title })).toMatchObject({ status: 400 });
  }
  expect((await client.call("PATCH", `${path()}/1`, {})).body.message).toContain("At least one of title, current");
});

test("an unknown conversation is refused where it is named", async () => {
  const error = { statusCode: 404, code: "conversation_not_found", message: "The agent has no conversation 9." };
  expect(
    (await client.call("POST", `/agents/${agent}/chat`, { message: "hello", conversation: 9 })).body,
  ).toMatchObject(error);
  for (const [method, body] of [["GET"], ["PATCH", { title: "a" }], ["DELETE"]] as const) {
    expect((await client.call(method, `${path()}/9`, body)).body).toMatchObject(error);
  }
  expect((await client.call("GET", `${path()}/nine`)).body.code).toBe("conversation_not_found");
  expect((await client.call("POST", `/agents/${agent}/chat`, { message: "hello", conversation: 0 })).status).toBe(400);
});

describe("a queued message", () => {
  async function queue(message: string, conversation?: number): Promise<{ response: Response; id: string }> {
    const body = { message, conversation, whenBusy: "queue" };
    const response = await client.fetch("POST", `/agents/${agent}/chat`, body);
    return { response, id: response.headers.get("x-turn-id")! };
  }
  const conversationOf = async (id: string) =>
    (await client.call("GET", `/agents/${agent}/turns/${id}`)).body.conversation;

  test("goes to the conversation that it names, or else to the one that is current when it begins", async () => {
    await create();
    const first = await queue("hang");
    const named = await queue("named", 2);
    const other = await queue("other");
    await client.call("POST", `/agents/${agent}/turns/${first.id}/cancel`);
    await first.response.text();
    await create({ current: true });
    await client.call("POST", `/agents/${agent}/queue`, { action: "resume" });
    await Promise.all([named.response.text(), other.response.text()]);
    expect(await Promise.all([first, named, other].map(({ id }) => conversationOf(id)))).toEqual([1, 2, 3]);
    expect(await list()).toMatchObject([
      { id: 3, title: "other" },
      { id: 2, title: "named" },
      { id: 1, title: "hang" },
    ]);
  });

  test("keeps its conversation from being deleted", async () => {
    await create();
    const first = await queue("hang");
    const named = await queue("named", 2);
    expect((await client.call("DELETE", `${path()}/2`)).body).toMatchObject({
      code: "conversation_in_use",
      details: { reason: "turn", turnId: named.id },
    });
    for (const { id } of [named, first]) await client.call("POST", `/agents/${agent}/turns/${id}/cancel`);
    await Promise.all([named.response.text(), first.response.text()]);
    expect((await client.call("DELETE", `${path()}/2`)).status).toBe(204);
  });
});

test("during a turn no other conversation becomes current", async () => {
  await create();
  const response = await client.fetch("POST", `/agents/${agent}/chat`, { message: "hang" });
  const turnId = response.headers.get("x-turn-id");
  for (const answer of [await use(2), await create({ current: true }), await reset()]) {
    expect(answer.body).toMatchObject({ statusCode: 409, code: "turn_in_progress", details: { turnId } });
  }
  expect(await list()).toHaveLength(2);
  expect((await client.call("DELETE", `${path()}/1`)).body.details).toEqual({ reason: "current" });
  await client.call("POST", `/agents/${agent}/turns/${turnId}/cancel`);
  await Array.fromAsync(eventsOf(response));
});

test("a deleted conversation is gone with its turns; the ledger and the number stay", async () => {
  await create();
  await ask("count 5", 2);
  await ask("other", 1);
  const { data: entries } = (await client.call("GET", "/billing/entries")).body;
  expect((await client.call("DELETE", `${path()}/2`)).status).toBe(204);
  expect(await turnsOf(2)).toEqual([]);
  expect(await turnsOf(1)).toEqual(["other"]);
  expect((await client.call("GET", "/billing/entries")).body.data).toEqual(entries);
  await using database = await disposable();
  const orphans = database.selectFrom("turn_events").leftJoin("turns", "turns.id", "turn_id").select("seq");
  expect(await orphans.where("turns.id", "is", null).execute()).toEqual([]);
  expect((await create()).body.id).toBe(3);
  const [entry] = (await client.call("GET", "/audit?limit=100")).body.data.filter(
    ({ operation }: { operation: string }) => operation === "DELETE /agents/{name}/conversations/{conversation}",
  );
  expect(entry).toMatchObject({ agent, status: 204 });
});

async function disposable() {
  const database = await databaseOf(service);
  return Object.assign(database, { [Symbol.asyncDispose]: () => database.destroy() });
}

test("a request that is repeated with its idempotency key creates one conversation", async () => {
  const headers = { "idempotency-key": "create-once" };
  const first = await client.fetch("POST", path(), { title: "Once" }, headers);
  const again = await client.fetch("POST", path(), { title: "Once" }, headers);
  expect(await again.json()).toEqual(await first.json());
  expect(await list()).toHaveLength(2);
});

test("too many conversations are refused, and a reset drops the one that was used longest ago", async () => {
  await ask("one");
  await using database = await disposable();
  const { id } = await database.selectFrom("agents").select("id").where("name", "=", agent).executeTakeFirstOrThrow();
  const rows = Array.from({ length: 999 }, (_, index) => ({ agent_id: id, number: index + 2 }));
  await database.insertInto("conversations").values(rows).execute();
  await database.updateTable("agents").set({ last_conversation: 1_000 }).where("id", "=", id).execute();
  expect((await create()).body).toMatchObject({
    statusCode: 409,
    code: "too_many_conversations",
    message: "An agent can have up to 1000 conversations; delete one first.",
  });
  expect((await use(500)).status).toBe(200);
  expect((await reset()).body.conversation).toBe(1_001);
  const { count } = await database
    .selectFrom("conversations")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .where("agent_id", "=", id)
    .executeTakeFirstOrThrow();
  expect(Number(count)).toBe(1_000);
  expect(await turnsOf(1)).toEqual(["one"]);
});

test("an external agent key sees and uses only conversations that it created", async () => {
  const key = await newKey(client, { name: "external", kind: "agent", agents: [agent] });
  const other = await newKey(client, { name: "other", kind: "agent", agents: [agent] });
  await create();
  expect(await list("", key)).toEqual([]);
  const { body } = await create({ title: "Mine" }, key);
  expect(body).toMatchObject({ id: 3, title: "Mine", createdBy: null });
  expect(await ask("hello", 3, key)).toBe("hello");
  expect(await list("", key)).toMatchObject([{ id: 3 }]);
  for (const id of [1, 2]) {
    await expect(ask("hello", id, key)).rejects.toMatchObject({ body: { code: "conversation_not_found" } });
    expect((await key.call("GET", `${path()}/${id}`)).status).toBe(404);
  }
  await expect(ask("hello", 3, other)).rejects.toMatchObject({ body: { code: "conversation_not_found" } });
  expect((await create({ current: true }, key)).status).toBe(403);
  expect((await key.call("PATCH", `${path()}/3`, { title: "a" })).status).toBe(403);
  expect((await key.call("DELETE", `${path()}/3`)).status).toBe(403);
  expect((await client.call("GET", `${path()}/3`)).body.createdBy).toMatchObject({ kind: "key", name: "external" });
});

test("an external agent key has a number of conversations of its own", async () => {
  const key = await newKey(client, { name: "many", kind: "agent", agents: [agent] });
  for (let made = 0; made < 100; made++) expect((await create({}, key)).status).toBe(201);
  expect((await create({}, key)).body.message).toContain("up to 100 conversations");
  expect((await create()).status).toBe(201);
});

test("a rollback restores what each conversation remembered, and marks later turns in all of them", async () => {
  await create();
  await ask("one", 1);
  await ask("two", 2);
  const { body: snapshot } = await client.call("POST", `/agents/${agent}/snapshots`, { name: "before" });
  await ask("later", 1);
  await ask("late", 2);
  await create();
  await ask("new", 3);
  expect((await list(`?since=${snapshot.createdAt}`)).map(({ id }: { id: number }) => id)).toEqual([3, 2, 1]);
  await client.call("POST", `/agents/${agent}/rollback?wait=ready`, { snapshot: "before" });
  expect(await ask("recall", 1)).toBe("one\nrecall\n");
  expect(await ask("recall", 2)).toBe("two\nrecall\n");
  expect(await ask("recall", 3)).toBe("recall\n");
  const { data } = (await client.call("GET", `/agents/${agent}/turns`)).body;
  const undone = data.filter((turn: { undone: boolean }) => turn.undone);
  expect(undone.map(({ conversation }: { conversation: number }) => conversation)).toEqual([3, 2, 1]);
  expect((await create()).body.id).toBe(4);
});

test("a fork has the conversations of its source's state", async () => {
  await create({ title: "Second" });
  await ask("one", 1);
  await ask("two", 2);
  await client.call("POST", `/agents/${agent}/snapshots`, { name: "before" });
  await create({ title: "Third" });
  await ask("three", 3);
  const source = agent;
  for (const [snapshot, ids] of [
    [undefined, [3, 2, 1]],
    ["before", [2, 1]],
  ] as const) {
    agent = `${source}-${ids.length}`;
    await client.createAgent(agent, { from: { agent: source, snapshot } });
    const found = await list();
    expect(found.map(({ id }: { id: number }) => id)).toEqual(ids);
    expect(found.at(-2)).toMatchObject({ id: 2, title: "Second" });
    expect(await ask("recall", 2)).toBe("two\nrecall\n");
    expect(await ask("recall")).toBe("one\nrecall\n");
    expect((await create()).body.id).toBe(4);
  }
});

test("an archive has conversations and titles, and an import continues them", async () => {
  await create({ title: "Second" });
  await ask("one", 1);
  await ask("two", 2);
  const response = await client.fetch("GET", `/agents/${agent}/export`);
  agent = `${agent}-imported`;
  const archive = Buffer.from(await response.arrayBuffer());
  expect(await importArchive(client, archive, { query: `?wait=ready&name=${agent}` })).toMatchObject({ status: 201 });
  expect(await list()).toMatchObject([
    { id: 2, title: "Second" },
    { id: 1, title: "one" },
  ]);
  expect(await ask("recall", 2)).toBe("two\nrecall\n");
  expect(await ask("recall", 1)).toBe("one\nrecall\n");
  expect((await create()).body.id).toBe(3);
});

test("a conversation that another runtime held is replayed once to the new one", async () => {
  await create();
  await ask("My cat is Miez.", 2);
  await ask("hello", 1);
  const before = await currentNumber();
  await client.call("PATCH", `/agents/${agent}?wait=ready`, { runtime: "opencode" });
  expect(await currentNumber()).toBe(3);
  await ask("and now", 2);
  await ask("and then", 2);
  await using database = await disposable();
  const rows = await database
    .selectFrom("conversations")
    .innerJoin("agents", "agents.id", "agent_id")
    .leftJoin("retold_conversations as replay", "replay.id", "conversations.retold")
    .select(["number", "conversations.runtime", "replay.text"])
    .where("name", "=", agent)
    .orderBy("number")
    .execute();
  expect(before).toBe(1);
  expect(rows).toEqual([
    { number: 1, runtime: "claude-code", text: null },
    { number: 2, runtime: "opencode", text: expect.stringContaining("User: My cat is Miez.") },
    { number: 3, runtime: "opencode", text: expect.stringContaining("User: hello") },
  ]);
  expect(rows[1]!.text).not.toContain("and now");
  await client.call("PATCH", `/agents/${agent}?wait=ready`, { runtime: "claude-code" });
  expect(await ask("recall", 2)).toBe("recall\n");
  const { text } = await database
    .selectFrom("conversations")
    .innerJoin("agents", "agents.id", "agent_id")
    .innerJoin("retold_conversations as replay", "replay.id", "conversations.retold")
    .select("replay.text")
    .where("name", "=", agent)
    .where("number", "=", 2)
    .executeTakeFirstOrThrow();
  expect(text.match(/My cat is Miez/g)).toHaveLength(2);
  expect(text).toContain("User: and then");
});

test("conversations are among the account's events", async () => {
  const { body } = await create({ title: "First title" });
  await client.call("PATCH", `${path()}/${body.id}`, { title: "Second title" });
  await client.call("DELETE", `${path()}/${body.id}`);
  const response = await client.fetch("GET", "/events?after=0");
  const found: unknown[] = [];
  for await (const { event } of eventsOf(response)) {
    const { type, ...rest } = event as unknown as { type: string; agent?: string };
    if (!type.startsWith("conversation.") || rest.agent !== agent) continue;
    found.push({ type, ...rest });
    if (type === "conversation.deleted") break;
  }
  const about = { agent, conversation: 2, id: expect.any(Number), at: expect.any(String) };
  expect(found).toEqual([
    { type: "conversation.created", ...about, title: "First title" },
    { type: "conversation.changed", ...about, title: "Second title" },
    { type: "conversation.deleted", ...about },
  ]);
});
