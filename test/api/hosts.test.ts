import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/store/embedded.ts";
import { databaseOf } from "../support/accounts.ts";
import { eventsOf, TestClient } from "../support/client.ts";
import { newFolder } from "../support/config.ts";
import { newDatabase } from "../support/new-database.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Several servers on one database, each with the machines of its own data folder; and a machine that is lost.

let folder: string;
let postgres: EmbeddedPostgres;

beforeAll(async () => {
  folder = await newFolder();
  postgres = await startEmbeddedPostgres(folder);
});
afterAll(async () => {
  await postgres.stop();
  await rm(folder, { recursive: true });
});

/** A new database, with the secret key that all servers on it have. */
async function sharedDatabase(name: string) {
  const { databaseUrl } = await newDatabase(postgres, folder, name);
  return { databaseUrl, secretKey: randomBytes(32).toString("base64") };
}

test("a second server on the database leaves the first one's agents alone, and says where they are not", async () => {
  const shared = await sharedDatabase("hosts");
  await using first = await ScriptedService.start(shared);
  const { client } = first;
  await client.createAgent("ada");
  await client.createAgent("bob");
  await client.call("POST", "/agents/bob/suspend");
  const include = ["status", "usage"];
  const running = await client.fetch("POST", "/agents/ada/chat", { message: "count 200 20", include });

  await using second = await ScriptedService.start(shared);
  const there = new TestClient(second.server.url, client.key);
  // It has taken up what is its own by now: an agent that it creates is ready.
  expect((await there.createAgent("eve")).body.status).toBe("ready");
  expect(second.driver.running).toHaveLength(1);
  expect(first.driver.running).toHaveLength(1);

  const listed = (await there.call("GET", "/agents")).body.data;
  expect(listed.map(({ name, status }: { name: string; status: string }) => [name, status])).toEqual([
    ["ada", "ready"],
    ["bob", "suspended"],
    ["eve", "ready"],
  ]);
  const turnId = running.headers.get("x-turn-id")!;
  const refused: [string, string, unknown?][] = [
    ["POST", "/agents/bob/chat", { message: "hello" }],
    ["POST", "/agents/bob/resume"],
    ["POST", "/agents/bob/restart"],
    ["POST", "/agents/ada/suspend"],
    ["PATCH", "/agents/ada", { instructions: "Answer briefly." }],
    ["POST", "/agents/bob/conversation/reset"],
    ["GET", "/agents/ada/logs"],
    ["POST", `/agents/ada/turns/${turnId}/cancel`],
    ["DELETE", "/agents/ada"],
  ];
  for (const [method, path, body] of refused) {
    const answer = await there.call(method, path, body);
    expect([path, answer.status, answer.body.code]).toEqual([path, 503, "agent_elsewhere"]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  // The turn goes on where it began, and can be read anywhere.
  const read = await there.events("ada", turnId);
  const events = await Array.fromAsync(eventsOf(running));
  expect(events.at(-1)!.event.type).toBe("response.completed");
  expect(read.events).toEqual(events);
  expect(await client.ask("bob", "still there?")).toBe("still there?");
});

test("a data folder that is used twice is refused, and one that moves keeps its agents", async () => {
  const shared = await sharedDatabase("moves");
  await using service = await ScriptedService.start(shared);
  await service.client.createAgent("ada");
  await expect(ScriptedService.start({ ...shared, dataFolder: service.config.dataFolder })).rejects.toThrow(/in use/);
  await service.restart();
  expect(await service.client.ask("ada", "hello")).toBe("hello");
});

test("a machine whose folder is lost fails its agent, and its owner chooses an empty one", async () => {
  await using service = await ScriptedService.start();
  const { client, driver } = service;
  await client.createAgent("ada");
  expect(await client.ask("ada", "remember this")).toBe("remember this");
  const [id] = driver.running;
  await client.call("POST", "/agents/ada/suspend");
  driver.kill(id!);
  await rm(join(service.config.dataFolder, "machines", id!), { recursive: true });

  const woken = await client.chat("ada", "hello");
  const last = woken.events.at(-1)!.event;
  expect(last).toMatchObject({ type: "response.failed", error: { code: "machine_lost" } });
  const failed = (await client.call("GET", "/agents/ada")).body;
  expect(failed).toMatchObject({ status: "failed", error: { code: "machine_lost" } });
  expect(failed.error.message).toMatch(/machine=new/);

  // A restart alone makes no empty agent of it either.
  expect((await client.restartAgent("ada")).body).toMatchObject({ status: "failed", error: { code: "machine_lost" } });
  expect(driver.running).toEqual([]);
  const chosen = await client.call("POST", "/agents/ada/restart?machine=new&wait=ready");
  expect([chosen.status, chosen.body.status]).toEqual([200, "ready"]);
  expect(await client.ask("ada", "hello")).toBe("hello");
  const refused = await client.call("POST", "/agents/ada/restart?machine=old");
  expect([refused.status, refused.body.code]).toEqual([400, "request_invalid"]);
});

test("agents of a database that was restored from a backup go on, though their machines have seen later changes", async () => {
  await using service = await ScriptedService.start();
  const { client } = service;
  for (const name of ["ada", "bob"]) await client.createAgent(name);
  await client.chat("ada", "first");
  for (let round = 0; round < 3; round++) {
    for (const name of ["ada", "bob"]) {
      await client.call("POST", `/agents/${name}/suspend`);
      if (name === "ada" || round < 2) await client.call("POST", `/agents/${name}/resume?wait=ready`);
    }
  }
  const database = await databaseOf(service);
  await database.updateTable("agents").set({ generation: 1 }).execute();
  await database.destroy();
  await service.restart();
  expect(await service.client.ask("ada", "recall")).toBe("first\nrecall\n");
  expect(await service.client.ask("bob", "hello")).toBe("hello");
  expect((await service.client.call("POST", "/agents/ada/suspend")).body.status).toBe("suspended");
});
