import { randomBytes } from "node:crypto";
import { on, once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { databaseOf } from "../support/accounts.ts";
import { eventsOf, TestClient } from "../support/client.ts";
import { newFolder } from "../support/config.ts";
import { newDatabase } from "../support/new-database.ts";
import { session, type Turn } from "../support/open-responses.ts";
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

test("a second host's server leaves the first one's agents alone, and passes on what is asked of them", async () => {
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
  const passedOn: [number, string, string, unknown?][] = [
    [409, "POST", "/agents/ada/suspend"],
    [200, "PATCH", "/agents/ada", { instructions: "Answer briefly." }],
    [200, "GET", "/agents/ada/logs"],
    [200, "POST", "/agents/bob/resume?wait=ready"],
    [200, "POST", "/agents/bob/restart?wait=ready"],
    [200, "POST", "/agents/bob/conversation/reset"],
    [201, "POST", "/agents", { name: "fay", from: { agent: "bob" } }],
    [200, "POST", "/v1/chat/completions", { model: "bob", messages: [{ role: "user", content: "hello" }] }],
    [204, "DELETE", "/agents/fay"],
  ];
  for (const [status, method, path, body] of passedOn) {
    const answer = await there.call(method, path, body);
    expect([path, answer.status]).toEqual([path, status]);
  }
  expect(await there.ask("bob", "who answers?")).toBe("who answers?");
  const answered = await there.call("POST", "/v1/responses", { model: "bob", input: "hello" });
  const response = `/v1/responses/${answered.body.id}`;
  for (const [status, method, path] of [
    [200, "GET", response],
    [200, "POST", `${response}/cancel`],
    [404, "GET", "/v1/responses/resp_00000000000000000000000000000000"],
    [404, "GET", "/v1/responses/nothing"],
  ] as const) {
    expect([path, (await there.call(method, path)).status]).toEqual([path, status]);
  }
  const call = (id: number, tool: string, args: object) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: tool, arguments: args },
  });
  const asks = async (body: unknown) =>
    JSON.stringify((await there.call("POST", "/mcp", body, { accept: "application/json, text/event-stream" })).body);
  expect(await asks(call(1, "ask_agent", { agent: "bob", message: "by MCP" }))).toMatch(/by MCP.*completed/);
  expect(await asks(call(2, "ask_agent", { agent: "eve", message: "here" }))).toMatch(/here.*completed/);
  for (const odd of [null, [null, 1, "x"], { params: null }, { params: { arguments: { agent: { x: 1 } } } }]) {
    expect(await asks(odd)).toMatch(/error/);
  }
  expect(await socketAnswers(there, ["bob", "eve", "nobody", "bob"])).toEqual([
    "bob: completed",
    "eve: completed",
    "404 model_not_found",
    "bob: completed",
  ]);
  const unstored = (input: string, turns: Turn[] = []) => ({
    ...{ model: "bob", store: false, input },
    ...(turns[0] && { previous_response_id: turns[0].response.id }),
  });
  const [, next, stale] = await session(there, [
    () => unstored("red"),
    (turns) => unstored("recall", turns),
    (turns) => unstored("recall", turns),
  ]);
  expect(next!.response.output[0].content[0].text).toBe("red\nrecall\n");
  expect(stale!.code).toBe("previous_response_not_found");
  expect(second.driver.running).toHaveLength(1);
  // The turn continues where it began, and can be read anywhere.
  const read = await there.events("ada", turnId);
  const events = await Array.fromAsync(eventsOf(running));
  expect(events.at(-1)!.event.type).toBe("response.completed");
  expect(read.events).toEqual(events);
  expect(await client.ask("bob", "still there?")).toBe("still there?");
});

/** Asks these agents over one WebSocket, and returns what each answer's last frame says. */
async function socketAnswers({ url, key }: TestClient, models: string[], input = "hello"): Promise<string[]> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, {
    headers: { authorization: `Bearer ${key}` },
  });
  await once(socket, "open");
  for (const model of models) socket.send(JSON.stringify({ type: "response.create", model, input }));
  const ends: string[] = [];
  for await (const [data] of on(socket, "message")) {
    const { type, status, error, response } = JSON.parse(String(data));
    if (type === "error") ends.push(`${status} ${error.code}`);
    if (type === "response.completed") ends.push(`${response.model}: ${response.status}`);
    if (ends.length === models.length) break;
  }
  socket.close();
  return ends;
}

test("requests for a host without a leader are refused after ten seconds", async () => {
  const shared = await sharedDatabase("nobody");
  await using first = await ScriptedService.start(shared);
  await first.client.createAgent("ada");
  await using second = await ScriptedService.start(shared);
  const there = new TestClient(second.server.url, first.client.key);
  const { turnId } = await there.chat("ada", "hello");
  const cutOff = socketAnswers(there, ["ada"], "count 200 50");
  await expect.poll(async () => (await there.call("GET", "/agents/ada/turns")).body.data[0].status).toBe("running");
  await first.server[Symbol.asyncDispose]();
  expect(await cutOff).toEqual(["503 agent_elsewhere"]);

  const refused = await there.call("POST", "/agents/ada/chat", { message: "hello" });
  expect([refused.status, refused.body.code]).toEqual([503, "agent_elsewhere"]);
  expect(await socketAnswers(there, ["ada"])).toEqual(["503 agent_elsewhere"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  // Every server answers from the database.
  expect((await there.call("GET", "/agents/ada")).body.status).toBe("ready");
  expect((await there.events("ada", turnId)).text).toBe("hello");
  await first.restart();
  const [cut] = (await there.call("GET", "/agents/ada/turns")).body.data;
  await there.call("POST", `/agents/ada/turns/${cut.id}/cancel`);
  await there.events("ada", cut.id);
  expect(await there.ask("ada", "hello again")).toBe("hello again");
});

test("a data folder with a database of its own is refused to a second server, and one that moves keeps its agents", async () => {
  await using alone = await ScriptedService.start();
  await expect(ScriptedService.start({ dataFolder: alone.config.dataFolder })).rejects.toThrow(/in use/);
  const shared = await sharedDatabase("moves");
  // Another database than the one that the folder's server has.
  await expect(ScriptedService.start({ ...shared, dataFolder: alone.config.dataFolder })).rejects.toThrow(/in use/);

  await using service = await ScriptedService.start(shared);
  await service.client.createAgent("ada");
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

test("agents of a restored database continue with newer machines", async () => {
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
