import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { eventsOf, type TestClient } from "../support/client.ts";
import { ModelProxy } from "../support/model-proxy.ts";
import { scriptedRuntime } from "../support/scripted-runtime.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The parts that are the same for every runtime: model, instructions, conversation, history, usage, restart.

const mock = new LLMock({ port: 0 });
let proxy: ModelProxy;
let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  mock.onMessage(/.*/, { content: "Hello from the mock model.", usage: { input_tokens: 1000, output_tokens: 200 } });
  proxy = await new ModelProxy(await mock.start()).listen();
  service = await ScriptedService.start({
    anthropic: { baseUrl: proxy.url, apiKey: "the-key" },
    modelSilenceMs: 1_500,
    modelRetryMs: 1_000,
  });
  client = service.client;
});
beforeEach(() => {
  proxy.fault = () => null;
  proxy.requests.length = 0;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await mock.stop();
});

const sonnet = "anthropic/claude-3-5-sonnet-20241022";

test("the models are those of the provider's own list and the demonstration, with runtimes and prices", async () => {
  const { body } = await client.call("GET", "/models?limit=100");
  expect(body.nextCursor).toBeNull();
  expect(body.data).toContainEqual({
    id: sonnet,
    provider: "anthropic",
    runtimes: ["claude-code", "opencode", "openclaw"],
    inputPrice: "300",
    outputPrice: "1500",
  });
  expect(body.data).toContainEqual({
    id: "demo/demo",
    provider: "demo",
    runtimes: ["claude-code", "opencode", "openclaw"],
    inputPrice: "100",
    outputPrice: "500",
  });
  const first = await client.call("GET", "/models?limit=2");
  const second = await client.call("GET", `/models?limit=100&cursor=${first.body.nextCursor}`);
  expect([...first.body.data, ...second.body.data]).toEqual(body.data);
});

test("runtimes are listed with their versions and limitations", async () => {
  const { body } = await client.call("GET", "/runtimes");
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual(["claude-code", "opencode", "openclaw"]);
  expect(body.data[0]).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+/),
    providers: ["anthropic", "openai", "demo"],
    defaultModel: sonnet,
    abilities: {
      tools: { supported: true, reason: null },
      reasoning: { supported: false, reason: "It does not think." },
    },
  });
});

test("a fourth runtime is one object: it is listed, chosen and answers", async () => {
  await using other = await ScriptedService.start({}, { runtimes: [scriptedRuntime("fourth")] });
  expect((await other.client.call("GET", "/runtimes")).body.data).toHaveLength(1);
  const taken = await other.client.call("POST", "/agents", { name: "ada", runtime: "opencode" });
  expect(taken.body.code).toBe("runtime_not_available");
  expect((await other.client.createAgent("ada")).body).toMatchObject({ status: "ready", runtime: "fourth" });
  expect(await other.client.ask("ada", "good morning")).toBe("good morning");
  expect((await other.client.call("GET", "/models")).body.data[0].runtimes).toEqual(["fourth"]);
});

test("the model is the one that was chosen, else the runtime's default, and a changed one holds from the next turn", async () => {
  await client.createAgent("mod", { model: "demo/demo" });
  expect(await client.ask("mod", "model")).toBe("demo/demo");
  const running = await client.fetch("POST", "/agents/mod/chat", { message: "count 5 50" });
  expect((await client.call("PATCH", "/agents/mod", { model: "anthropic/gpt-4o" })).body.model).toBe(
    "anthropic/gpt-4o",
  );
  await running.text();
  expect(await client.ask("mod", "model")).toBe("anthropic/gpt-4o");
  await client.call("PATCH", "/agents/mod", { model: null });
  expect(await client.ask("mod", "model")).toBe(sonnet);
  const turns = (await client.call("GET", "/agents/mod/turns")).body.data;
  expect(turns.map(({ model }: { model: string }) => model)).toEqual([
    sonnet,
    "anthropic/gpt-4o",
    "demo/demo",
    "demo/demo",
  ]);
});

test("a model that has gone from the provider's list is refused before the turn begins", async () => {
  await using other = await ScriptedService.start({ anthropic: { baseUrl: proxy.url, apiKey: "k" } });
  await other.client.createAgent("gone", { model: sonnet });
  other.config.anthropic = null;
  await other.restart();
  const answer = await other.client.call("POST", "/agents/gone/chat", { message: "hello" });
  expect(answer).toMatchObject({
    status: 400,
    body: { code: "model_not_available", details: { available: ["demo/demo"] } },
  });
  await other.client.call("PATCH", "/agents/gone", { model: "demo/demo" });
  expect(await other.client.ask("gone", "model")).toBe("demo/demo");
});

test("instructions reach the model in every call, as they were when the turn began, and over a restart", async () => {
  const long = "Sei höflich. 🙂 ".repeat(3000).slice(0, 40_000);
  await client.createAgent("ins", { model: sonnet, instructions: "Speak like a pirate." });
  const systemOf = async () => {
    proxy.requests.length = 0;
    expect(await client.ask("ins", "ask")).toContain("Hello from the mock model.");
    return JSON.stringify(proxy.asked.map(({ body }) => body.system));
  };
  expect(await systemOf()).toContain("Speak like a pirate.");
  const running = await client.fetch("POST", "/agents/ins/chat", { message: "count 5 50" });
  expect((await client.call("PATCH", "/agents/ins", { instructions: long })).body.instructions).toBe(long);
  await running.text();
  expect(JSON.parse(await systemOf())[0].at(-1).text).toBe(long);
  await client.call("POST", "/agents/ins/restart?wait=ready");
  expect(await systemOf()).toContain("Sei höflich.");
  await service.restart();
  client = service.client;
  expect(await systemOf()).toContain("Sei höflich.");
  await client.call("PATCH", "/agents/ins", { instructions: "" });
  expect((await client.call("GET", "/agents/ins")).body.instructions).toBeNull();
  expect(await systemOf()).toBe("[null]");
});

test("a conversation survives restarts; a reset begins an empty one", async () => {
  await client.createAgent("con");
  await client.chat("con", "one");
  expect((await client.call("POST", "/agents/con/restart?wait=ready")).body.status).toBe("ready");
  await client.chat("con", "two");
  await service.restart();
  client = service.client;
  expect(await client.ask("con", "recall")).toBe("one\ntwo\nrecall\n");
  expect((await client.call("POST", "/agents/con/conversation/reset")).status).toBe(200);
  expect(await client.ask("con", "recall")).toBe("recall\n");
  await client.call("POST", "/agents/con/conversation/reset");
  await client.call("POST", "/agents/con/conversation/reset");
  await client.call("POST", "/agents/con/restart?wait=ready");
  expect(await client.ask("con", "recall")).toBe("recall\n");
  expect(await client.ask("con", "recall")).toBe("recall\nrecall\n");
  const turns = (await client.call("GET", "/agents/con/turns")).body.data;
  expect(turns.map(({ conversation }: { conversation: number }) => conversation)).toEqual([4, 4, 2, 1, 1, 1]);
});

test("a reset of an agent that is awake empties its runtime at once, before any message", async () => {
  await client.createAgent("empty");
  const before = new Set(service.driver.running);
  await client.chat("empty", "one");
  const entered = async () =>
    JSON.parse((await service.driver.fileOf("empty", ".local/state/conversations.json"))!).current;
  expect(await entered()).toBe(1);
  expect((await client.call("POST", "/agents/empty/conversation/reset")).status).toBe(200);
  await expect.poll(entered).toBe(2);
  expect(await client.ask("empty", "recall")).toBe("recall\n");
  expect(new Set(service.driver.running)).toEqual(before);
});

test("a reset and a second message are refused while a turn runs, with its id", async () => {
  await client.createAgent("busy");
  const response = await client.fetch("POST", "/agents/busy/chat", { message: "hang" });
  const turnId = response.headers.get("x-turn-id");
  for (const path of ["conversation/reset", "chat"]) {
    const answer = await client.call(
      "POST",
      `/agents/busy/${path}`,
      path === "chat" ? { message: "me too" } : undefined,
    );
    expect(answer).toMatchObject({ status: 409, body: { code: "turn_in_progress", details: { turnId } } });
  }
  await client.call("POST", `/agents/busy/turns/${turnId}/cancel`);
  expect((await Array.fromAsync(eventsOf(response))).at(-1)!.event.type).toBe("response.cancelled");
  expect((await client.call("POST", "/agents/busy/conversation/reset")).status).toBe(200);
});

test("a restart ends the running turn as failed, and is a way out of failed", async () => {
  await client.createAgent("res");
  const response = await client.fetch("POST", "/agents/res/chat", { message: "hang" });
  await expect.poll(() => service.driver.running.length).toBeGreaterThan(0);
  expect((await client.call("POST", "/agents/res/restart")).body).toMatchObject({ status: "provisioning" });
  const events = await Array.fromAsync(eventsOf(response));
  expect(events.at(-1)!.event).toMatchObject({ type: "response.failed", error: { code: "agent_restarted" } });
  expect(await client.ask("res", "again")).toBe("again");
  const { steps, status } = (await client.call("GET", "/agents/res/install-status")).body;
  expect(steps.map(({ name }: { name: string }) => name)).toEqual(["machine", "runtime"]);
  expect(status).toBe("installed");

  service.driver.failures.push(new Error("no luck"));
  expect((await client.call("POST", "/agents/res/restart?wait=ready")).body.status).toBe("failed");
  expect((await client.call("POST", "/agents/res/chat", { message: "hello" })).body.code).toBe("agent_failed");
  expect((await client.call("POST", "/agents/res/restart?wait=ready")).body).toMatchObject({
    status: "ready",
    error: null,
  });
});

test("the history has message, reply, status, error, usage and times, the newest first, in pages", async () => {
  await client.createAgent("his");
  expect((await client.call("GET", "/agents/his/turns")).body).toEqual({ data: [], nextCursor: null });
  for (const message of ["first", "count 3", "crash", "föurth 🙂"]) await client.chat("his", message);
  const all = (await client.call("GET", "/agents/his/turns")).body.data;
  expect(all.map(({ message, reply, status }: Record<string, string>) => [message, reply, status])).toEqual([
    ["föurth 🙂", "föurth 🙂", "completed"],
    ["crash", "", "failed"],
    ["count 3", "1 2 3 ", "completed"],
    ["first", "first", "completed"],
  ]);
  expect(all[1].error).toMatchObject({ code: "runtime_failed" });
  expect(Date.parse(all[0].finishedAt)).toBeGreaterThanOrEqual(Date.parse(all[0].createdAt));
  const pages: unknown[] = [];
  for (let query = "?limit=3"; query; ) {
    const { data, nextCursor } = (await client.call("GET", `/agents/his/turns${query}`)).body;
    pages.push(...data);
    query = nextCursor && `?limit=3&cursor=${nextCursor}`;
  }
  expect(pages).toEqual(all);
  expect((await client.call("GET", "/agents/his/turns?cursor=nonsense")).status).toBe(400);
});

test("usage comes on the last event when it is asked for, and stands in the history", async () => {
  await client.createAgent("use", { model: sonnet });
  const reply = await client.chat("use", "ask", ["usage"]);
  const usage = {
    inputTokens: 1000,
    outputTokens: 200,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    contextTokens: 1200,
    contextLimit: 200_000,
    // 1,000 of a million at 300 credits, 200 of a million at 1,500.
    credits: "0.6",
  };
  expect(reply.events.at(-1)!.event).toEqual({
    type: "response.completed",
    usage,
    at: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  expect((await client.chat("use", "ask")).events.at(-1)!.event).toEqual({ type: "response.completed" });
  expect((await client.call("GET", "/agents/use/turns")).body.data[1].usage).toEqual(usage);
});
