import { LLMock } from "@copilotkit/aimock";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { databaseOf, newKey } from "../support/accounts.ts";
import {
  FrontEndChat,
  libreChat,
  openWebUiWithForwarding,
  openWebUiWithTemplates,
} from "../support/chat-front-ends.ts";
import { ModelProxy } from "../support/model-proxy.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Chat front ends that send a whole chat with each message. The scripted runtime says all messages of a conversation that it
// knows (`recall`).

const mock = new LLMock({ port: 0 });
let proxy: ModelProxy;
let service: ScriptedService;
let agent: string;
let number = 0;

beforeAll(async () => {
  mock.onMessage(/.*/, { content: "Hello from the mock model." });
  proxy = await new ModelProxy(await mock.start()).listen();
  service = await ScriptedService.start({ anthropic: { baseUrl: proxy.url, apiKey: "the-key" } });
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

const frontEnds = {
  "Open WebUI that forwards user information": openWebUiWithForwarding,
  "Open WebUI with headers of its connection": openWebUiWithTemplates,
  LibreChat: libreChat,
};

function chatIn(frontEnd: (typeof frontEnds)[keyof typeof frontEnds], key = service.client.key): FrontEndChat {
  return new FrontEndChat(frontEnd({ url: service.client.url, key, model: agent }));
}

const turns = async () => (await service.client.call("GET", `/agents/${agent}/turns`)).body.data;
const conversations = async () =>
  (await service.client.call("GET", `/agents/${agent}/conversations?limit=100`)).body.data;

describe.each(Object.entries(frontEnds))("%s", (_, frontEnd) => {
  test("keeps chats with one agent apart while they take turns and ask for titles", async () => {
    const chats = [chatIn(frontEnd), chatIn(frontEnd), chatIn(frontEnd)];
    // Two begin with the same words.
    await Promise.all(chats.map((chat, index) => chat.send(index < 2 ? "hello" : "red")));
    await Promise.all(chats.flatMap((chat, index) => [chat.tasks(), chat.send(`colour ${index}`)]));
    await Promise.all(chats.map((chat) => chat.tasks()));
    const replies = await Promise.all(chats.map((chat) => chat.send("recall")));
    expect(replies).toEqual(["hello\ncolour 0\nrecall\n", "hello\ncolour 1\nrecall\n", "red\ncolour 2\nrecall\n"]);
    expect(await service.client.ask(agent, "recall")).toBe("recall\n");
  });

  test("answers again, and an edited message, without what followed", async () => {
    const chat = chatIn(frontEnd);
    await chat.send("one");
    await chat.send("two");
    const before = chat.messages;
    expect(await chat.send("recall")).toBe("one\ntwo\nrecall\n");
    // The new session knows what came before from the replay alone.
    expect(await chat.regenerate()).toBe("recall\n");
    expect(await chat.edit(1, "zwei")).toBe("zwei");
    expect(await chat.send("recall")).toBe("zwei\nrecall\n");
    // The user goes back to the branch from before the first reply to "recall".
    chat.messages = before;
    expect(await chat.edit(0, "uno")).toBe("uno");
    expect(await chat.send("recall")).toBe("uno\nrecall\n");
  });

  test("gives the model the messages before an edited one", async () => {
    await service.client.call("PATCH", `/agents/${agent}`, { model: "anthropic/claude-3-5-sonnet-20241022" });
    const chat = chatIn(frontEnd);
    await chat.send("The ship is blue.");
    await chat.send("It has two masts.");
    proxy.requests.length = 0;
    await chat.edit(1, "ask");
    const { text } = (proxy.asked[0]!.body.system as { text: string }[]).at(-1)!;
    expect(text).toContain("User: The ship is blue.\n\nYou: The ship is blue.");
    expect(text).not.toContain("masts");
  });

  test("stops a reply, and the messages of other chats are answered", async () => {
    const [chat, other] = [chatIn(frontEnd), chatIn(frontEnd)];
    await chat.send("first");
    const stopped = chat.send("count 1000000 20", 1);
    await expect.poll(async () => (await turns())[0].message).toBe("count 1000000 20");
    expect(await Promise.all([stopped, other.send("hello")])).toEqual([expect.any(String), "hello"]);
    expect((await turns()).find(({ message }: { message: string }) => message.startsWith("count")).status).toBe(
      "cancelled",
    );
    expect(await chat.send("recall")).toBe("first\ncount 1000000 20\nrecall\n");
  });
});

test("a restart of the server leaves the turn of a chat running", async () => {
  const chat = chatIn(openWebUiWithTemplates);
  const cut = chat.send("count 30 100").catch((error: Error) => error);
  await expect.poll(async () => (await turns())[0]?.status).toBe("running");
  await service.restart();
  await cut;
  await expect.poll(async () => (await turns())[0].status, { timeout: 30_000 }).toBe("completed");
});

test("Open WebUI lists the agents as models", async () => {
  const { body } = await service.client.call("GET", "/v1/models", undefined, {
    "X-OpenWebUI-User-Id": "1",
    "X-OpenWebUI-User-Name": "Ada",
  });
  expect(body.data.map(({ id }: { id: string }) => id)).toContain(agent);
});

test("a message with documents continues the chat that does not repeat them", async () => {
  const chat = chatIn(openWebUiWithTemplates);
  await chat.send("### Task:\nRespond to the query.\n<context>long document</context>\nhello");
  chat.messages = [{ role: "user", content: "hello" }, chat.messages[1]!];
  expect(await chat.send("recall")).toMatch(/long document(.|\n)*recall/);
});

test("two replies to one message are two conversations, and each continues", async () => {
  const chat = chatIn(openWebUiWithForwarding);
  await chat.both("first");
  const replies = await chat.both("recall");
  expect(replies).toEqual(["recall\n", "recall\n"]);
  chat.messages = [
    { role: "user", content: "first" },
    { role: "assistant", content: "first" },
  ];
  expect(await chat.both("recall")).toEqual(["first\nrecall\n", "first\nrecall\n"]);
});

test("of two replies to one message, the one that is shown continues", async () => {
  const chat = chatIn(openWebUiWithForwarding);
  const say = (content: string) => chat.send(content);
  await say("a");
  const [user, reply] = chat.messages;
  await chat.regenerate();
  const database = await databaseOf(service);
  // Two sessions have the same messages; only their replies differ.
  await sql`
    update turn_events set event = jsonb_set(event, '{delta}', '"another"')
    where event ->> 'type' = 'response.output_text.delta' and turn_id = ${(await turns())[0].id}`.execute(database);
  await database.destroy();
  const [newer, older] = (await turns()).map(({ conversation }: { conversation: number }) => conversation);
  chat.messages = [user!, reply!];
  await say("b");
  chat.messages = [user!, { role: "assistant", content: "another" }];
  await say("c");
  expect((await turns()).slice(0, 2)).toMatchObject([{ conversation: newer }, { conversation: older }]);
});

test("a refused message leaves no conversation, and the chat continues", async () => {
  const chat = chatIn(openWebUiWithTemplates);
  const schema = { type: "object", properties: { a: { type: "text" } } };
  const format = { type: "json_schema", json_schema: { name: "x", schema } };
  const refused = async () => {
    const messages = [...chat.messages, { role: "user", content: "recall" }];
    const response = await chat.post({ messages, response_format: format });
    expect([response.status, await response.json()]).toMatchObject([400, { error: { type: "invalid_request_error" } }]);
  };
  await refused();
  expect(await conversations()).toHaveLength(1);
  await chat.send("hello");
  await refused();
  expect(await chat.send("recall")).toBe("hello\nrecall\n");
  expect(await conversations()).toHaveLength(2);
});

test("tasks leave the list of conversations, and their turns stay", async () => {
  const chat = chatIn(openWebUiWithTemplates);
  await chat.send("hello");
  await chat.tasks();
  const titles = async () => (await conversations()).map(({ title }: { title: string | null }) => title);
  expect((await titles()).toSorted()).toEqual([
    "Task: follow_up_generation",
    "Task: tags_generation",
    "Task: title_generation",
    "hello",
    null,
  ]);
  await age();
  await chat.title();
  expect((await titles()).toSorted()).toEqual(["Task: title_generation", "hello", null]);
  expect(await turns()).toHaveLength(5);
});

/** Lets the chats of all agents have been used some minutes ago. */
async function age(): Promise<void> {
  const database = await databaseOf(service);
  await sql`update client_chats set used_at = used_at - interval '5 minutes'`.execute(database);
  await database.destroy();
}

test("an external agent key keeps its last 100 chats, and an older one continues by its messages", async () => {
  const { key } = await newKey(service.client, { kind: "agent", agents: [agent] });
  const chat = chatIn(openWebUiWithTemplates, key);
  await chat.send("hello");
  await addChats(99);
  const busy = await chatIn(openWebUiWithTemplates, key).post({ messages: [{ role: "user", content: "one more" }] });
  expect([busy.status, (await busy.json()) as object]).toMatchObject([
    409,
    { error: { code: "too_many_conversations" } },
  ]);
  await age();
  expect(await chatIn(openWebUiWithTemplates, key).send("one more")).toBe("one more");
  const listed = (await service.client.call("GET", `/agents/${agent}/conversations?limit=100`)).body.data;
  expect(listed.map(({ title }: { title: string | null }) => title)).not.toContain("hello");
  expect(await chat.send("recall")).toBe("recall\n");
});

/** Chats of the key that sent the agent's last message. */
async function addChats(count: number): Promise<void> {
  const [{ conversation }] = await turns();
  const database = await databaseOf(service);
  await sql`
    with of_agent as (select id from agents where name = ${agent}), added as (
      insert into conversations (agent_id, number, title, key_id)
      select agent_id, number + n, 'chat', key_id from conversations, generate_series(1, ${count}::integer) n
      where agent_id in (select id from of_agent) and number = ${conversation} returning agent_id, number
    ), bound as (
      insert into client_chats (agent_id, conversation, key_id, person_id, chat, depth, digest)
      select added.agent_id, number, key_id, person_id, number::text, 1, ''
      from added join client_chats on client_chats.agent_id = added.agent_id
    )
    update agents set last_conversation = last_conversation + ${count}::integer where name = ${agent}`.execute(
    database,
  );
  await database.destroy();
}

test("chats of two keys with the same id are apart", async () => {
  const other = await newKey(service.client, { kind: "agent", agents: [agent] });
  const chat = chatIn(openWebUiWithTemplates);
  await chat.send("secret");
  const foreign = chatIn(openWebUiWithTemplates, other.key);
  Object.assign(foreign, { id: chat.id, messages: chat.messages });
  expect(await foreign.send("recall")).toBe("recall\n");
  expect(await chat.send("recall")).toBe("secret\nrecall\n");
});

test("a chat's long id is refused by name", async () => {
  const messages = [{ role: "user", content: "hello" }];
  const headers = { "x-berth-chat": "x".repeat(201) };
  expect(await service.client.call("POST", "/v1/chat/completions", { model: agent, messages }, headers)).toMatchObject({
    status: 400,
    body: { error: { param: "x-berth-chat", message: expect.stringContaining("x-berth-chat") } },
  });
});
