import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { allAbilities } from "../../src/runtimes/runtime.ts";
import { importArchive } from "../support/archives.ts";
import { scriptedRuntime } from "../support/scripted-runtime.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// How much a model reasons is a setting of an agent and of a message. test/runtimes/effort.test.ts has the real runtimes.

const unable = { supported: false, reason: "It has no such setting." };
const fixed = { ...scriptedRuntime("codex"), abilities: { ...allAbilities, effort: unable } };
let service: ScriptedService;
let openai: OpenAI;
beforeAll(async () => {
  service = await ScriptedService.start({}, { runtimes: [scriptedRuntime("claude-code"), fixed] });
  openai = new OpenAI({ baseURL: `${service.client.url}/v1`, apiKey: service.client.key, maxRetries: 0 });
});
afterAll(() => service[Symbol.asyncDispose]());

const chat = async (fields: object) => {
  const answer = await service.client.fetch("POST", "/agents/ada/chat", { message: "effort", ...fields });
  return (await answer.text()).match(/"delta":"(\w+)"/)?.[1];
};
const turns = async () => (await service.client.call("GET", "/agents/ada/turns")).body.data;

test("an agent's effort counts for its turns, and a message's own before it", async () => {
  expect((await service.client.createAgent("ada", { effort: "low" })).body.effort).toBe("low");
  expect(await chat({})).toBe("low");
  expect(await chat({ effort: "max" })).toBe("max");
  expect((await turns()).map(({ effort }: { effort: string | null }) => effort)).toEqual(["max", null]);
  expect((await service.client.call("PATCH", "/agents/ada", { effort: null })).body.effort).toBe(null);
  expect(await chat({})).toBe("null");
});

test("a message that waits keeps its effort, and gets the agent's of then without one", async () => {
  const first = service.client.fetch("POST", "/agents/ada/chat", { message: "count 30 50" });
  await expect.poll(async () => (await turns())[0].status).toBe("running");
  const waiting = [chat({ effort: "high", whenBusy: "steer" }), chat({ whenBusy: "queue" })];
  await expect.poll(async () => (await service.client.call("GET", "/agents/ada")).body.queueLength).toBe(2);
  await service.client.call("PATCH", "/agents/ada", { effort: "minimal" });
  await (await first).text();
  expect(await Promise.all(waiting)).toEqual(["high", "minimal"]);
});

test("OpenAI's clients choose it, and their response repeats it", async () => {
  const response = await openai.responses.create({ model: "ada", input: "effort", reasoning: { effort: "high" } });
  expect([response.output_text, response.reasoning?.effort]).toEqual(["high", "high"]);
  const odd = { model: "ada", input: "effort", reasoning: { effort: "much" } } as never;
  expect(((await openai.responses.create(odd)) as { output_text: string }).output_text).toBe("minimal");
  const messages = [{ role: "user" as const, content: "effort" }];
  const completion = await openai.chat.completions.create({ model: "ada", messages, reasoning_effort: "none" });
  expect(completion.choices[0]!.message.content).toBe("none");
});

test("it is in an export, and an agent of a runtime without it cannot have one", async () => {
  await service.client.call("PATCH", "/agents/ada", { effort: "xhigh" });
  const archive = Buffer.from(await (await service.client.fetch("GET", "/agents/ada/export")).arrayBuffer());
  expect((await importArchive(service.client, archive, { query: "?name=bob&wait=ready" })).status).toBe(201);
  expect((await service.client.call("GET", "/agents/bob")).body.effort).toBe("xhigh");
  const moved = (await service.client.call("GET", "/agents/bob/turns")).body.data;
  expect(moved.map(({ effort }: { effort: string | null }) => effort)).toContain("max");
  const refusal = { status: 400, body: { code: "request_invalid", message: expect.stringContaining("effort: codex") } };
  expect(await service.client.call("PATCH", "/agents/bob", { runtime: "codex" })).toMatchObject(refusal);
  expect(await service.client.call("POST", "/agents", { name: "cyd", runtime: "codex", effort: "low" })).toMatchObject(
    refusal,
  );
  await service.client.createAgent("cyd", { runtime: "codex" });
  expect(await service.client.call("PATCH", "/agents/cyd", { effort: "low" })).toMatchObject(refusal);
  expect(await service.client.call("POST", "/agents/cyd/chat", { message: "hi", effort: "low" })).toMatchObject(
    refusal,
  );
  // OpenAI's clients send it to any model.
  const response = await openai.responses.create({ model: "cyd", input: "effort", reasoning: { effort: "high" } });
  expect(response.output_text).toBe("null");
});

test("a turn's usage says how much of its model's context the conversation takes", async () => {
  await service.client.createAgent("dan", {});
  const before = (await service.client.call("GET", "/agents/dan/turns")).body.data;
  expect(before).toEqual([]);
  await service.client.ask("dan", "hello");
  const usageOf = async () => (await service.client.call("GET", "/agents/dan/turns")).body.data[0].usage;
  expect(await usageOf()).toMatchObject({ contextTokens: null, contextLimit: null });
  await service.client.ask("dan", "ask");
  const usage = await usageOf();
  expect(usage).toMatchObject({ contextTokens: usage.inputTokens + usage.outputTokens, contextLimit: 200_000 });
});
