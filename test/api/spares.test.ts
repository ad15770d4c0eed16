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
  await expect.poll(count, forSpare).toEqual({ used: 1, limit: 1 });
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
