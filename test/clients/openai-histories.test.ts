import type OpenAI from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import { post, requireSchema, session, stream } from "../support/open-responses.ts";
import { openAiOf } from "../support/openai-client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Which conversation a message of OpenAI's APIs is in, and what an agent knows there.

let service: ScriptedService;
let openai: OpenAI;
let database: Database;

beforeAll(async () => {
  service = await ScriptedService.start();
  database = await databaseOf(service);
  openai = openAiOf(service.client);
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

async function newAgent(name: string): Promise<string> {
  await service.client.createAgent(name);
  return name;
}

async function turnsOf(agent: string) {
  const { data } = (await service.client.call("GET", `/agents/${agent}/turns`)).body;
  return data as { message: string; conversation: number; status: string }[];
}

/** A chat that sends its complete history with each message. */
function chatOf(agent: string, client = openai) {
  const messages: ChatCompletionMessageParam[] = [];
  const say = async (content: string) => {
    messages.push({ role: "user", content });
    const { choices } = await client.chat.completions.create({ model: agent, messages });
    const [{ message }] = choices as [(typeof choices)[0]];
    messages.push({ role: "assistant", content: message.content });
    return message.content;
  };
  return { messages, say };
}

/** The text with which a conversation begins. */
async function replayOf(agent: string, conversation: number): Promise<string | null> {
  const { text } = await database
    .selectFrom("conversations")
    .innerJoin("agents", "agents.id", "agent_id")
    .leftJoin("retold_conversations", "retold_conversations.id", "beginning")
    .select("text")
    .where("agents.name", "=", agent)
    .where("number", "=", conversation)
    .executeTakeFirstOrThrow();
  return text;
}

describe("a message with its history", () => {
  test("continues the conversation that has it", async () => {
    const agent = await newAgent("history");
    const [one, other] = [chatOf(agent), chatOf(agent)];
    await one.say("red");
    await other.say("blue");
    await one.say("rose");
    expect(await one.say("recall")).toBe("red\nrose\nrecall\n");
    expect(await other.say("recall")).toBe("blue\nrecall\n");
    expect(new Set((await turnsOf(agent)).map(({ conversation }) => conversation)).size).toBe(2);
    // The agent's current conversation is another.
    expect(await service.client.ask(agent, "recall")).toBe("recall\n");
  });

  test("begins a conversation that retells it, if no conversation has it", async () => {
    const agent = await newAgent("retold");
    const chat = chatOf(agent);
    await chat.say("red");
    chat.messages[1] = { role: "assistant", content: "something else" };
    expect(await chat.say("recall")).toBe("recall\n");
    const [last] = await turnsOf(agent);
    expect(await replayOf(agent, last!.conversation)).toMatch(/User: red\n\nYou: something else$/);
    expect(await chat.say("recall")).toBe("recall\nrecall\n");
  });

  test("is answered again in another conversation", async () => {
    const agent = await newAgent("again");
    const chat = chatOf(agent);
    await chat.say("red");
    await chat.say("rose");
    chat.messages.splice(2);
    expect(await chat.say("recall")).toBe("recall\n");
  });

  test("continues with functions, and after an output that is JSON", async () => {
    const agent = await newAgent("objects");
    const tools = [{ type: "function" as const, function: { name: "weather" } }];
    const messages: ChatCompletionMessageParam[] = [{ role: "user", content: "call weather" }];
    for (const content of ["rain", null]) {
      const { choices } = await openai.chat.completions.create({ model: agent, messages, tools });
      const { message } = choices[0]!;
      messages.push(message);
      if (content) messages.push({ role: "tool", tool_call_id: message.tool_calls![0]!.id, content });
    }
    messages.push({ role: "user", content: 'give {"a":1}' });
    const schema = { type: "object", properties: { a: { type: "integer" } } };
    const response_format = { type: "json_schema" as const, json_schema: { name: "a", schema } };
    const { choices } = await openai.chat.completions.create({ model: agent, messages, response_format });
    expect(choices[0]!.message.content).toBe('{"a":1}');
    messages.push({ role: "assistant", content: '{ "a": 1 }' }, { role: "user", content: "recall" });
    await openai.chat.completions.create({ model: agent, messages });
    expect(new Set((await turnsOf(agent)).map(({ conversation }) => conversation)).size).toBe(1);
  });

  test("is another key's own", async () => {
    const agent = await newAgent("keys");
    const narrow = await newKey(service.client, { name: "narrow", kind: "agent", agents: [agent] });
    const [mine, theirs] = [chatOf(agent), chatOf(agent, openAiOf(narrow))];
    await mine.say("red");
    theirs.messages.push(...mine.messages);
    expect(await theirs.say("recall")).toBe("recall\n");
    expect(await mine.say("recall")).toBe("red\nrecall\n");
  });

  test("continues in Responses, which begin a conversation without one", async () => {
    const agent = await newAgent("responses");
    const first = await openai.responses.create({ model: agent, input: "red" });
    const input = [
      { role: "user" as const, content: "red" },
      ...first.output,
      { role: "user" as const, content: "recall" },
    ];
    const next = await openai.responses.create({ model: agent, input: input as never });
    expect(next.output_text).toBe("red\nrecall\n");
    expect((await openai.responses.create({ model: agent, input: "recall" })).output_text).toBe("recall\n");
  });
});

test("17 requests at once are answered one after the other", async () => {
  const agent = await newAgent("many");
  const answers = await Promise.all(
    Array.from({ length: 17 }, (_, n) => openai.responses.create({ model: agent, input: `number ${n}` })),
  );
  expect(answers.map(({ output_text: text }) => text)).toEqual(Array.from({ length: 17 }, (_, n) => `number ${n}`));
});

describe("a function that its client does not answer", () => {
  const tools = [{ type: "function" as const, name: "weather", parameters: {}, strict: false }];

  test("gives way to the client's message in another conversation", async () => {
    const agent = await newAgent("unanswered");
    await openai.responses.create({ model: agent, input: "call weather", tools });
    expect((await openai.responses.create({ model: agent, input: "never mind" })).output_text).toBe("never mind");
    expect((await turnsOf(agent)).map(({ status }) => status)).toEqual(["completed", "cancelled"]);
  });

  test("waits while a message of another key waits", async () => {
    const agent = await newAgent("others");
    const other = openAiOf(await newKey(service.client, { name: "narrow", kind: "agent", agents: [agent] }));
    const first = await openai.responses.create({ model: agent, input: "call weather", tools });
    const waiting = other.responses.create({ model: agent, input: "hello" });
    // The other key's message does not end the turn: after the time that its own would, the result is still accepted.
    await openai.responses.create({ model: await newAgent("clock"), input: "count 13 1000" });
    const { call_id } = first.output[0] as { call_id: string };
    const input = [{ type: "function_call_output" as const, call_id, output: "rain" }];
    expect((await openai.responses.create({ model: agent, input, tools })).output_text).toBe("rain");
    expect((await waiting).output_text).toBe("hello");
  });
});

describe("compaction", () => {
  const user = (content: string) => ({ type: "message", role: "user", content });
  const compact = (body: object) => post(service.client, "/responses/compact", body);

  test("keeps the texts and instructions of messages for another conversation", async () => {
    const model = await newAgent("compacted");
    const history = [
      { type: "message", role: "developer", content: "Be brief." },
      user("My ship is called Ada."),
      { type: "message", role: "assistant", content: "Noted." },
    ];
    const { body } = await compact({ model, input: history });
    const ask = (input: unknown) => post(service.client, "/responses", { model, input });
    const { body: next } = await ask([...body.output, user("recall")]);
    expect(next.status).toBe("completed");
    const [turn] = await turnsOf(model);
    expect(await replayOf(model, turn!.conversation)).toMatch(/User: My ship is called Ada.\n\nYou: Noted.$/);
    // A conversation continues with it, and compacts again.
    const { body: more } = await ask([...body.output, user("recall"), ...next.output, user("recall")]);
    expect(more.output[0].content[0].text).toBe("recall\nrecall\n");
    const again = await compact({ model, input: [...body.output, user("The harbour is Oslo.")] });
    await ask([...again.body.output, user("and now")]);
    const [last] = await turnsOf(model);
    expect(await replayOf(model, last!.conversation)).toMatch(/Ada[\s\S]+Noted[\s\S]+Oslo/);
    const items = (await service.client.call("GET", `/v1/responses/${next.id}/input_items`)).body.data;
    expect(items).toMatchObject([{ role: "user", content: [{ text: "recall" }] }]);
  });

  test("keeps the conversation of a stored response up to it", async () => {
    const model = await newAgent("until");
    const first = await openai.responses.create({ model, input: "one" });
    const second = await openai.responses.create({ model, input: "two", previous_response_id: first.id });
    await openai.responses.create({ model, input: "three", previous_response_id: second.id });
    const compaction = await openai.responses.compact({ model: model as never, previous_response_id: second.id });
    const input = [...compaction.output, user("recall")] as never;
    expect((await openai.responses.create({ model, input })).output_text).toBe("recall\n");
    const [turn] = await turnsOf(model);
    expect(await replayOf(model, turn!.conversation)).toMatch(/User: one[\s\S]+User: two\n\nYou: two$/);
    // The record of a conversation that began with a record has both.
    const further = await openai.responses.create({ model, input: [...compaction.output, user("four")] as never });
    const later = await openai.responses.compact({ model: model as never, previous_response_id: further.id });
    await openai.responses.create({ model, input: [...later.output, user("five")] as never });
    const [last] = await turnsOf(model);
    expect(await replayOf(model, last!.conversation)).toMatch(
      /User: one[\s\S]+User: two[\s\S]+User: four\n\nYou: four$/,
    );
  });

  test("refuses what is unknown, unfinished, changed, empty or too much", async () => {
    const model = await newAgent("refusals");
    const other = await openai.responses.create({ model: await newAgent("elsewhere"), input: "hello" });
    const running = await openai.responses.create({ model, input: "hang", background: true });
    const narrow = openAiOf(await newKey(service.client, { name: "narrow", kind: "agent", agents: [model] }));
    const refusal = async (body: object) => {
      const { status, body: answer } = await compact(body);
      return [status, answer.error.code];
    };
    expect(await refusal({ model: "nobody", input: "x" })).toEqual([404, "model_not_found"]);
    expect(await refusal({ model })).toEqual([400, "request_invalid"]);
    expect(await refusal({ model, previous_response_id: "resp_1" })).toEqual([400, "previous_response_not_found"]);
    expect(await refusal({ model, previous_response_id: other.id })).toEqual([400, "previous_response_not_found"]);
    expect(await refusal({ model, previous_response_id: running.id })).toEqual([409, "turn_in_progress"]);
    await expect(
      narrow.responses.compact({ model: model as never, previous_response_id: running.id }),
    ).rejects.toMatchObject({ code: "previous_response_not_found" });
    await openai.responses.cancel(running.id);
    const item = (await compact({ model, input: "hello" })).body.output[0];
    const changed = { ...item, encrypted_content: `${item.encrypted_content.slice(0, -4)}AAAA` };
    const refused = async (input: object[]) => (await post(service.client, "/responses", { model, input })).body.error;
    expect((await refused([changed, user("x")])).message).toContain("input.0: this compaction item is not one");
    expect((await refused([item])).message).toContain("no user message");
    expect((await refused([...Array(21).fill(item), user("x")])).message).toContain("limited to 20 compaction items");
    const stranger = await newAccount(service);
    await stranger.createAgent("theirs");
    const foreign = await post(stranger, "/responses", { model: "theirs", input: [item, user("x")] });
    expect(foreign.body.error.message).toContain("not one of this workspace");
  });

  test("bounds the texts that it keeps", async () => {
    const model = await newAgent("bounded");
    const long = Array.from({ length: 30 }, (_, n) => user(`${n} ${"x".repeat(9_000)}`));
    const { body } = await compact({ model, input: [...long, user("y".repeat(30_000))] });
    expect(body.output[0].encrypted_content.length).toBeLessThan(200_000);
    await post(service.client, "/responses", { model, input: [...body.output, user("x")] });
    const [turn] = await turnsOf(model);
    const replay = (await replayOf(model, turn!.conversation))!;
    expect(replay).toContain("User: 29 x");
    expect(replay).not.toContain("User: 9 x");
    expect(replay).toContain(`${"y".repeat(19_999)} (…)`.slice(-100));
  });
});

describe("a WebSocket", () => {
  test("prepares a response, which the next request continues", async () => {
    const model = await newAgent("warm");
    const [prepared, next, stale] = await session(service.client, [
      () => ({ model, store: false, generate: false, input: [{ role: "developer", content: "Be brief." }] }),
      (turns) => ({ model, previous_response_id: turns[0]!.response.id, input: "hello" }),
      (turns) => ({ model, previous_response_id: turns[0]!.response.id, input: "hello" }),
    ]);
    expect(prepared!.response).toMatchObject({ status: "completed", output: [], usage: null, store: false });
    expect(next!.response.output).toMatchObject([{ content: [{ text: "hello" }] }]);
    expect(stale!.code).toBe("previous_response_not_found");
    expect(await turnsOf(model)).toHaveLength(1);
    const { status, body } = await post(service.client, "/responses", { model, input: "x", generate: false });
    expect([status, body.error.param]).toEqual([400, "generate"]);
  });

  test("prepares a bounded input", async () => {
    const model = await newAgent("prepared");
    const prepare = (previous_response_id: string | null) => ({
      ...{ model, store: false, generate: false, previous_response_id },
      input: [{ role: "user", content: "x".repeat(600_000) }],
    });
    const [first, second, third] = await session(service.client, [
      () => prepare(null),
      (turns) => prepare(turns[0]!.response.id),
      (turns) => ({ model, input: "next", previous_response_id: turns[0]!.response.id }),
    ]);
    expect(first!.response.status).toBe("completed");
    expect([second!.code, third!.code]).toEqual(["body_too_large", "previous_response_not_found"]);
  });

  test("does not continue a response that failed, or another agent's", async () => {
    const [model, other] = [await newAgent("failing"), await newAgent("sound")];
    const turns = await session(service.client, [
      () => ({ model, store: false, input: "crash" }),
      (before) => ({ model, store: false, input: "next", previous_response_id: before[0]!.response.id }),
      () => ({ model: other, store: false, input: "hello" }),
      (before) => ({ model, store: false, input: "next", previous_response_id: before[2]!.response.id }),
    ]);
    expect(turns.map(({ code }) => code)).toEqual([null, "previous_response_not_found", null, "response_not_last"]);
    expect(turns[0]!.response.status).toBe("failed");
  });
});

test("a client that answers its function is not given up while the agent works on", async () => {
  const model = await newAgent("answered");
  const tools = [{ type: "function" as const, name: "weather", parameters: {}, strict: false }];
  const first = await openai.responses.create({ model, input: "calls weather 1", tools });
  const waiting = openai.responses.create({ model, input: "hello" });
  const { call_id } = first.output[0] as { call_id: string };
  const input = [{ type: "function_call_output" as const, call_id, output: "rain" }];
  expect((await openai.responses.create({ model, input, tools })).output_text).toBe("rain");
  expect((await waiting).output_text).toBe("hello");
});

test("the events of every kind of stream match the document", async () => {
  const model = await newAgent("events");
  const tools = [{ type: "function", name: "weather" }];
  const schema = { type: "object", properties: { a: { type: "integer" } } };
  const format = { type: "json_schema", name: "a", schema };
  for (const input of ["count 2", "tool", "crash", "call weather", 'give {"a":1}']) {
    const text = input.startsWith("give") ? { text: { format } } : {};
    const { response } = await stream(service.client, {
      model,
      input,
      tools: input.startsWith("call") ? tools : [],
      ...text,
    });
    expect(response.status).toBe(input === "crash" ? "failed" : "completed");
  }
  for (const content of ["count 2", "call weather", "crash"]) {
    const messages = [{ role: "user", content }];
    const functions = [{ type: "function", function: { name: "weather" } }];
    const asked = { model, messages, stream: true, tools: functions, stream_options: { include_usage: true } };
    const text = await (await service.client.fetch("POST", "/v1/chat/completions", asked)).text();
    const chunks = text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []));
    const failed = chunks.filter((chunk) => "error" in chunk);
    expect(failed.length).toBe(content === "crash" ? 1 : 0);
    for (const chunk of chunks) if (!("error" in chunk)) requireSchema("ChatCompletionChunk", chunk);
  }
});
