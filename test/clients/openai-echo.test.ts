import type OpenAI from "openai";
import type { Response, ResponseCreateParamsNonStreaming } from "openai/resources/responses/responses";
import { ResponsesWS } from "openai/resources/responses/ws";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openAiOf } from "../support/openai-client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// A response object repeats its request, with the `openai` package, unmodified.

let service: ScriptedService;
let openai: OpenAI;

beforeAll(async () => {
  service = await ScriptedService.start();
  openai = openAiOf(service.client);
  await service.client.createAgent("ada");
});
afterAll(() => service[Symbol.asyncDispose]());

const weather = { type: "function" as const, name: "weather" };

const settings = {
  metadata: { ticket: "7" },
  parallel_tool_calls: true,
  safety_identifier: "person-1",
  prompt_cache_key: "chat-1",
  temperature: 0,
  top_p: 0.5,
  max_output_tokens: 1000,
  truncation: "auto" as const,
  reasoning: { effort: "low" as const },
  text: { format: { type: "text" as const }, verbosity: "low" as const },
  tool_choice: "none" as const,
};
const asked = {
  ...settings,
  model: "ada",
  input: "Good morning",
  instructions: "Be brief.",
  tools: [weather],
} as unknown as ResponseCreateParamsNonStreaming;
const echoed = {
  ...settings,
  instructions: "Be brief.",
  reasoning: { effort: "low", summary: null },
  tools: [{ ...weather, description: null, parameters: null, strict: null }],
};

async function overSocket(request: ResponseCreateParamsNonStreaming): Promise<Response> {
  const socket = new ResponsesWS(openai);
  const done = Promise.withResolvers<Response>();
  socket.on("error", done.reject);
  socket.on("event", (event) => {
    if (event.type === "response.completed") done.resolve(event.response);
  });
  socket.send({ type: "response.create", ...request });
  return done.promise.finally(() => socket.close());
}

test.each([true, false])("a response repeats its request, with `store` %s", async (store) => {
  const request = { ...asked, store };
  const whole = await openai.responses.create(request);
  expect(whole).toMatchObject({ ...echoed, store });
  const stream = await openai.responses.create({ ...request, stream: true });
  for await (const event of stream) {
    if ("response" in event) expect(event.response).toMatchObject({ ...echoed, store });
  }
  expect(await overSocket(request)).toMatchObject({ ...echoed, store });
  const read = openai.responses.retrieve(whole.id);
  if (store) expect(await read).toEqual(whole);
  else await expect(read).rejects.toMatchObject({ status: 404 });
});

test("an unstored response repeats its request when it is sent again", async () => {
  const headers = { "idempotency-key": "echo-1" };
  const request = { ...asked, store: false };
  const first = await openai.responses.create(request, { headers });
  expect(await openai.responses.create(request, { headers })).toMatchObject({ ...echoed, id: first.id, store: false });
});

test("a response has OpenAI's defaults for parameters that the request leaves out or that are invalid", async () => {
  const defaults = {
    metadata: {},
    store: true,
    tools: [],
    tool_choice: "auto",
    parallel_tool_calls: false,
    temperature: 1,
    safety_identifier: null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    truncation: "disabled",
    text: { format: { type: "text" } },
  };
  const [model, input] = ["ada", "Good morning"];
  expect(await openai.responses.create({ model, input })).toMatchObject(defaults);
  const odd = { temperature: "hot", safety_identifier: "x".repeat(600), reasoning: { effort: "much" }, text: {} };
  expect(await openai.responses.create({ model, input, ...odd } as never)).toMatchObject(defaults);
});

test("metadata comes back as sent, up to OpenAI's limits", async () => {
  const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`${n}`.padEnd(64, "k"), "v".repeat(512)]));
  const ask = (given: Record<string, string>) =>
    openai.responses.create({ model: "ada", input: "Hello", store: false, metadata: given });
  expect((await ask(metadata)).metadata).toEqual(metadata);
  await expect(ask({ ...metadata, more: "" })).rejects.toMatchObject({ status: 400, param: "metadata" });
  await expect(ask({ ["k".repeat(65)]: "" })).rejects.toMatchObject({ status: 400 });
  await expect(ask({ k: "v".repeat(513) })).rejects.toMatchObject({ status: 400, param: "metadata.k" });
});
