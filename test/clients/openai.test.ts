import OpenAI from "openai";
import type { ResponseStreamEvent, ResponsesServerEvent } from "openai/resources/responses/responses";
import { ResponsesWS } from "openai/resources/responses/ws";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newKey } from "../support/accounts.ts";
import { openAiOf } from "../support/openai-client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The `openai` package, unmodified, with an agent as its model.

let service: ScriptedService;
let openai: OpenAI;

beforeAll(async () => {
  service = await ScriptedService.start();
  openai = openAiOf(service.client);
  await service.client.createAgent("ada");
});
afterAll(() => service[Symbol.asyncDispose]());

const weather = {
  type: "function" as const,
  name: "weather",
  description: "Of a city",
  parameters: { type: "object", properties: { city: { type: "string" } } },
  strict: false,
};

/** A fresh agent, since a test's turns are part of its agent's conversation. */
async function newAgent(name: string): Promise<string> {
  await service.client.createAgent(name);
  return name;
}

test("a response has the agent's text, its usage and every field that strict clients demand", async () => {
  const response = await openai.responses.create({ model: "ada", input: "Good morning", metadata: { ticket: "7" } });
  expect(response).toMatchObject({
    object: "response",
    status: "completed",
    model: "ada",
    output_text: "Good morning",
    metadata: { ticket: "7" },
    error: null,
    incomplete_details: null,
    output: [{ type: "message", role: "assistant", status: "completed" }],
    usage: {
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 0,
      total_tokens: 0,
    },
    completed_at: expect.any(Number),
  });
  expect(response.completed_at).toBeGreaterThanOrEqual(response.created_at);
  expect(response.id).toMatch(/^resp_[0-9a-f]{32}$/);
  expect(await openai.responses.retrieve(response.id)).toEqual(response);
});

test("a stream has the whole sequence of events, numbered without a gap", async () => {
  const events = await Array.fromAsync(await openai.responses.create({ model: "ada", input: "count 3", stream: true }));
  expect(events.map(({ type }) => type)).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.delta",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
  ]);
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
});

test("the runtime's tools are calls that need no answer", async () => {
  const response = await openai.responses.create({ model: "ada", input: "tool" });
  expect(response.output).toMatchObject([
    {
      type: "mcp_call",
      server_label: "agent",
      name: "Bash",
      arguments: '{"command":"date"}',
      output: "null character: ␀",
      status: "completed",
    },
    { type: "message", content: [{ type: "output_text", text: "done" }] },
  ]);
});

test("a response in the background is read on from any of its events, and cancelled", async () => {
  const agent = await newAgent("background");
  const begun = await openai.responses.create({ model: agent, input: "count 1000000 20", background: true });
  expect(begun.status).toBe("in_progress");
  const seen: ResponseStreamEvent[] = [];
  for await (const event of await openai.responses.retrieve(begun.id, { stream: true })) {
    seen.push(event);
    if (seen.length === 10) break;
  }
  const stream = await openai.responses.retrieve(begun.id, { stream: true, starting_after: 5 });
  const cancelled = openai.responses.cancel(begun.id);
  const rest = await Array.fromAsync(stream);
  expect(rest.slice(0, 4)).toEqual(seen.slice(6));
  expect(rest.at(-1)).toMatchObject({ type: "response.incomplete", response: { status: "cancelled" } });
  expect(await cancelled).toMatchObject({ status: "cancelled" });
  expect(await openai.responses.cancel(begun.id)).toMatchObject({ status: "cancelled" });
});

test("the conversation continues after its last response only", async () => {
  const agent = await newAgent("previous");
  const first = await openai.responses.create({ model: agent, input: "one" });
  const second = await openai.responses.create({ model: agent, input: "two", previous_response_id: first.id });
  expect(second.previous_response_id).toBe(first.id);
  const refused = { status: 409, code: "response_not_last", message: expect.stringContaining("has continued") };
  const late = openai.responses.create({ model: agent, input: "three", previous_response_id: first.id });
  await expect(late).rejects.toMatchObject(refused);
  const third = await openai.responses.create({ model: agent, input: "recall", previous_response_id: second.id });
  expect(third.output_text).toBe("one\ntwo\nrecall\n");
  const headers = { "x-berth-conversation": "new" };
  expect((await openai.responses.create({ model: agent, input: "recall" }, { headers })).output_text).toBe("recall\n");
  // An earlier conversation continues, too.
  const fourth = await openai.responses.create({ model: agent, input: "recall", previous_response_id: third.id });
  expect(fourth.output_text).toBe("one\ntwo\nrecall\nrecall\n");
  // Without an id, a response begins a conversation, and leaves the agent's current one as it was.
  expect((await openai.responses.create({ model: agent, input: "recall" })).output_text).toBe("recall\n");
  expect(await service.client.ask(agent, "recall")).toBe("recall\nrecall\n");
});

test("an external agent key continues its own responses only", async () => {
  const agent = await newAgent("guarded");
  const [narrow, other] = await Promise.all(
    ["one", "two"].map(async (name) =>
      openAiOf(await newKey(service.client, { name, kind: "agent", agents: [agent] })),
    ),
  );
  const secret = await openai.responses.create({ model: agent, input: "a secret" });
  const own = await narrow!.responses.create({ model: agent, input: "mine" });
  const next = { model: agent, input: "recall" };
  for (const [client, { id }] of [
    [narrow!, secret],
    [other!, own],
  ] as const) {
    const continued = client.responses.create({ ...next, previous_response_id: id });
    await expect(continued).rejects.toMatchObject({ status: 400, code: "previous_response_not_found" });
  }
  const continued = await narrow!.responses.create({ ...next, previous_response_id: own.id });
  expect(continued.output_text).toBe("mine\nrecall\n");
  // A full key may read all turns of the agent, and continues them.
  const both = await openai.responses.create({ ...next, previous_response_id: continued.id });
  expect(both.output_text).toBe("mine\nrecall\nrecall\n");
});

test("several chats with one agent do not mix when each names its conversation", async () => {
  const agent = await newAgent("chats");
  const { body } = await service.client.call("POST", `/agents/${agent}/conversations`, {});
  const ids = ["conversation-1", `conversation-${body.id}`] as const;
  const say = (input: string, id: string) => openai.responses.create({ model: agent, input, conversation: id });
  await Promise.all([say("red", ids[0]), say("blue", ids[1])]);
  await Promise.all([say("rose", ids[0]), say("sky", ids[1])]);
  const [one, two] = await Promise.all(ids.map((id) => say("recall", id)));
  expect([one!.output_text, two!.output_text]).toEqual(["red\nrose\nrecall\n", "blue\nsky\nrecall\n"]);
  expect(two!.conversation).toEqual({ id: ids[1] });
  expect(await openai.responses.retrieve(two!.id)).toMatchObject({ conversation: { id: ids[1] } });
  const streamed = await openai.responses.create({
    model: agent,
    input: "recall",
    conversation: { id: ids[0] },
    stream: true,
  });
  expect((await Array.fromAsync(streamed)).at(-1)).toMatchObject({
    response: { conversation: { id: ids[0] }, status: "completed" },
  });
  await expect(
    openai.responses.create(
      { model: agent, input: "x", conversation: ids[0] },
      { headers: { "x-berth-conversation": "new" } },
    ),
  ).rejects.toMatchObject({ status: 400, message: expect.stringContaining("not both") });
});

test("a conversation that the agent does not have is not found", async () => {
  for (const [id, message] of [
    ["thread_1", "A conversation's id is conversation-N"],
    ["conv_1", "no such conversation"],
    ["conversation-9", "no conversation 9"],
  ] as const) {
    await expect(openai.responses.create({ model: "ada", input: "x", conversation: id })).rejects.toMatchObject({
      status: 404,
      code: "conversation_not_found",
      message: expect.stringContaining(message),
    });
  }
});

test("what a response was asked is listed; a deleted one is gone, and its turn stays", async () => {
  const agent = await newAgent("items");
  const input = [
    { role: "user" as const, content: "long ago" },
    { role: "assistant" as const, content: "indeed" },
    { role: "user" as const, content: [{ type: "input_text" as const, text: "now" }] },
  ];
  const response = await openai.responses.create({ model: agent, input });
  expect(response.output_text).toBe("now");
  const items = await Array.fromAsync(await openai.responses.inputItems.list(response.id));
  expect(items).toMatchObject([{ type: "message", role: "user", content: [{ type: "input_text", text: "now" }] }]);
  await openai.responses.delete(response.id);
  await expect(openai.responses.retrieve(response.id)).rejects.toMatchObject({ status: 404 });
  await expect(openai.responses.delete(response.id)).rejects.toMatchObject({ code: "response_not_found" });
  expect((await service.client.call("GET", `/agents/${agent}/turns`)).body.data).toHaveLength(1);
  const unkept = await openai.responses.create({ model: agent, input: "x", store: false });
  expect([response, unkept]).toMatchObject([{ store: true }, { store: false }]);
  await expect(openai.responses.retrieve(unkept.id)).rejects.toMatchObject({ status: 404 });
});

test("instructions of the request and of its system messages are for that turn", async () => {
  const response = await openai.responses.create({
    model: "ada",
    instructions: "Be brief.",
    input: [
      { role: "developer", content: "In French." },
      { role: "user", content: "hello" },
    ],
  });
  expect(response.instructions).toBe("Be brief.");
});

const person = {
  type: "object" as const,
  properties: { name: { type: "string" } },
  required: ["name"],
  additionalProperties: false,
};
const giving = 'give {"name":1} | {"name":"Ada"}';
const format = { type: "json_schema" as const, name: "person", description: "A person", schema: person, strict: true };

test("a response with a schema is JSON, streamed and not, and its other texts are reasoning", async () => {
  const response = await openai.responses.create({ model: "ada", input: giving, text: { format } });
  expect(JSON.parse(response.output_text)).toEqual({ name: "Ada" });
  expect(response.text).toEqual({ format });
  expect(response.output.map(({ type }) => type)).toEqual(["reasoning", "message"]);
  expect(await openai.responses.retrieve(response.id)).toMatchObject({ output: response.output, text: { format } });
  const { output_parsed: parsed } = await openai.responses.parse({ model: "ada", input: giving, text: { format } });
  expect(parsed).toEqual({ name: "Ada" });
  const events = await Array.fromAsync(
    await openai.responses.create({ model: "ada", input: giving, text: { format }, stream: true }),
  );
  const deltas = events.flatMap((event) => (event.type === "response.output_text.delta" ? [event.delta] : []));
  expect(JSON.parse(deltas.join(""))).toEqual({ name: "Ada" });
  expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { text: { format } } });
});

test("a chat completion with a schema is JSON, streamed and not", async () => {
  const { type, ...json_schema } = format;
  const request = {
    model: "ada",
    messages: [{ role: "user" as const, content: giving }],
    response_format: { type, json_schema },
  };
  const { choices } = await openai.chat.completions.create(request);
  expect(JSON.parse(choices[0]!.message.content!)).toEqual({ name: "Ada" });
  const chunks = await Array.fromAsync(await openai.chat.completions.create({ ...request, stream: true }));
  const contents = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "");
  expect(JSON.parse(contents.join(""))).toEqual({ name: "Ada" });
});

test("an answer that does not match the schema is an error that says which", async () => {
  const messages = [{ role: "user" as const, content: 'give {"name":1} | {"name":2}' }];
  const { type, ...json_schema } = format;
  const request = { model: "ada", messages, response_format: { type, json_schema } };
  const error = await openai.chat.completions.create(request).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ status: 502, message: expect.stringContaining("/name must be string") });
  const response = await openai.responses.create({ model: "ada", input: "hello", text: { format } });
  expect(response).toMatchObject({
    status: "failed",
    error: { message: expect.stringContaining("without an output") },
  });
});

test("errors have OpenAI's shape, whoever finds them", async () => {
  const stranger = openAiOf({ url: service.client.url, key: "wrong" });
  await expect(stranger.models.list()).rejects.toMatchObject({ status: 401, code: "invalid_api_key" });
  await expect(openai.responses.create({ model: "nobody", input: "x" })).rejects.toMatchObject({
    status: 404,
    code: "model_not_found",
  });
  await expect(openai.responses.retrieve("resp_nonsense")).rejects.toMatchObject({ status: 404 });
  const crash = await openai.responses.create({ model: await newAgent("crashing"), input: "crash" });
  expect(crash).toMatchObject({ status: "failed", error: { code: "runtime_failed" } });
});

test("a chat completion answers the last user message", async () => {
  const messages = [
    { role: "system" as const, content: "Be brief." },
    { role: "user" as const, content: "before" },
    { role: "assistant" as const, content: "yes" },
    { role: "user" as const, content: "count 3" },
  ];
  const answer = await openai.chat.completions.create({ model: "ada", messages });
  expect(answer).toMatchObject({
    object: "chat.completion",
    model: "ada",
    choices: [{ finish_reason: "stop", message: { role: "assistant", content: "1 2 3 " } }],
  });
  const chunks = await Array.fromAsync(
    await openai.chat.completions.create({
      model: "ada",
      messages,
      stream: true,
      stream_options: { include_usage: true },
    }),
  );
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("1 2 3 ");
  expect(chunks.at(-2)!.choices[0]!.finish_reason).toBe("stop");
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 0 } });
});

test("a failed turn is not sent again by a client that retries", async () => {
  const agent = await newAgent("no-retry");
  const retrying = new OpenAI({ baseURL: openai.baseURL, apiKey: service.client.key, maxRetries: 3 });
  const messages = [{ role: "user" as const, content: "crash" }];
  await expect(retrying.chat.completions.create({ model: agent, messages })).rejects.toMatchObject({
    status: 500,
    code: "runtime_failed",
  });
  const failing = await retrying.chat.completions.create({ model: agent, messages, stream: true });
  await expect(Array.fromAsync(failing)).rejects.toThrow("The runtime ended");
  expect((await service.client.call("GET", `/agents/${agent}/turns`)).body.data).toHaveLength(2);
});

test("messages to an agent at work wait, and are answered in turn", async () => {
  const agent = await newAgent("at-work");
  const begun = await openai.responses.create({ model: agent, input: "count 30 20", background: true });
  let requests = 0;
  const counting = new OpenAI({
    baseURL: openai.baseURL,
    apiKey: service.client.key,
    maxRetries: 3,
    fetch: (...request) => {
      requests++;
      return fetch(...request);
    },
  });
  const messages = [{ role: "user" as const, content: "again" }];
  const [completion, response] = await Promise.all([
    counting.chat.completions.create({ model: agent, messages }),
    counting.responses.create({ model: agent, input: "and again" }),
  ]);
  expect([completion.choices[0]!.message.content, response.output_text]).toEqual(["again", "and again"]);
  expect(requests).toBe(2);
  expect(await openai.responses.retrieve(begun.id)).toMatchObject({ status: "completed" });
});

test("the models are the agents that the key may use", async () => {
  const names = (await Array.fromAsync(await openai.models.list())).map(({ id }) => id);
  expect(names).toContain("ada");
  expect(await openai.models.retrieve("ada")).toMatchObject({ id: "ada", object: "model", owned_by: "berth" });
  const { body } = await service.client.call("POST", "/keys", { kind: "agent", agents: ["ada"] });
  const external = openAiOf({ url: service.client.url, key: body.key });
  expect((await Array.fromAsync(await external.models.list())).map(({ id }) => id)).toEqual(["ada"]);
  const own = await openai.responses.create({ model: "ada", input: "mine" });
  await expect(external.responses.retrieve(own.id)).rejects.toMatchObject({ status: 403 });
  const its = await external.responses.create({ model: "ada", input: "its own" });
  expect((await external.responses.retrieve(its.id)).output_text).toBe("its own");
});

test("responses come over a WebSocket too, one after the other", async () => {
  const agent = await newAgent("socket");
  const socket = new ResponsesWS(openai);
  const seen: ResponsesServerEvent[] = [];
  const { promise: done, resolve } = Promise.withResolvers<void>();
  let ends = 0;
  socket.on("event", (event) => {
    seen.push(event);
    if (event.type === "response.completed" && ++ends === 3) resolve();
  });
  socket.on("error", () => {});
  // Some clients send `stream`, which OpenAI's server ignores.
  socket.send({ type: "response.create", model: agent, input: "count 2", stream: true } as never);
  socket.send({ type: "response.create", model: agent, input: "two" });
  socket.send({ type: "response.create", model: "nobody", input: "x" });
  socket.send({ type: "response.create", model: agent, input: Array(150_000).fill(0) as never });
  socket.send({ type: "response.create", model: agent, input: 'call weather {"city":"Oslo"}', tools: [weather] });
  await done;
  socket.close();
  const texts = seen.map((event) => (event.type === "response.output_text.delta" ? event.delta : ""));
  expect(texts.join("")).toBe("1 2 two");
  expect(seen.filter(({ type }) => type === "error")).toMatchObject([
    { status: 404, error: { code: "model_not_found" } },
    { status: 400, error: { message: expect.stringContaining("JSON values") } },
  ]);
  expect(seen.at(-1)).toMatchObject({ response: { output: [{ type: "function_call", name: "weather" }] } });
  const { data } = (await service.client.call("GET", `/audit?agent=${agent}`)).body;
  expect(
    data.map(({ operation }: { operation: string }) => operation).filter((each: string) => each.includes("v1")),
  ).toEqual(Array(3).fill("POST /v1/responses"));
});

test("a request of too many values is refused before it is read; an answer in one piece is bounded", async () => {
  const agent = await newAgent("bounded");
  const { client } = service;
  const many = `{"model":"${agent}","input":[${"{},".repeat(200_000)}{}]}`;
  const deep = `{"model":"${agent}","input":${"[".repeat(5_000)}${"]".repeat(5_000)}}`;
  for (const body of [many, deep]) {
    const refused = await client.call("POST", "/v1/responses", body);
    expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining("JSON values")]);
  }
  const large = { role: "user", content: "x".repeat(3 * 1024 * 1024) };
  const input = [large, { role: "assistant", content: "yes" }, { role: "user", content: "and now" }];
  expect((await client.call("POST", "/v1/responses", { model: agent, input })).body.status).toBe("completed");
  const whole = await openai.responses.create({ model: agent, input: "bulk 60 100000" });
  expect(whole.output_text.length).toBe(4 * 1024 * 1024);
  const messages = [{ role: "user" as const, content: "bulk 60 100000" }];
  const { choices } = await openai.chat.completions.create({ model: agent, messages });
  expect(choices[0]).toMatchObject({ finish_reason: "length" });
  const chunks = await Array.fromAsync(await openai.chat.completions.create({ model: agent, messages, stream: true }));
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("").length).toBe(6_000_000);
});
