import { sql } from "kysely";
import type OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { databaseOf } from "../support/accounts.ts";
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

/** A fresh agent, since a test's turns are part of its agent's conversation. */
async function newAgent(name: string): Promise<string> {
  await service.client.createAgent(name);
  return name;
}

const weather = {
  type: "function" as const,
  name: "weather",
  description: "Of a city",
  parameters: { type: "object", properties: { city: { type: "string" } } },
  strict: false,
};

test("a function of the client ends a response, and its output goes into the same turn", async () => {
  const agent = await newAgent("functions");
  const tools = [weather];
  const first = await openai.responses.create({ model: agent, input: 'call weather {"city":"Oslo"}', tools });
  expect(first).toMatchObject({
    status: "completed",
    output: [{ type: "function_call", name: "weather", arguments: '{"city":"Oslo"}', status: "completed" }],
  });
  const [call] = first.output;
  const output = {
    type: "function_call_output" as const,
    call_id: (call as { call_id: string }).call_id,
    output: "rain",
  };
  const history = [{ role: "user" as const, content: "call weather" }, call!, output];
  const second = await openai.responses.create({ model: agent, input: history as never, tools });
  expect(second.output_text).toBe("rain");
  const alone = await openai.responses.create({ model: agent, input: 'call weather {"city":"Rome"}', tools });
  const next = { ...output, call_id: (alone.output[0] as { call_id: string }).call_id, output: "sun" };
  const last = await openai.responses.create({ model: agent, input: [next], previous_response_id: alone.id, tools });
  expect(last.output_text).toBe("sun");
  const { data } = (await service.client.call("GET", `/agents/${agent}/turns`)).body;
  expect(data.map(({ reply }: { reply: string }) => reply)).toEqual(["sun", "rain"]);
  await expect(openai.responses.create({ model: agent, input: [next], tools })).rejects.toMatchObject({
    status: 409,
    code: "function_not_waiting",
  });
});

test("the usages of a turn's responses add up to the turn's", async () => {
  const agent = await newAgent("usage");
  const [input, tools] = ["think weather", [weather]];
  const first = await openai.responses.create({ model: agent, input, tools });
  expect(first).toMatchObject({ status: "completed", completed_at: expect.any(Number) });
  const call = first.output[0] as { call_id: string };
  const output = { type: "function_call_output" as const, call_id: call.call_id, output: "rain" };
  const second = await openai.responses.create({ model: agent, input: [output], tools });
  const turn = (await service.client.call("GET", `/agents/${agent}/turns`)).body.data[0];
  const [one, other] = [first.usage!, second.usage!];
  expect(one.total_tokens).toBeGreaterThan(0);
  expect(other.total_tokens).toBeGreaterThan(0);
  expect([one.input_tokens + other.input_tokens, one.output_tokens + other.output_tokens]).toEqual([
    turn.usage.inputTokens,
    turn.usage.outputTokens,
  ]);
  for (const response of [first, second]) {
    expect((await openai.responses.retrieve(response.id)).usage).toEqual(response.usage);
  }
  const { type, ...definition } = weather;
  const messages = [{ role: "user" as const, content: "think weather" }];
  const answer = await openai.chat.completions.create({
    model: agent,
    messages,
    tools: [{ type, function: definition }],
  });
  expect(answer.usage).toMatchObject({ prompt_tokens: one.input_tokens, completion_tokens: one.output_tokens });
});

test("an output for a call of another conversation is refused", async () => {
  const agent = await newAgent("elsewhere");
  await service.client.call("POST", `/agents/${agent}/conversations`, {});
  const tools = [weather];
  const asked = { model: agent, input: "call weather", tools, conversation: "conversation-2" };
  const { call_id } = (await openai.responses.create(asked)).output[0] as { call_id: string };
  const input = [{ type: "function_call_output" as const, call_id, output: "rain" }];
  await expect(
    openai.responses.create({ model: agent, input, tools, conversation: "conversation-1" }),
  ).rejects.toMatchObject({ status: 409, message: expect.stringContaining("in another conversation") });
  const last = await openai.responses.create({ model: agent, input, tools, conversation: "conversation-2" });
  expect(last.output_text).toBe("rain");
});

test("functions that are called at once are asked for one after the other", async () => {
  const agent = await newAgent("several");
  const tools = [weather];
  let response = await openai.responses.create({ model: agent, input: "calls weather 3", tools });
  for (let n = 1; n <= 3; n++) {
    expect(response.output).toMatchObject([{ type: "function_call" }]);
    const call = response.output[0] as { call_id: string; arguments: string };
    const output = `answer ${JSON.parse(call.arguments).n}`;
    const input = [{ type: "function_call_output" as const, call_id: call.call_id, output }];
    response = await openai.responses.create({ model: agent, input, tools });
  }
  expect(response.output_text).toBe("answer 1, answer 2, answer 3");
});

test("a new message gives up a turn that waits for a function", async () => {
  const agent = await newAgent("moved-on");
  await openai.responses.create({ model: agent, input: "call weather", tools: [weather] });
  const next = await openai.responses.create({ model: agent, input: "never mind" });
  expect(next.output_text).toBe("never mind");
  const { data } = (await service.client.call("GET", `/agents/${agent}/turns`)).body;
  expect(data.map(({ status }: { status: string }) => status)).toEqual(["completed", "cancelled"]);
});

test("a client's functions are not called where tool_choice is none", async () => {
  const agent = await newAgent("no-tools");
  const response = await openai.responses.create({
    model: agent,
    input: "call weather",
    tools: [weather],
    tool_choice: "none",
  });
  expect(response.status).toBe("completed");
  expect(response.output.map(({ type }) => type)).not.toContain("function_call");
});

test("a function of the client is called by chat completions too", async () => {
  const { type, ...definition } = weather;
  const agent = await newAgent("chat-functions");
  const tools = [{ type, function: definition }];
  const user = { role: "user" as const, content: 'call weather {"city":"Oslo"}' };
  const stream = openai.chat.completions.stream({ model: agent, messages: [user], tools });
  const { choices } = await stream.finalChatCompletion();
  expect(choices[0]).toMatchObject({ finish_reason: "tool_calls", message: { content: "" } });
  const [call] = choices[0]!.message.tool_calls!;
  expect(call).toMatchObject({ function: { name: "weather", arguments: '{"city":"Oslo"}' } });
  const answer = await openai.chat.completions.create({
    model: agent,
    messages: [user, choices[0]!.message, { role: "tool", tool_call_id: call!.id, content: "rain" }],
    tools,
  });
  expect(answer.choices[0]!.message.content).toBe("rain");
});

test("a function's result that was stored and not delivered is delivered by the retry", async () => {
  const agent = await newAgent("redeliver");
  const first = await openai.responses.create({
    model: agent,
    input: 'call weather {"city":"Oslo"}',
    tools: [weather],
  });
  const call = first.output[0] as { call_id: string };
  const input = [{ type: "function_call_output" as const, call_id: call.call_id, output: "rain" }];
  const database = await databaseOf(service);
  await sql`create function late() returns trigger language plpgsql as $$
    begin perform pg_sleep(11); return new; end $$`.execute(database);
  await sql`create trigger late before insert on responses for each row execute function late()`.execute(database);
  const resume = () =>
    openai.responses.create(
      { model: agent, input, previous_response_id: first.id },
      { headers: { "idempotency-key": "result" } },
    );
  await expect(resume()).rejects.toMatchObject({ status: 503 });
  const stored = () =>
    database
      .selectFrom("responses")
      .innerJoin("agents", "agents.id", "responses.agent_id")
      .select("responses.id")
      .where("agents.name", "=", agent)
      .where("after_seq", ">", 0)
      .execute();
  await expect.poll(stored).toHaveLength(1);
  await sql`drop trigger late on responses`.execute(database);
  await database.destroy();
  expect((await resume()).output_text).toContain("rain");
});
