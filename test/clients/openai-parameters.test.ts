import type OpenAI from "openai";
import { APIError } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ignoredHeader } from "../../src/contract/openai.ts";
import { openAiOf } from "../support/openai-client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Parameters of OpenAI's APIs: those that only tune a model are accepted, and those that promise something are refused.

let service: ScriptedService;
let openai: OpenAI;

beforeAll(async () => {
  service = await ScriptedService.start();
  openai = openAiOf(service.client);
  await service.client.createAgent("ada");
});
afterAll(() => service[Symbol.asyncDispose]());

const image = { type: "input_image" as const, detail: "auto" as const, image_url: "data:image/png;base64,aW1hZ2U=" };

test("what an agent cannot do is refused by its name", async () => {
  const refusals: [object, string][] = [
    [{ max_tool_calls: 3 }, "max_tool_calls is not supported. Leave it out."],
    [{ tools: [{ type: "web_search" }] }, "web_search"],
    [{ text: { format: { type: "json_object" } } }, "text.format"],
    [{ text: { format: { type: "json_schema", name: "x" } } }, "text.format.schema is required"],
    [{ text: { format: { type: "json_schema", name: "x", schema: {} } } }, "schema is invalid at /type"],
    [{ tool_choice: "required" }, "tool_choice"],
    [{ tool_choice: { type: "function", name: "f" } }, "tool_choice"],
    [{ top_logprobs: 3 }, "top_logprobs"],
    [{ conversation: "conversation-1", previous_response_id: `resp_${"0".repeat(32)}` }, "not both"],
    [{ prompt: { id: "pmpt_1" } }, "prompt"],
    [{ input: [{ role: "user", content: [{ type: "input_image", image_url: "data:," }] }] }, "image_url"],
    [{ input: [{ role: "user", content: [{ type: "input_audio", data: "" }] }] }, "input_audio"],
    [{ input: [{ role: "user", content: Array(21).fill(image) }] }, "limited to 20 images and files"],
    [{ input: [] }, "user message"],
    [{ input: [{ role: "assistant", content: "hi" }] }, "user message"],
    [{ input: "" }, "must not be empty"],
    [{ input: "x", previous_response_id: "resp_1" }, "previous_response_id"],
  ];
  for (const [change, named] of refusals) {
    const request = { model: "ada", input: "hello", ...change } as { model: string; input: string };
    const error = await openai.responses.create(request).catch((thrown: unknown) => thrown);
    expect(error, named).toBeInstanceOf(APIError);
    const { status, message, type } = error as APIError;
    expect([status, message, type]).toEqual([400, expect.stringContaining(named), "invalid_request_error"]);
  }
});

/** Parameters that clients send always, or with their own tasks. */
const tuning = {
  temperature: 0,
  top_p: 0.9,
  seed: 7,
  max_tokens: 100,
  max_completion_tokens: 1_000,
  stop: ["END"],
  presence_penalty: 0.5,
  frequency_penalty: 0.5,
  logit_bias: { 50256: -100 },
  user: "u",
  service_tier: "flex",
  parallel_tool_calls: true,
  store: true,
};

test("parameters that only tune a chat completion are accepted, and named in a header", async () => {
  const request = { model: "ada", messages: [{ role: "user" as const, content: "hello" }] };
  const sent = { ...request, ...tuning, tool_choice: "none", functions: null, modalities: ["text"], temprature: 1 };
  const { data, response } = await openai.chat.completions.create(sent as typeof request).withResponse();
  expect(data.choices[0]!.message.content).toBe("hello");
  expect(response.headers.get(ignoredHeader)?.split(", ").toSorted()).toEqual(
    [...Object.keys(tuning), "temprature"].toSorted(),
  );
  const streamed = await openai.chat.completions.create({ ...request, seed: 7, stream: true }).withResponse();
  for await (const _ of streamed.data);
  expect(streamed.response.headers.get(ignoredHeader)).toBe("seed");
});

test("parameters that only tune a response are accepted, and named in a header", async () => {
  const sent = {
    temperature: 0.2,
    top_p: 1,
    max_output_tokens: 100,
    include: ["reasoning.encrypted_content" as const],
    truncation: "auto" as const,
    safety_identifier: "s",
  };
  const request = { model: "ada", input: "ok", ...sent, metadata: { a: "b" }, tool_choice: "auto" as const };
  const { data, response } = await openai.responses.create(request).withResponse();
  expect(data).toMatchObject({ status: "completed", metadata: { a: "b" } });
  expect(response.headers.get(ignoredHeader)?.split(", ").toSorted()).toEqual(Object.keys(sent).toSorted());
});

test("without ignored parameters, the header is missing; null ignores nothing", async () => {
  const request = { model: "ada", input: "ok", temperature: null, tool_choice: "auto" as const, unknown: null };
  const { response } = await openai.responses.create(request).withResponse();
  expect(response.headers.get(ignoredHeader)).toBeNull();
});

test.each([
  ["POST", "/v1/conversations", { later: null }, null],
  ["POST", "/v1/conversations", { later: 1 }, "later"],
  ["POST", "/v1/responses", { model: "ada", input: "ok", functions: null, later: null }, null],
  [
    "POST",
    "/v1/chat/completions",
    { model: "ada", messages: [{ role: "user", content: "ok" }], functions: null },
    null,
  ],
  ["POST", "/v1/responses/compact", { model: "ada", input: "ok", later: null, service_tier: "flex" }, "service_tier"],
] as const)("an unknown parameter is accepted: %s %s %j", async (method, path, body, named) => {
  const { status, headers } = await service.client.call(method, path, body);
  expect([status, headers.get(ignoredHeader)]).toEqual([200, named]);
});

test("an error names its parameter, or none", async () => {
  const error = async (path: string, body: object) => (await service.client.call("POST", path, body)).body.error;
  expect(await error("/v1/responses", { model: "nobody", input: "x" })).toMatchObject({ param: "model" });
  expect(await error("/v1/responses", { model: "ada", input: "x", metadata: 1 })).toMatchObject({ param: "metadata" });
  const output = { type: "function_call_output", call_id: "none", output: "" };
  expect(await error("/v1/responses", { model: "ada", input: [output] })).toMatchObject({ param: "input" });
  const { body } = await service.client.call("GET", "/v1/responses/resp_none");
  expect(body.error).toMatchObject({ code: "response_not_found", param: null });
});

test("errors on a WebSocket and of a registration are a line of plain text", async () => {
  const { url, key } = service.client;
  const headers = { authorization: `Bearer ${key}` };
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, { headers } as never);
  const frames: string[] = [];
  socket.addEventListener("message", ({ data }) => frames.push(String(data)));
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  socket.send("no JSON");
  socket.send(JSON.stringify({ type: "other", model: 1, metadata: 2 }));
  await expect.poll(() => frames.length).toBe(2);
  socket.close();
  for (const frame of frames) {
    expect(JSON.parse(frame)).toMatchObject({
      type: "error",
      status: 400,
      error: { message: expect.stringMatching(/^[^✖→\n]+$/) },
    });
  }
  const body = { redirect_uris: "✖\n→", "ü→": 1, client_name: 7 };
  const refused = await service.client.call("POST", "/oidc/register", body);
  expect(refused).toMatchObject({ status: 400, body: { error_description: expect.stringMatching(/^[ -~]+$/) } });
});

test("a name that a header cannot have is not named, and many names are bounded", async () => {
  const names = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`field_${at}`, 1]));
  const hostile = { "a\r\nset-cookie: x": 1, ü: 1, constructor: 1, ["a".repeat(65)]: 1, ...names };
  const { response } = await openai.responses.create({ model: "ada", input: "ok", ...hostile } as never).withResponse();
  const named = response.headers.get(ignoredHeader)!.split(", ");
  expect([named.length, named[0], response.headers.has("set-cookie")]).toEqual([50, "constructor", false]);
});

test("a parameter of Chat Completions that promises something is refused, and the error names it", async () => {
  const messages = [{ role: "user" as const, content: "hello" }];
  const create = (change: object) => openai.chat.completions.create({ model: "ada", messages, ...change } as never);
  const refused = {
    n: 2,
    logprobs: true,
    top_logprobs: 2,
    modalities: ["audio"],
    audio: { voice: "alloy", format: "wav" },
    functions: [{ name: "f" }],
    function_call: { name: "f" },
    tool_choice: "required",
    web_search_options: {},
  };
  for (const [param, value] of Object.entries(refused)) {
    const error = { status: 400, param: expect.stringMatching(`^${param}`) };
    await expect(create({ [param]: value }), param).rejects.toMatchObject(error);
  }
});

test("an unknown previous response has the code after which clients repeat their request without it", async () => {
  for (const previous_response_id of ["resp_1", `resp_${"0".repeat(32)}`]) {
    const error = { status: 400, code: "previous_response_not_found", param: "previous_response_id" };
    await expect(openai.responses.create({ model: "ada", input: "x", previous_response_id })).rejects.toMatchObject(
      error,
    );
  }
});
