import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { installedClient } from "../support/installed-client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Clients that parameters and structured outputs once kept out, MCP's inspector, and a linter, unmodified from npm.

// biome-ignore lint/suspicious/noExplicitAny: the packages are not of this checkout
type Package = any;

const langChain = ["@langchain/openai@1.6.0", "@langchain/core@1.4.0"];
const aiSdk = ["ai@7.0.173", "@ai-sdk/openai@4.0.118", "@ai-sdk/openai-compatible@3.0.92", "zod@4.4.3"];
const timeout = 300_000;
const schema = z.object({ n: z.number() });
let service: ScriptedService;

beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
});
afterAll(() => service[Symbol.asyncDispose]());

function load(folder: string, name: string): Promise<Package> {
  return import(join(folder, "node_modules", name, "dist/index.js"));
}

test("LangChain gets structured output in both of OpenAI's APIs", { timeout }, async () => {
  const { ChatOpenAI } = await load(await installedClient("langchain", langChain), "@langchain/openai");
  const { url, key: apiKey } = service.client;
  for (const useResponsesApi of [false, true]) {
    const configuration = { baseURL: `${url}/v1` };
    const model = new ChatOpenAI({
      model: "ada",
      apiKey,
      useResponsesApi,
      temperature: 0,
      configuration,
      maxRetries: 0,
    });
    expect((await model.invoke("count 3")).text).toBe("1 2 3 ");
    const structured = (method: string) => model.withStructuredOutput(schema, { method, name: "answer" });
    expect(await structured("jsonSchema").invoke('give {"n":3}')).toEqual({ n: 3 });
    // A forced function is a promise that an agent cannot keep.
    await expect(structured("functionCalling").invoke("x")).rejects.toThrow("tool_choice is not supported");
  }
});

test("the AI SDK generates objects with each of OpenAI's providers", { timeout }, async () => {
  const folder = await installedClient("ai-sdk", aiSdk);
  const { generateObject, generateText } = await load(folder, "ai");
  const { createOpenAI } = await load(folder, "@ai-sdk/openai");
  const { createOpenAICompatible } = await load(folder, "@ai-sdk/openai-compatible");
  const { url, key: apiKey } = service.client;
  const given = { baseURL: `${url}/v1`, apiKey };
  const openai = createOpenAI(given);
  const compatible = createOpenAICompatible({ ...given, name: "berth", supportsStructuredOutputs: true });
  for (const model of [openai.responses("ada"), openai.chat("ada"), compatible("ada")]) {
    expect((await generateText({ model, prompt: "count 3", maxOutputTokens: 100, temperature: 0 })).text).toBe(
      "1 2 3 ",
    );
    expect((await generateObject({ model, prompt: 'give {"n":3}', schema })).object).toEqual({ n: 3 });
  }
});

test("MCP's inspector lists and calls tools, and reads resources", { timeout }, async () => {
  const folder = await installedClient("mcp-inspector", ["@modelcontextprotocol/inspector@2.12.0"]);
  const { url, key } = service.client;
  const fixed = ["--cli", `${url}/mcp`, "--transport", "http", "--header", `Authorization: Bearer ${key}`, "--method"];
  const run = (...args: string[]) =>
    promisify(execFile)(join(folder, "node_modules/.bin/mcp-inspector"), [...fixed, ...args]);
  const call = (agent: string) =>
    run("tools/call", "--tool-name", "ask_agent", "--tool-arg", `agent=${agent}`, "--tool-arg", "message=count 3");
  expect(JSON.parse((await run("tools/list")).stdout).tools).toContainEqual(
    expect.objectContaining({ name: "ask_agent" }),
  );
  expect(JSON.parse((await call("ada")).stdout)).toMatchObject({ structuredContent: { reply: "1 2 3 " } });
  await expect(call("nobody")).rejects.toMatchObject({ code: 5 });
  expect(JSON.parse((await run("resources/list")).stdout).resources).toMatchObject([{ name: "ada" }]);
});

test("Redocly's recommended rules find nothing in the OpenAPI document", { timeout }, async () => {
  const folder = await installedClient("redocly", ["@redocly/cli@2.77.0"]);
  const lint = ["lint", "--extends", "recommended", "--format", "json", "docs/openapi.json"];
  const { stdout } = await promisify(execFile)(join(folder, "node_modules/.bin/redocly"), lint);
  expect(JSON.parse(stdout).totals).toMatchObject({ errors: 0, warnings: 0 });
});
