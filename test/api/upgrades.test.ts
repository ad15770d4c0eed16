import { afterEach, expect, test } from "vitest";
import { databaseOf } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Agents get a newer image. Real machines, of an image from before there was a second disk too, are in
// test/vm/upgrades.test.ts.

let service: ScriptedService;
let client: TestClient;

async function start(): Promise<void> {
  service = await ScriptedService.start();
  client = service.client;
}
afterEach(() => service[Symbol.asyncDispose]());

/** The service as its next version starts it, with another image. */
async function newImage(id: string): Promise<void> {
  await service.restart(async () => {
    service.driver.imageId = id;
  });
  client = service.client;
}

const image = async (name = "ada") => (await client.call("GET", `/agents/${name}`)).body.image;
const upgrade = (name = "ada") => client.call("POST", `/agents/${name}/upgrade?wait=ready`);
const kept = async (name = "ada") => (await client.call("GET", `/agents/${name}/snapshots`)).body.data;

test("an agent keeps its image until it is upgraded, and then has the newest with all that it had", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  expect(await image()).toEqual({ id: "scripted", upgradeAvailable: false });
  await client.chat("ada", "one");
  await newImage("newer");
  expect(await image()).toEqual({ id: "scripted", upgradeAvailable: true });
  expect(await client.ask("ada", "recall")).toBe("one\nrecall\n");
  expect(await image()).toEqual({ id: "scripted", upgradeAvailable: true });

  const upgraded = await upgrade();
  expect(upgraded.body).toMatchObject({ status: "ready", image: { id: "newer", upgradeAvailable: false } });
  expect(await client.ask("ada", "recall")).toBe("one\nrecall\nrecall\n");
  expect(await kept()).toMatchObject([{ reason: "upgrade", name: expect.stringMatching(/^before the upgrade, /) }]);
  // A new agent has it at once.
  await client.createAgent("eve", { autoSnapshot: 0 });
  expect(await image("eve")).toEqual({ id: "newer", upgradeAvailable: false });
});

test("an agent that has the newest image is left as it is; several requests upgrade once", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  expect((await upgrade()).body).toMatchObject({ status: "ready" });
  expect(await kept()).toEqual([]);
  await newImage("newer");
  const all = await Promise.all([upgrade(), upgrade(), upgrade()]);
  expect(all.map(({ status, body }) => [status, body.status, body.image.id])).toEqual(
    Array(3).fill([200, "ready", "newer"]),
  );
  expect(await kept()).toHaveLength(1);
});

test("an agent is upgraded between turns, asleep too, and the newest two of what it was are kept", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  await newImage("second");
  const running = await client.fetch("POST", "/agents/ada/chat", { message: "count 200 20" });
  expect(await upgrade()).toMatchObject({ status: 409, body: { code: "turn_in_progress" } });
  expect(await kept()).toEqual([]);
  expect(await image()).toMatchObject({ id: "scripted" });
  await running.body!.cancel();
  await client.call("POST", `/agents/ada/turns/${running.headers.get("x-turn-id")}/cancel`);
  await expect.poll(async () => (await upgrade()).status).toBe(200);
  for (const id of ["third", "fourth"]) {
    await client.call("POST", "/agents/ada/suspend");
    await newImage(id);
    expect(await client.call("GET", "/agents/ada")).toMatchObject({
      body: { status: "suspended", image: { upgradeAvailable: true } },
    });
    expect((await upgrade()).body).toMatchObject({ status: "ready", image: { id } });
  }
  expect(await kept()).toHaveLength(2);
});

test("a restart gives the newest image too, and an upgrade is undone by what it kept", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  await client.createAgent("eve", { autoSnapshot: 0 });
  await client.chat("ada", "one");
  await newImage("newer");
  expect((await client.call("POST", "/agents/eve/restart?wait=ready")).body.image.id).toBe("newer");
  await upgrade();
  await client.chat("ada", "two");
  const [before] = await kept();
  await client.call("POST", "/agents/ada/rollback?wait=ready", { snapshot: before.id });
  expect(await client.ask("ada", "recall")).toBe("one\nrecall\n");
});

test("an agent of a version that did not keep its image tells it once the server has started", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  await client.call("POST", "/agents/ada/suspend");
  const database = await databaseOf(service);
  await database.updateTable("agents").set({ image: null }).execute();
  await database.destroy();
  expect(await image()).toBeNull();
  await newImage("newer");
  await expect.poll(() => image()).toEqual({ id: "scripted", upgradeAvailable: true });
});
