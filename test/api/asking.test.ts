import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { databaseOf, newKey } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Agents that ask other agents of their account, as a tool of their turn.

let service: ScriptedService;
let client: TestClient;

const names = ["ada", "bob", "cleo", "dan", "eve"];

beforeAll(async () => {
  service = await ScriptedService.start();
  client = service.client;
  for (const name of names) await client.createAgent(name);
  for (const name of names)
    await allow(
      name,
      names.filter((other) => other !== name),
    );
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

async function allow(name: string, agents: string[]): Promise<void> {
  const { status, body } = await client.call("PATCH", `/agents/${name}`, { agents });
  expect({ status, agents: body.agents }).toEqual({ status: 200, agents });
}

const lastTurn = async (name: string) => (await client.call("GET", `/agents/${name}/turns?limit=1`)).body.data[0];

test("an agent asks another, whose turn says who asked", async () => {
  expect(await client.ask("ada", "consult bob count 3")).toBe("1 2 3 ");
  const [asking, asked] = [await lastTurn("ada"), await lastTurn("bob")];
  expect(asked).toMatchObject({ message: "count 3", askedBy: { agent: "ada", turnId: asking.id } });
  expect(asking.askedBy).toBeNull();
});

test("an agent knows whom it may ask, and what they are for", async () => {
  await client.call("PATCH", "/agents/bob", { instructions: "Bob counts." });
  const listed = JSON.parse(await client.ask("ada", "list-agents")) as { agents: Record<string, unknown>[] };
  expect(listed.agents.map(({ name }) => name)).toEqual(["bob", "cleo", "dan", "eve"]);
  expect(listed.agents[0]).toMatchObject({ runtime: "claude-code", about: "Bob counts." });
});

test("only agents that the owner named are asked, and only while they exist", async () => {
  await client.createAgent("guest");
  expect(await client.ask("ada", "consult guest hello")).toMatch(/^asking_refused: .*Allowed: bob, cleo, dan, eve\.$/);
  await allow("ada", ["guest"]);
  expect(await client.ask("ada", "consult guest hello")).toBe("hello");
  expect(await client.ask("ada", "consult bob hello")).toMatch(/Allowed: guest\.$/);
  await client.call("DELETE", "/agents/guest");
  expect(await client.ask("ada", "consult guest hello")).toMatch(/Allowed: none\.$/);
  await allow("ada", []);
  await allow("ada", ["bob", "cleo", "dan", "eve"]);
});

test("an agent's list of agents to ask rejects itself, an unknown agent and a repeated one", async () => {
  const change = (agents: unknown) => client.call("PATCH", "/agents/ada", { agents });
  expect(await change(["ada"])).toMatchObject({ status: 400, body: { message: /cannot call itself/ } });
  expect(await change(["bob", "nobody"])).toMatchObject({
    status: 404,
    body: { message: "There is no agent nobody." },
  });
  expect((await change(["bob", "bob"])).status).toBe(400);
  expect((await change("bob")).status).toBe(400);
  const made = await client.call("POST", "/agents", { name: "new-one", agents: ["nobody"] });
  expect(made.status).toBe(404);
});

test("a chain has three askings at most, and an agent that answers already is not asked", async () => {
  expect(await client.ask("ada", "consult bob consult cleo consult dan hello")).toBe("hello");
  expect(await client.ask("ada", "consult bob consult cleo consult dan consult eve hello")).toMatch(
    /^asking_refused: .*3 levels deep/,
  );
  expect(await client.ask("ada", "consult bob consult ada hello")).toMatch(/^turn_in_progress: /);
});

test("one message leads to a bounded number of turns", async () => {
  expect(await client.ask("ada", "consults 32 bob hello")).toBe("hello");
  expect(await client.ask("ada", "consults 33 bob hello")).toBe(
    "asking_refused: One message can cause up to 32 turns.",
  );
});

test("agents that are asked at the same moment do not pass the bound together", async () => {
  await allow("ada", ["bob", "cleo", "dan"]);
  const database = await databaseOf(service);
  await using _ = { [Symbol.asyncDispose]: () => database.destroy() };
  const answer = await database.transaction().execute(async (transaction) => {
    // Turns wait for their agents' rows.
    await sql`select from agents where name <> 'ada' for no key update`.execute(transaction);
    const asking = client.ask("ada", "consult-all hello");
    const waiting = async () => {
      const { rows } = await sql`select from pg_locks where not granted`.execute(transaction);
      return rows.length;
    };
    await expect.poll(waiting).toBeGreaterThan(0);
    await sql`
      insert into turns (id, agent_id, conversation, message, status, usage, asked_by, first_turn, depth)
      select gen_random_uuid(), (select id from agents where name = 'eve'), conversation, message, 'completed', usage, id, id, 1
      from turns cross join generate_series(1, 31)
      where status = 'running' and agent_id = (select id from agents where name = 'ada')`.execute(database);
    return { asking };
  });
  const answers = (await answer.asking).split("\n");
  expect(answers.toSorted()).toEqual([
    ...Array(2).fill("asking_refused: One message can cause up to 32 turns."),
    "hello",
  ]);
});

test("what turns ask of each other may cost so much and no more", async () => {
  await using poor = await ScriptedService.start({ askedCredits: "0" });
  await poor.client.createAgent("bob");
  await poor.client.createAgent("ada", { agents: ["bob"] });
  expect(await poor.client.ask("ada", "consult bob hello")).toMatch(/^insufficient_credits: .*BERTH_ASKED_CREDITS/);
});

test("what the turn of a key has others do counts for the key, which sees nothing of it", async () => {
  const key = await newKey(client, { kind: "agent", agents: ["ada"], creditLimit: "5" });
  expect(await key.ask("ada", "consult bob ask")).toMatch(/^200 /);
  const { body } = await client.call("GET", "/billing/entries?limit=1");
  expect(body.data[0]).toMatchObject({ kind: "model", agent: "bob" });
  const { id } = await lastTurn("bob");
  expect((await key.call("GET", `/agents/bob/turns/${id}`)).status).toBe(403);
});

test("a program that outlives its turn asks nobody", async () => {
  await client.ask("ada", "consult-later bob hello");
  await expect
    .poll(() => client.ask("ada", "recall"), { interval: 700 })
    .toContain("asking_refused: An agent can call others only");
});

test("a request that is none of the protocol's is refused", async () => {
  // The scripted runtime posts a model call to any path it is given.
  expect((await client.chat("ada", "ask /agents/mcp")).text).toMatch(/^4\d\d /);
  expect(await client.ask("ada", "consult bob hello")).toBe("hello");
});

test("what was asked for ends with the turn that asked", async () => {
  const asking = client.chat("ada", "consult bob hang");
  await expect.poll(async () => (await lastTurn("bob")).status).toBe("running");
  await client.call("POST", `/agents/ada/turns/${(await lastTurn("ada")).id}/cancel`);
  await asking;
  await expect.poll(async () => (await lastTurn("bob")).status).toBe("cancelled");
});

test("a server that starts again loses neither turn", async () => {
  void client.chat("ada", "consult bob count 60 100").catch(() => {});
  await expect.poll(async () => (await lastTurn("bob")).status).toBe("running");
  const { id } = await lastTurn("bob");
  await service.restart();
  client = service.client;
  await expect.poll(async () => (await lastTurn("bob")).status).toBe("completed");
  expect((await lastTurn("bob")).id).toBe(id);
});
