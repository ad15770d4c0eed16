import { LLMock } from "@copilotkit/aimock";
import type OpenAI from "openai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { cleanUp } from "../../src/upkeep/clean-up-store.ts";
import { databaseOf, newKey } from "../support/accounts.ts";
import { ModelProxy } from "../support/model-proxy.ts";
import { openAiOf } from "../support/openai-client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// OpenAI's Conversations API with the `openai` package, unmodified.

const mock = new LLMock({ port: 0 });
let proxy: ModelProxy;
let service: ScriptedService;
let openai: OpenAI;
let agent: string;
let number = 0;

beforeAll(async () => {
  mock.onMessage(/.*/, { content: "Hello from the mock model." });
  proxy = await new ModelProxy(await mock.start()).listen();
  service = await ScriptedService.start({ anthropic: { baseUrl: proxy.url, apiKey: "the-key" } });
  openai = openAiOf(service.client);
});
/** Each test has an agent of its own. */
beforeEach(async () => {
  agent = `agent-${++number}`;
  await service.client.createAgent(agent);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  await mock.stop();
});

const say = (input: string, conversation: string, model = agent) =>
  openai.responses.create({ model, input, conversation });

/** The roles and texts of a conversation's items. */
async function textsOf(id: string, query: { order?: "asc" | "desc"; limit?: number } = {}): Promise<string[]> {
  const texts: string[] = [];
  for await (const item of openai.conversations.items.list(id, { order: "asc", ...query })) {
    const { role, content } = item as OpenAI.Conversations.Message;
    texts.push(`${role}: ${(content[0] as { text: string }).text}`);
  }
  return texts;
}

test("conversations of one agent do not mix, and each lists its messages and replies", async () => {
  const [one, two] = await Promise.all([
    openai.conversations.create({ metadata: { ticket: "7" } }),
    openai.conversations.create(),
  ]);
  expect(one).toEqual({
    id: expect.stringMatching(/^conv_[0-9a-f]{32}$/),
    object: "conversation",
    created_at: expect.any(Number),
    metadata: { ticket: "7" },
  });
  await Promise.all([say("red", one.id), say("blue", two.id)]);
  const [first, second] = await Promise.all([say("recall", one.id), say("recall", two.id)]);
  expect([first.output_text, second.output_text]).toEqual(["red\nrecall\n", "blue\nrecall\n"]);
  expect(first.conversation).toEqual({ id: one.id });
  expect(await openai.responses.retrieve(first.id)).toMatchObject({ conversation: { id: one.id } });
  expect(await textsOf(one.id)).toEqual(["user: red", "assistant: red", "user: recall", "assistant: red\nrecall\n"]);
  const other = await openai.responses.create({ model: agent, input: "recall" });
  expect(other.output_text).toBe("recall\n");
});

test("earlier messages reach the agent with its first message, and are listed before it", async () => {
  const { id } = await openai.conversations.create({
    items: [
      { type: "message", role: "developer", content: "Answer in French." },
      { role: "user", content: "The ship is blue." },
    ],
  });
  const added = await openai.conversations.items.create(id, {
    items: [{ role: "assistant", content: [{ type: "output_text", text: "Noted.", annotations: [] }] } as never],
  });
  expect(added.data).toMatchObject([{ type: "message", role: "assistant", status: "completed" }]);
  await service.client.call("PATCH", `/agents/${agent}`, { model: "anthropic/claude-3-5-sonnet-20241022" });
  proxy.requests.length = 0;
  await say("ask", id);
  const instructions = (proxy.asked[0]!.body.system as { text: string }[]).at(-1)!.text;
  expect(instructions).toContain("Answer in French.");
  expect(instructions).toContain("User: The ship is blue.\n\nYou: Noted.");
  const earlier = ["developer: Answer in French.", "user: The ship is blue.", "assistant: Noted."];
  expect((await textsOf(id)).slice(0, 4)).toEqual([...earlier, "user: ask"]);
  await expect(
    openai.conversations.items.create(id, { items: [{ role: "user", content: "too late" }] }),
  ).rejects.toMatchObject({ status: 400, message: expect.stringContaining("before a conversation's first response") });
  await expect(openai.conversations.items.delete(added.first_id, { conversation_id: id })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("before a conversation's first response"),
  });
});

test("pages of items follow each other in both orders", async () => {
  const items = Array.from({ length: 5 }, (_, index) => ({ role: "user" as const, content: `kept ${index}` }));
  const { id } = await openai.conversations.create({ items });
  expect(await textsOf(id, { limit: 2 })).toEqual(items.map(({ content }) => `user: ${content}`));
  for (const message of ["a", "b", "c", "d"]) await say(message, id);
  const all = [
    ...items.map(({ content }) => `user: ${content}`),
    ...["a", "b", "c", "d"].flatMap((text) => [`user: ${text}`, `assistant: ${text}`]),
  ];
  for (const limit of [1, 2, 3, 5, 100]) {
    expect([limit, await textsOf(id, { limit })]).toEqual([limit, all]);
    expect([limit, await textsOf(id, { limit, order: "desc" })]).toEqual([limit, all.toReversed()]);
  }
  for (const after of ["msg_1", `msg_${"0".repeat(32)}_in`]) {
    await expect(openai.conversations.items.list(id, { after })).rejects.toMatchObject({ status: 400 });
  }
});

test("an item is read, and deleted before the first response", async () => {
  const { id } = await openai.conversations.create({
    items: [
      { role: "user", content: "one" },
      { role: "user", content: "two" },
    ],
  });
  const [one, two] = (await openai.conversations.items.list(id, { order: "asc" })).data;
  expect(await openai.conversations.items.retrieve(two!.id!, { conversation_id: id })).toEqual(two);
  expect(await openai.conversations.items.delete(one!.id!, { conversation_id: id })).toMatchObject({ id });
  for (const itemId of [one!.id!, `msg_${"0".repeat(32)}_out`, "none"]) {
    for (const call of ["retrieve", "delete"] as const) {
      await expect(openai.conversations.items[call](itemId, { conversation_id: id })).rejects.toMatchObject({
        status: 404,
        message: expect.stringContaining("no item with this id"),
      });
    }
  }
  await say("three", id);
  expect(await textsOf(id)).toEqual(["user: two", "user: three", "assistant: three"]);
  const [, , reply] = (await openai.conversations.items.list(id, { order: "asc" })).data;
  expect(await openai.conversations.items.retrieve(reply!.id!, { conversation_id: id })).toEqual(reply);
});

test("metadata is replaced", async () => {
  const { id } = await openai.conversations.create({ metadata: { a: "1" } });
  expect(await openai.conversations.update(id, { metadata: { b: "2" } })).toMatchObject({ metadata: { b: "2" } });
  expect(await openai.conversations.retrieve(id)).toMatchObject({ id, metadata: { b: "2" } });
});

test("a conversation stays with the agent of its first response", async () => {
  const { id } = await openai.conversations.create();
  await say("hello", id);
  await service.client.createAgent("another");
  await expect(say("hello", id, "another")).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("belongs to another agent"),
  });
});

test("of two first responses at once, with two agents, one is refused", async () => {
  await service.client.createAgent("rival");
  const { id } = await openai.conversations.create();
  const both = await Promise.allSettled([say("hello", id), say("hello", id, "rival")]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test("a deleted conversation is gone, and its turns stay", async () => {
  const unused = await openai.conversations.create();
  const { id } = await openai.conversations.create();
  await say("hello", id);
  const running = await openai.responses.create({
    model: agent,
    input: "count 1000000 20",
    conversation: id,
    background: true,
  });
  await expect(openai.conversations.delete(id)).rejects.toMatchObject({ status: 409, code: "conversation_in_use" });
  await openai.responses.cancel(running.id);
  for (const each of [unused.id, id]) {
    expect(await openai.conversations.delete(each)).toEqual({
      id: each,
      object: "conversation.deleted",
      deleted: true,
    });
    for (const call of ["retrieve", "delete"] as const)
      await expect(openai.conversations[call](each)).rejects.toMatchObject({ status: 404 });
    await expect(say("hello", each)).rejects.toMatchObject({ status: 404, code: "conversation_not_found" });
  }
  expect((await service.client.call("GET", `/agents/${agent}/turns`)).body.data).toHaveLength(2);
  expect((await service.client.call("GET", `/agents/${agent}/conversations`)).body.data).toHaveLength(1);
});

test("it is deleted with the agent's conversation, and with the agent", async () => {
  const ids = [(await openai.conversations.create()).id, (await openai.conversations.create()).id];
  for (const id of ids) await say("hello", id);
  const { body } = await service.client.call("GET", `/agents/${agent}/turns`);
  const { conversation } = body.data.at(-1);
  expect((await service.client.call("DELETE", `/agents/${agent}/conversations/${conversation}`)).status).toBe(204);
  await expect(openai.conversations.retrieve(ids[0]!)).rejects.toMatchObject({ status: 404 });
  await service.client.call("DELETE", `/agents/${agent}?wait=deleted`);
  await expect(openai.conversations.retrieve(ids[1]!)).rejects.toMatchObject({ status: 404 });
});

test("an external agent key uses its own conversations only", async () => {
  const key = await newKey(service.client, { kind: "agent", agents: [agent] });
  const narrow = openAiOf(key);
  const own = await narrow.conversations.create();
  const reply = await narrow.responses.create({ model: agent, input: "hello", conversation: own.id });
  expect(reply.output_text).toBe("hello");
  const owners = await openai.conversations.create();
  await say("secret", owners.id);
  await expect(narrow.conversations.retrieve(owners.id)).rejects.toMatchObject({ status: 404 });
  await expect(narrow.conversations.items.list(owners.id)).rejects.toMatchObject({ status: 404 });
  await expect(
    narrow.responses.create({ model: agent, input: "hello", conversation: owners.id }),
  ).rejects.toMatchObject({ status: 404 });
  // With a response, it is one of the agent's, which the owner sees.
  expect(await openai.conversations.retrieve(own.id)).toEqual(own);
  expect(await narrow.conversations.delete(own.id)).toMatchObject({ deleted: true });
  // Without one, it is of its maker alone.
  const unbound = await openai.conversations.create();
  await expect(narrow.conversations.retrieve(unbound.id)).rejects.toMatchObject({ status: 404 });
  await expect(openAiOf(await newKey(service.client, {})).conversations.retrieve(unbound.id)).rejects.toMatchObject({
    status: 404,
  });
});

test("unsupported and oversized items are refused, and the error says why", async () => {
  const refusals: [object, string][] = [
    [{ items: [{ type: "function_call", name: "x", arguments: "{}", call_id: "1" }] }, "items.0.type"],
    [{ items: [{ role: "tool", content: "x" }] }, "role"],
    [{ items: [{ role: "user", content: [{ type: "input_image", image_url: "data:," }] }] }, "text only"],
    [{ items: Array(21).fill({ role: "user", content: "x" }) }, "limited to 20"],
    [{ items: [{ role: "user", content: "x".repeat(200_000) }] }, "up to 128 KiB"],
    [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, "v"])) }, "16 pairs"],
  ];
  for (const [body, message] of refusals) {
    await expect(openai.conversations.create(body as never), message).rejects.toMatchObject({
      status: 400,
      type: "invalid_request_error",
      message: expect.stringContaining(message),
    });
  }
  const { id } = await openai.conversations.create();
  const items = Array(20).fill({ role: "user", content: "x" });
  for (let added = 0; added < 200; added += 20) await openai.conversations.items.create(id, { items });
  await expect(openai.conversations.items.create(id, { items })).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("up to 200 earlier messages"),
  });
});

test("a key has up to 200 conversations without a response, and old ones are removed", async () => {
  const key = await newKey(service.client, {});
  const other = openAiOf(key);
  const made = await Promise.all(Array.from({ length: 200 }, () => other.conversations.create()));
  await expect(other.conversations.create()).rejects.toMatchObject({ status: 409, code: "too_many_conversations" });
  await other.responses.create({ model: agent, input: "hello", conversation: made[0]!.id });
  await other.conversations.create();
  const database = await databaseOf(service);
  await database
    .updateTable("openai_conversations")
    .set({ used_at: new Date(Date.now() - 31 * 24 * 3_600_000) })
    .where("used_at", "<", new Date())
    .execute();
  await cleanUp(database, service.config, (step, error) => expect.unreachable(`${step}: ${error}`));
  await database.destroy();
  await expect(other.conversations.retrieve(made[1]!.id)).rejects.toMatchObject({ status: 404 });
  expect(await other.conversations.retrieve(made[0]!.id)).toEqual(made[0]);
});

test("a repeated request creates one conversation", async () => {
  const options = { headers: { "idempotency-key": "once" } };
  const [first, again] = [
    await openai.conversations.create({}, options),
    await openai.conversations.create({}, options),
  ];
  expect(again).toEqual(first);
});
