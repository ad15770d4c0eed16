import { afterEach, expect, test } from "vitest";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import { importArchive } from "../support/archives.ts";
import type { TestClient } from "../support/client.ts";
import { ModelProxy, systemOf } from "../support/model-proxy.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Another runtime continues with an agent. The real runtimes, in all directions, are in
// test/runtimes/runtime-change.test.ts.

let service: ScriptedService;
let client: TestClient;
let provider: DemoServer;
let proxy: ModelProxy;

async function start(): Promise<void> {
  provider = await DemoServer.start(["claude-sonnet-4-5", "gpt-5"]);
  proxy = await new ModelProxy(provider.url).listen();
  service = await ScriptedService.start({ anthropic: { baseUrl: proxy.url, apiKey: "the-key" } });
  client = service.client;
}
afterEach(async () => {
  await service[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  provider[Symbol.dispose]();
});

const change = (body: object, name = "ada") => client.call("PATCH", `/agents/${name}?wait=ready`, body);
/** The model's context in addition to the messages, in a turn of the agent. */
async function toldTo(name = "ada"): Promise<string> {
  await client.chat(name, "ask");
  return (systemOf(proxy.asked.at(-1)!.body) ?? "").trim();
}

test("another runtime continues: it keeps files, gets the conversation, and the history is complete", async () => {
  await start();
  await client.createAgent("ada", { instructions: "You are Ada." });
  await client.chat("ada", "My cat is called Miez.");
  const changed = await change({ runtime: "opencode", instructions: "You are still Ada." });
  expect(changed).toMatchObject({ status: 200, body: { runtime: "opencode", status: "ready", conversation: 2 } });
  const told = await toldTo();
  expect(told).toMatch(/^You are still Ada\.\n\nEarlier in this conversation/);
  expect(told).toContain("User: My cat is called Miez.\n\nYou: My cat is called Miez.");
  // And a third one gets the messages of both.
  await change({ runtime: "openclaw" });
  expect(await toldTo()).toMatch(/Miez[\s\S]*User: ask/);
  const turns = (await client.call("GET", "/agents/ada/turns")).body.data;
  expect(turns.map(({ conversation }: { conversation: number }) => conversation)).toEqual([3, 2, 1]);
  expect((await client.call("GET", "/agents/ada")).body.resources.memoryMiB).toBe(1536);
  await client.call("POST", "/agents/ada/conversation/reset");
  expect(await toldTo()).toBe("You are still Ada.");
});

test("a restarted server repeats the conversation too; a rollback and a fork have the runtime of then", async () => {
  await start();
  await client.createAgent("ada");
  await client.chat("ada", "one");
  await client.call("POST", "/agents/ada/snapshots", { name: "before" });
  await change({ runtime: "opencode" });
  await client.call("POST", "/agents/ada/snapshots", { name: "after" });
  await service.restart();
  client = service.client;
  expect(await toldTo()).toContain("User: one");
  await client.call("POST", "/agents?wait=ready", { name: "eve", from: { agent: "ada", snapshot: "after" } });
  expect((await client.call("GET", "/agents/eve")).body.runtime).toBe("opencode");
  expect(await toldTo("eve")).toContain("User: one");
  await client.call("POST", "/agents?wait=ready", { name: "fox", from: { agent: "ada", snapshot: "before" } });
  expect((await client.call("GET", "/agents/fox")).body.runtime).toBe("claude-code");
  expect(await toldTo("fox")).toBe("");
  const back = await client.call("POST", "/agents/ada/rollback?wait=ready", { snapshot: "before" });
  expect(back.body).toMatchObject({ runtime: "claude-code", conversation: 1, status: "ready" });
  expect(await toldTo()).toBe("");
});

test("an archive holds the earlier conversation, and its runtime gets it after the import", async () => {
  await start();
  await client.createAgent("ada");
  await client.chat("ada", "My cat is called Miez.");
  await change({ runtime: "opencode", autoSnapshot: 2 });
  const archive = await (await client.fetch("GET", "/agents/ada/export")).arrayBuffer();
  expect((await importArchive(client, Buffer.from(archive))).status).toBe(201);
  expect((await client.call("GET", "/agents/eve")).body).toMatchObject({ runtime: "opencode", autoSnapshot: 2 });
  expect(await toldTo("eve")).toContain("User: My cat is called Miez.");
});

test("an unsuitable runtime is refused, and nothing changes", async () => {
  await start();
  await client.createAgent("ada", { model: "anthropic/claude-sonnet-4-5" });
  expect(await change({ runtime: "emacs" })).toMatchObject({ status: 400, body: { code: "runtime_not_available" } });
  const wrong = { runtime: "opencode", model: "openai/gpt-5", instructions: "Changed." };
  expect(await change(wrong)).toMatchObject({ status: 400, body: { code: "model_not_available" } });
  const response = await client.fetch("POST", "/agents/ada/chat", { message: "hang" });
  expect(await change({ runtime: "opencode", instructions: "Changed." })).toMatchObject({
    status: 409,
    body: { code: "turn_in_progress" },
  });
  expect((await client.call("GET", "/agents/ada")).body).toMatchObject({ runtime: "claude-code", instructions: null });
  await client.call("POST", `/agents/ada/turns/${response.headers.get("x-turn-id")}/cancel`);
  await response.text();
  // The same runtime is no change.
  expect((await change({ runtime: "claude-code" })).body.conversation).toBe(1);
});

test("a sleeping agent wakes with the other runtime", async () => {
  await start();
  await client.createAgent("ada");
  await client.chat("ada", "one");
  await client.call("POST", "/agents/ada/suspend");
  expect((await change({ runtime: "openclaw" })).body).toMatchObject({ runtime: "openclaw", status: "ready" });
  expect(await toldTo()).toContain("User: one");
});
