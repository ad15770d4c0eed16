import { afterAll, beforeAll, expect, test } from "vitest";
import type { TurnSummary } from "../../src/contract/chat.ts";
import { newAccount } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The turns of all of an account's agents in one list.

let service: ScriptedService;
let owner: TestClient;
beforeAll(async () => {
  service = await ScriptedService.start();
  owner = await newAccount(service);
  for (const name of ["ada", "bea"]) await owner.createAgent(name);
});
afterAll(() => service[Symbol.asyncDispose]());

async function turnsOf(client: TestClient, query = ""): Promise<TurnSummary[]> {
  const { status, body } = await client.call("GET", `/turns?${query}`);
  expect([status, body]).toEqual([200, expect.anything()]);
  return body.data;
}

test("turns of all agents are listed, the newest first, with how they ended and how they begin", async () => {
  await owner.ask("ada", "one");
  await owner.ask("bea", `count ${1_000}`);
  await owner.chat("ada", "crash");
  const turns = await turnsOf(owner);
  expect(turns.map(({ agent, message, status }) => [agent, message, status])).toEqual([
    ["ada", "crash", "failed"],
    ["bea", "count 1000", "completed"],
    ["ada", "one", "completed"],
  ]);
  expect(turns[0]!.error).toMatchObject({ code: "runtime_failed" });
  expect(turns[1]!.reply).toHaveLength(400);
  expect(turns[1]!.reply).toMatch(/^1 2 3 4 /);
  const long = "a long message ".repeat(20);
  await owner.chat("bea", long);
  expect((await turnsOf(owner, "limit=1"))[0]!.message).toBe(long.slice(0, 200));
});

test("each page continues after the previous one", async () => {
  const all = await turnsOf(owner);
  const paged: TurnSummary[] = [];
  for (let query = "limit=1"; ; ) {
    const { data, nextCursor } = (await owner.call("GET", `/turns?${query}`)).body;
    paged.push(...data);
    if (nextCursor === null) break;
    query = `limit=1&cursor=${nextCursor}`;
  }
  expect(paged).toEqual(all);
});

test("with a time, only those that run or have ended since, however long ago they began", async () => {
  const running = await owner.fetch("POST", "/agents/ada/chat", { message: "hang" });
  const since = new Date().toISOString();
  expect((await turnsOf(owner, `since=${since}`)).map(({ message }) => message)).toEqual(["hang"]);
  await owner.ask("bea", "later");
  await owner.call("POST", `/agents/ada/turns/${running.headers.get("x-turn-id")}/cancel`);
  await running.text();
  const ended = await turnsOf(owner, `since=${since}`);
  expect(ended.map(({ message, status }) => [message, status])).toEqual([
    ["later", "completed"],
    ["hang", "cancelled"],
  ]);
  expect(await turnsOf(owner, `since=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
});

test("another account sees none of them", async () => {
  const other = await newAccount(service);
  await other.createAgent("ada");
  expect(await turnsOf(other)).toEqual([]);
  const [turn] = await turnsOf(owner, "limit=1");
  const cursor = Buffer.from(`${turn!.id}@${Date.parse(turn!.createdAt)}`).toString("base64url");
  expect(await turnsOf(other, `cursor=${cursor}`)).toEqual([]);
});

test.each(["since=yesterday", "cursor=bm90aGluZw", "limit=0", "agent=ada"])(
  "a list with %s is refused",
  async (query) => {
    expect(await owner.call("GET", `/turns?${query}`)).toMatchObject({
      status: 400,
      body: { code: "request_invalid" },
    });
  },
);
