import { createOpenResponses } from "@ai-sdk/open-responses";
import { Agent, OpenAIResponsesModel, OpenAIResponsesWSModel, Runner, tool, user } from "@openai/agents";
import OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { ScriptedService } from "../support/scripted-service.ts";

// Two more clients of the Responses API, unmodified: OpenAI's Agents SDK and the AI SDK's provider for Open Responses.

let service: ScriptedService;

beforeAll(async () => {
  service = await ScriptedService.start();
});
afterAll(() => service[Symbol.asyncDispose]());

/** An agent of OpenAI's SDK whose model is one of ours, with a function. */
async function agentOf(name: string, Model: typeof OpenAIResponsesModel = OpenAIResponsesModel) {
  await service.client.createAgent(name);
  const openai = new OpenAI({ baseURL: `${service.client.url}/v1`, apiKey: service.client.key });
  const weather = tool({
    name: "weather",
    description: "Of a city.",
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => `rain in ${city}`,
  });
  const model = new Model(openai as never, name);
  return new Agent({ name, instructions: "Be brief.", model, tools: [weather] });
}

test("the Agents SDK runs an agent, and its functions, to the end", async () => {
  const agent = await agentOf("agents-sdk");
  const runner = new Runner({ tracingDisabled: true });
  expect((await runner.run(agent, "Good morning")).finalOutput).toBe("Good morning");
  expect((await runner.run(agent, 'call weather {"city":"Oslo"}')).finalOutput).toBe("rain in Oslo");
  expect((await runner.run(agent, "tool")).finalOutput).toBe("done");
  const streamed = await runner.run(agent, "count 3", { stream: true });
  let text = "";
  for await (const piece of streamed.toTextStream()) text += piece;
  expect(text).toBe("1 2 3 ");
});

test("the Agents SDK runs an agent over a WebSocket, with functions", async () => {
  const agent = await agentOf("agents-socket", OpenAIResponsesWSModel);
  const runner = new Runner({ tracingDisabled: true });
  expect((await runner.run(agent, 'call weather {"city":"Oslo"}')).finalOutput).toBe("rain in Oslo");
  const streamed = await runner.run(agent, "count 3", { stream: true });
  let text = "";
  for await (const piece of streamed.toTextStream()) text += piece;
  expect(text).toBe("1 2 3 ");
  await (agent.model as OpenAIResponsesWSModel).close();
});

test("a history that either SDK sends continues its conversation", async () => {
  const agent = await agentOf("sdk-history");
  const runner = new Runner({ tracingDisabled: true });
  const first = await runner.run(agent, 'call weather {"city":"Oslo"}');
  const next = await runner.run(agent, [...first.history, user("recall")]);
  expect(next.finalOutput).toBe('call weather {"city":"Oslo"}\nrecall\n');
  const { url, key } = service.client;
  const model = createOpenResponses({ name: "berth", url: `${url}/v1/responses`, apiKey: key })("sdk-history");
  const said = (role: "user" | "assistant", text: string) => ({ role, content: [{ type: "text" as const, text }] });
  await model.doGenerate({ prompt: [said("user", "red")] as never });
  const prompt = [said("user", "red"), said("assistant", "red"), said("user", "recall")] as never;
  expect((await model.doGenerate({ prompt })).content).toMatchObject([{ text: "red\nrecall\n" }]);
});

test("the AI SDK's provider reads answers, streams, tools and errors", async () => {
  await service.client.createAgent("ai-sdk");
  const { url, key } = service.client;
  const provider = createOpenResponses({ name: "berth", url: `${url}/v1/responses`, apiKey: key });
  const model = provider("ai-sdk");
  const prompt = (text: string) => [{ role: "user" as const, content: [{ type: "text" as const, text }] }];
  const { content, finishReason } = await model.doGenerate({ prompt: prompt("Good morning") });
  expect(content).toMatchObject([{ type: "text", text: "Good morning" }]);
  expect(finishReason).toMatchObject({ unified: "stop" });
  const tools = [{ type: "function" as const, name: "weather", inputSchema: { type: "object" as const } }];
  const { stream } = await model.doStream({ prompt: prompt('call weather {"city":"Oslo"}'), tools });
  const parts = await Array.fromAsync(stream as unknown as AsyncIterable<{ type: string }>);
  expect(parts).toContainEqual(
    expect.objectContaining({ type: "tool-call", toolName: "weather", input: '{"city":"Oslo"}' }),
  );
  expect(parts.filter(({ type }) => type === "error")).toEqual([]);
  await expect(provider("nobody").doGenerate({ prompt: prompt("x") })).rejects.toThrow("There is no agent nobody.");
});
