import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { databaseOf, newKey } from "../support/accounts.ts";
import { importArchive } from "../support/archives.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let client: TestClient;
let number = 0;
/** Each test has an agent of its own. */
let agent: string;

beforeAll(async () => {
  service = await ScriptedService.start();
  client = service.client;
});
beforeEach(async () => {
  agent = `agent-${++number}`;
  await client.createAgent(agent);
});
afterAll(() => service[Symbol.asyncDispose]());

const path = () => `/agents/${agent}/conversations`;

/** Sends a message to a conversation. Returns its turn's id. */
async function send(message: string, conversation = 1): Promise<string> {
  const response = await client.fetch("POST", `/agents/${agent}/chat`, { message, conversation });
  await response.text();
  return response.headers.get("x-turn-id")!;
}

const fork = (turn: string, fields: object = {}, by = client) => by.call("POST", path(), { ...fields, from: { turn } });

/** The messages in the text that is replayed to the runtime. */
async function replayed(conversation: number): Promise<string[]> {
  const database = await databaseOf(service);
  const row = await database
    .selectFrom("conversations")
    .innerJoin("agents", "agents.id", "agent_id")
    .leftJoin("retold_conversations as replay", "replay.id", "conversations.retold")
    .select("replay.text")
    .where("name", "=", agent)
    .where("number", "=", conversation)
    .executeTakeFirstOrThrow();
  await database.destroy();
  return Array.from((row.text ?? "").matchAll(/^User: (.*)$/gm), ([, message]) => message!);
}

test("a conversation continues from a turn, and knows nothing of later ones", async () => {
  await send("one");
  const two = await send("two");
  await send("three");
  const { status, body } = await fork(two, { title: "Other way" });
  expect([status, body]).toMatchObject([
    201,
    { id: 2, title: "Other way", current: false, forkedFrom: { conversation: 1, turnId: two } },
  ]);
  await send("four", 2);
  expect(await replayed(2)).toEqual(["one", "two"]);
  // One that continues from it has both.
  const five = await send("five", 2);
  await send("six", 2);
  expect((await fork(five)).body).toMatchObject({ id: 3, title: null, forkedFrom: { conversation: 2, turnId: five } });
  expect(await replayed(3)).toEqual(["one", "two", "four", "five"]);
  const { data } = (await client.call("GET", path())).body;
  expect(data.map(({ forkedFrom }: { forkedFrom: unknown }) => forkedFrom)).toEqual([
    { conversation: 2, turnId: five },
    { conversation: 1, turnId: two },
    null,
  ]);
});

test("it can be the current one, and a repeated request creates it once", async () => {
  const one = await send("one");
  const headers = { "idempotency-key": "fork-1" };
  const create = () => client.call("POST", path(), { current: true, from: { turn: one } }, headers);
  expect((await create()).body).toMatchObject({ id: 2, current: true });
  expect((await create()).body.id).toBe(2);
  await send("two", 2);
  expect(await replayed(2)).toEqual(["one"]);
});

test("what cannot be continued is refused", async () => {
  await send("one");
  await client.call("POST", `/agents/${agent}/snapshots`, { name: "then" });
  const two = await send("two");
  await client.call("POST", `/agents/${agent}/rollback?wait=ready`, { snapshot: "then" });
  expect((await fork(two)).body).toMatchObject({ code: "request_invalid", message: expect.stringContaining("undone") });
  expect((await fork("nonsense")).body.code).toBe("turn_not_found");
  expect((await fork(crypto.randomUUID())).body.code).toBe("turn_not_found");
  expect((await client.call("POST", path(), { from: {} })).body.message).toMatch(/from\.turn/);
  const response = await client.fetch("POST", `/agents/${agent}/chat`, { message: "hang" });
  const turnId = response.headers.get("x-turn-id")!;
  expect((await fork(turnId)).body).toMatchObject({ code: "turn_in_progress", details: { turnId } });
  await client.call("POST", `/agents/${agent}/turns/${turnId}/cancel`);
  await response.text();
  expect((await fork(turnId)).status).toBe(201);
});

test("an external agent key continues from its own turns alone", async () => {
  const key = await newKey(client, { name: "external", kind: "agent", agents: [agent] });
  const mine = await send("of the owner");
  expect((await fork(mine, {}, key)).body.code).toBe("forbidden");
  const { body } = await key.call("POST", path(), {});
  const response = await key.fetch("POST", `/agents/${agent}/chat`, { message: "of the key", conversation: body.id });
  await response.text();
  const forked = await fork(response.headers.get("x-turn-id")!, {}, key);
  expect(forked).toMatchObject({ status: 201, body: { forkedFrom: { conversation: body.id } } });
  expect(await replayed(forked.body.id)).toEqual(["of the key"]);
});

test("it outlives the conversation that it continues, a rollback, another runtime, a fork of the agent, and a move", async () => {
  await send("one", 1);
  await client.call("POST", path(), {});
  const two = await send("two", 2);
  await client.call("POST", `/agents/${agent}/snapshots`, { name: "then" });
  expect((await fork(two)).body.id).toBe(3);
  await client.call("DELETE", `${path()}/2`);
  expect((await client.call("GET", `${path()}/3`)).body.forkedFrom).toBeNull();
  expect(await replayed(3)).toEqual(["two"]);
  await send("three", 3);
  await client.call("POST", `/agents/${agent}/rollback?wait=ready`, { snapshot: "then" });
  await send("four", 3);
  expect(await replayed(3)).toEqual(["two"]);
  await client.call("PATCH", `/agents/${agent}?wait=ready`, { runtime: "opencode" });
  await send("five", 3);
  expect(await replayed(3)).toEqual(["two", "four"]);
  const archive = Buffer.from(await (await client.fetch("GET", `/agents/${agent}/export`)).arrayBuffer());
  const source = agent;
  agent = `${source}-fork`;
  await client.call("POST", "/agents?wait=ready", { name: agent, from: { agent: source } });
  expect(await replayed(3)).toEqual(["two", "four"]);
  agent = `${source}-moved`;
  expect(await importArchive(client, archive, { query: `?wait=ready&name=${agent}` })).toMatchObject({ status: 201 });
  await send("six", 3);
  expect(await replayed(3)).toEqual(["two", "four"]);
  await client.call("PATCH", `/agents/${agent}?wait=ready`, { runtime: "claude-code" });
  await send("seven", 3);
  expect(await replayed(3)).toEqual(["two", "four", "five", "six"]);
});
