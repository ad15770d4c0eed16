import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { ModelProxy, systemOf } from "../support/model-proxy.ts";
import { openAiOf } from "../support/openai-client.ts";
import { modelOf, providersAt, realModels, runtimes } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Functions of an `openai` client as tools of the real runtimes, each a process of this host.

let provider: DemoServer;
let proxy: ModelProxy;
let service: ScriptedService;
let openai: OpenAI;

beforeAll(async () => {
  provider = await DemoServer.start(realModels);
  proxy = await new ModelProxy(provider.url).listen();
  service = await ScriptedService.start(providersAt(proxy.url), { runtimes, packages: await guestPackages() });
  openai = openAiOf(service.client);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  provider[Symbol.dispose]();
});

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = { type: "function" as const, name: "weather", description: "Of a city.", parameters, strict: false };

const agentOf = (runtime: string) => `on-${runtime}`;

/** The text of a turn in which the demonstration model calls the function. */
async function useWeather(runtime: string, tools: (typeof weather)[]): Promise<OpenAI.Responses.Response> {
  const model = agentOf(runtime);
  // Claude Code's models find a tool that came after their conversation's first turn by a search.
  if (runtime === "claude-code") {
    const input = 'use: ToolSearch {"query":"select:mcp__client__weather"}';
    await openai.responses.create({ model, input, tools });
  }
  return openai.responses.create({ model, input: 'use: weather {"city":"Oslo"}', instructions: "Only now.", tools });
}

describe.each(runtimes.map(({ name }) => name))("%s", (runtime) => {
  test("has a function as a tool for one turn, waits for its result and continues", async () => {
    await service.client.createAgent(agentOf(runtime), {
      runtime,
      model: modelOf(runtime),
      instructions: "Always.",
    });
    await openai.responses.create({ model: agentOf(runtime), input: "Hello." });
    const asked = await useWeather(runtime, [weather]);
    expect(systemOf(proxy.requests.at(-1)!.body)).toContain("Always.\n\nOnly now.");
    expect(asked.output).toMatchObject([{ type: "function_call", name: "weather", arguments: '{"city":"Oslo"}' }]);
    const { call_id } = asked.output[0] as { call_id: string };
    const output = [{ type: "function_call_output" as const, call_id, output: "It rains in Oslo." }];
    const answered = await openai.responses.create({ model: agentOf(runtime), input: output, tools: [weather] });
    expect(answered.output_text).toContain("It rains in Oslo.");
    const { output_text: later } = await useWeather(runtime, []);
    expect(later).toMatch(/no function weather now|does not offer this tool here|cannot call the tool weather/);
  });
});
