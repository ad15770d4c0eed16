import { availableParallelism } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { databaseOf } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Machines that wait for agents which are not created yet. A spare is made when nothing was asked for ten seconds.

const forSpare = { timeout: 60_000, interval: 100 };
let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  service = await ScriptedService.start({ spares: 1, maximumAwake: 3 });
  client = service.client;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const machines = async () => (await service.driver.list()).map(({ id }) => id);
const idOf = async (name: string) => {
  const database = await databaseOf(service);
  const row = await database.selectFrom("agents").select("id").where("name", "=", name).executeTakeFirst();
  await database.destroy();
  return row?.id;
};
/** The machine that belongs to no agent, once one waits. */
async function spare(...agents: string[]): Promise<string> {
  const count = async () => (await client.call("GET", "/admin/capacity")).body.spares;
  await expect.poll(count, forSpare).toEqual({ used: 1, limit: 1, reason: null });
  const taken = await Promise.all(agents.map(idOf));
  return (await machines()).find((id) => !taken.includes(id))!;
}

test("an agent takes the machine that waits, with an identity and a conversation of its own", async () => {
  const waiting = await spare();
  const { status, body } = await client.call("POST", "/agents?wait=ready", { name: "ada" }, { "idempotency-key": "a" });
  expect({ status, agent: body.status }).toEqual({ status: 201, agent: "ready" });
  expect(await idOf("ada")).toBe(waiting);
  expect(await client.ask("ada", "recall")).toBe("recall\n");
  const again = await client.call("POST", "/agents?wait=ready", { name: "ada" }, { "idempotency-key": "a" });
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect((await client.call("GET", "/agents/ada/install-status")).body).toMatchObject({ status: "installed" });
});

test("another runtime, another size and a name that is taken do not take it", async () => {
  const waiting = await spare("ada");
  await client.createAgent("bob", { runtime: "opencode" });
  expect(await idOf("bob")).not.toBe(waiting);
  expect((await client.call("POST", "/agents", { name: "ada" })).status).toBe(409);
  await client.call("DELETE", "/agents/bob");
  await client.createAgent("bob", { resources: { memoryMiB: 2048 } });
  expect(await idOf("bob")).not.toBe(waiting);
});

test("a spare that dies is replaced, and nobody waits for it", async () => {
  const waiting = await spare("ada", "bob");
  await service.driver.kill(waiting);
  await client.call("DELETE", "/agents/bob");
  await client.createAgent("bob");
  expect(await idOf("bob")).not.toBe(waiting);
  expect(await client.ask("bob", "hello")).toBe("hello");
});

test("a spare goes first when a place is short, and none is made meanwhile", async () => {
  const waiting = await spare("ada", "bob");
  expect((await client.call("GET", "/admin/capacity")).body.machines).toEqual({ used: 3, limit: 3 });
  await client.createAgent("cleo", { runtime: "opencode" });
  expect(await machines()).not.toContain(waiting);
  for (const name of ["ada", "bob", "cleo"])
    expect((await client.call("GET", `/agents/${name}`)).body.status).toBe("ready");
});

test("a server that starts removes the spares of the one before it", async () => {
  await client.call("DELETE", "/agents/cleo");
  const waiting = await spare("ada", "bob");
  await service.restart();
  client = service.client;
  await expect.poll(machines, forSpare).not.toContain(waiting);
  expect(await client.ask("ada", "hello")).toBe("hello");
});

test("a spare that is being made gives way to agents that answer, and the capacity says why there is none", async () => {
  // As many as keep half of the processors busy.
  const names = Array.from({ length: Math.ceil(availableParallelism() / 2) }, (_, at) => `agent-${at}`);
  await using service = await ScriptedService.start({ spares: 1, maximumAwake: names.length + 1 });
  const { client, driver } = service;
  for (const name of names) await client.createAgent(name);
  const opened = Promise.withResolvers<void>();
  driver.gate = opened.promise;
  const reason = async () => (await client.call("GET", "/admin/capacity")).body.spares.reason;
  await expect.poll(reason, forSpare).toBe("A spare of claude-code is being made.");
  await expect.poll(() => driver.waiting).toBe(1);
  const replies = names.map((name) => client.fetch("POST", `/agents/${name}/chat`, { message: "count 3000 10" }));
  await Promise.all(replies);
  await expect.poll(reason, forSpare).toBe("Agents are starting or answering.");
  opened.resolve();
  await expect.poll(() => driver.waiting).toBe(0);
  await expect.poll(() => driver.list()).toHaveLength(names.length);
  for (const reply of await Promise.all(replies)) await reply.body?.cancel();
  for (const name of names) {
    const { data } = (await client.call("GET", `/agents/${name}/turns`)).body;
    await client.call("POST", `/agents/${name}/turns/${data[0].id}/cancel`);
  }
  await expect.poll(reason, forSpare).toBeNull();
});

test("no spare is made while the processors are busy, and the capacity says so", async () => {
  await using service = await ScriptedService.start({ spares: 1, spareLoad: 0 });
  const reason = async () => (await service.client.call("GET", "/admin/capacity")).body.spares.reason;
  await expect
    .poll(reason, forSpare)
    .toMatch(/^The host's processors are \d+ % busy\. The limit is 0 % \(BERTH_SPARE_LOAD\)\.$/);
});
