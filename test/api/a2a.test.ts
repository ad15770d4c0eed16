import { randomUUID } from "node:crypto";
import { Role, type SendMessageRequest, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectA2a, request } from "../support/a2a.ts";
import { newAccount, newKey } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { png } from "../support/pictures.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The official client of the Agent2Agent protocol against the real service.

let service: ScriptedService;
let owner: TestClient;

beforeAll(async () => {
  service = await ScriptedService.start();
  owner = service.client;
  for (const name of ["ada", "bob", "eve"]) await owner.createAgent(name);
});
afterAll(() => service[Symbol.asyncDispose]());

const connect = (name: string, client = owner) => connectA2a(name, client);

const later = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true };

function replyIn(task: Task): string {
  return task.artifacts.flatMap(({ parts }) => parts.map(({ content }) => content?.value)).join("");
}

/** A stream's content: the text of its artifact as a reader assembles it, and its states. */
async function read(stream: AsyncIterable<StreamResponse>) {
  let [text, task] = ["", undefined as Task | undefined];
  const [states, remarks]: [TaskState[], unknown[]] = [[], []];
  for await (const { payload } of stream) {
    if (payload?.$case === "task") task = payload.value;
    if (payload?.$case === "artifactUpdate") {
      const said = payload.value.artifact!.parts.map(({ content }) => content?.value).join("");
      text = payload.value.append ? text + said : said;
    }
    if (payload?.$case === "statusUpdate") {
      states.push(payload.value.status!.state);
      remarks.push(...(payload.value.status!.message?.parts.map(({ content }) => content?.value) ?? []));
    }
  }
  return { text, task, states, remarks };
}

test("a task that waits for an approval is answered by a message to it", async () => {
  await owner.createAgent("asking", { permissions: { execute: "ask" } });
  const client = await connect("asking");
  const asks = (await client.sendMessage(request("use execute make"))) as Task;
  expect(asks.status).toMatchObject({ state: TaskState.TASK_STATE_INPUT_REQUIRED });
  expect((await client.getTask({ tenant: "", id: asks.id, historyLength: 0 })).status?.state).toBe(
    TaskState.TASK_STATE_INPUT_REQUIRED,
  );
  await expect(client.sendMessage(request("maybe", { taskId: asks.id }))).rejects.toThrow(
    "Its text is one of allow, allow-always, deny.",
  );
  const done = (await client.sendMessage(request(" Allow ", { taskId: asks.id }))) as Task;
  expect([done.id, done.status?.state, replyIn(done)]).toEqual([asks.id, TaskState.TASK_STATE_COMPLETED, "used"]);
  await expect(client.sendMessage(request("allow", { taskId: asks.id }))).rejects.toThrow("The task has ended");
});

test("a message is a task, whose artifact is the reply", async () => {
  const client = await connect("ada");
  const task = (await client.sendMessage(request("hello there"))) as Task;
  expect(task).toMatchObject({ contextId: "conversation-1", status: { state: TaskState.TASK_STATE_COMPLETED } });
  expect(replyIn(task)).toBe("hello there");
  expect(await client.getTask({ tenant: "", id: task.id })).toEqual(task);
  expect((await owner.call("GET", `/agents/ada/turns/${task.id}`)).body.reply).toBe("hello there");
});

test("a task is streamed as the agent works", async () => {
  const client = await connect("ada");
  const { text, task, states } = await read(client.sendMessageStream(request("count 20 20")));
  expect(task?.status?.state).toBe(TaskState.TASK_STATE_WORKING);
  expect(text).toMatch(/^1 2 .*20 $/);
  expect(states.at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
  const used = await read(client.sendMessageStream(request("tool")));
  expect(used.remarks).toContain("Uses Bash");
  const failed = await read(client.sendMessageStream(request("crash")));
  expect(failed.states.at(-1)).toBe(TaskState.TASK_STATE_FAILED);
  expect(failed.remarks.at(-1)).toMatch(/^(runtime_failed|machine_\w+): /);
});

test("a task is followed by who comes late, with all that was said before", async () => {
  const client = await connect("bob");
  const begun = (await client.sendMessage({ ...request("count 30 60"), configuration: later })) as Task;
  expect(begun.status?.state).toBe(TaskState.TASK_STATE_WORKING);
  await expect.poll(async () => replyIn(await client.getTask({ tenant: "", id: begun.id }))).toContain("3 ");
  const { text, states } = await read(client.resubscribeTask({ tenant: "", id: begun.id }));
  expect(text).toMatch(/^1 2 .*30 $/);
  expect(states.at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
  await expect(read(client.resubscribeTask({ tenant: "", id: begun.id }))).rejects.toThrow("has ended");
});

test("a task is cancelled, once", async () => {
  const client = await connect("bob");
  const { id } = (await client.sendMessage({ ...request("hang"), configuration: later })) as Task;
  await expect(client.sendMessage(request("hello"))).rejects.toThrow("turn_in_progress");
  const cancelled = await client.cancelTask({ tenant: "", id, metadata: undefined });
  expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  await expect(client.cancelTask({ tenant: "", id, metadata: undefined })).rejects.toThrow("already ended");
});

test("a message that is sent again begins nothing again", async () => {
  const client = await connect("eve");
  const again = request("hello once", { messageId: "the-same" });
  const [first, second] = [(await client.sendMessage(again)) as Task, (await client.sendMessage(again)) as Task];
  expect(second.id).toBe(first.id);
  const other = (await (await connect("bob")).sendMessage(again)) as Task;
  expect(other.id).not.toBe(first.id);
});

test("tasks are listed by page and filter", async () => {
  const client = await connect("eve");
  const asked = { tenant: "", contextId: "", status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: "" };
  const list = (fields: object) =>
    client.listTasks({ ...asked, statusTimestampAfter: undefined, includeArtifacts: true, ...fields });
  const { totalSize: before } = await list({});
  for (const text of ["one", "two"]) await client.sendMessage(request(text));
  const first = await list({ pageSize: 1 });
  expect(first.tasks.map(replyIn)).toEqual(["two"]);
  const second = await list({ pageSize: 1, pageToken: first.nextPageToken });
  expect(second.tasks.map(replyIn)).toEqual(["one"]);
  // The total is that of all pages.
  expect([first.totalSize, second.totalSize]).toEqual([before + 2, before + 2]);
  expect((await list({ pageSize: 1, contextId: "conversation-1" })).totalSize).toBe(before + 2);
  expect((await list({ pageSize: 1, status: TaskState.TASK_STATE_COMPLETED })).totalSize).toBe(before + 2);
  expect((await list({ status: TaskState.TASK_STATE_FAILED })).totalSize).toBe(0);
  expect((await list({ status: TaskState.TASK_STATE_REJECTED })).totalSize).toBe(0);
  expect(await list({ contextId: "conversation-9" })).toMatchObject({ tasks: [], totalSize: 0 });
  expect(await list({ contextId: "another" })).toMatchObject({ tasks: [], totalSize: 0 });
  expect(await list({ statusTimestampAfter: "2999-01-01T00:00:00Z" })).toMatchObject({ tasks: [], totalSize: 0 });
  const newest = first.tasks[0]!.status!.timestamp;
  expect((await list({ statusTimestampAfter: newest })).tasks.map(replyIn)).toEqual(["two"]);
  // Filters hold for all pages: none is empty while another follows.
  const failed = { status: TaskState.TASK_STATE_FAILED, pageSize: 1 };
  expect(await list(failed)).toMatchObject({ tasks: [], nextPageToken: "", totalSize: 0 });
  await expect(list({ pageToken: "nonsense" })).rejects.toThrow("pageToken: not a nextPageToken");
  await expect(list({ pageSize: 101 })).rejects.toThrow("pageSize: Must be at most 100");
});

test("a context is a conversation, and each remembers only its own messages", async () => {
  await service.client.createAgent("contexts");
  await service.client.call("POST", "/agents/contexts/conversations", {});
  const client = await connect("contexts");
  const send = async (text: string, contextId = "") => (await client.sendMessage(request(text, { contextId }))) as Task;
  await send("one");
  await send("two", "conversation-2");
  expect(await send("recall", "conversation-2")).toMatchObject({ contextId: "conversation-2" });
  expect(replyIn(await send("recall", "conversation-2"))).toBe("two\nrecall\nrecall\n");
  expect(replyIn(await send("recall", "conversation-1"))).toBe("one\nrecall\n");
  const asked = { tenant: "", contextId: "conversation-2", status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: "" };
  const { tasks } = await client.listTasks({ ...asked, statusTimestampAfter: undefined, includeArtifacts: true });
  expect(tasks.map(replyIn)).toEqual(["two\nrecall\nrecall\n", "two\nrecall\n", "two"]);
});

function raw(value: Buffer, filename: string, mediaType: string) {
  return { content: { $case: "raw" as const, value }, metadata: undefined, filename, mediaType };
}

test("images and files of a message reach the runtime and the machine", async () => {
  await service.client.createAgent("seeing");
  const client = await connect("seeing");
  const said = {
    content: { $case: "text" as const, value: "see this" },
    metadata: undefined,
    filename: "",
    mediaType: "",
  };
  const parts = [said, raw(png(), "shot.png", "image/png"), raw(Buffer.from("x"), "../a.bin", "")];
  const task = await client.sendMessage(request("", { parts }));
  expect(JSON.stringify(task)).toContain(JSON.stringify(JSON.stringify([["image/png", png().length]])).slice(1, -1));
  const [turn] = (await service.client.call("GET", "/agents/seeing/turns")).body.data;
  expect(turn.attachments).toMatchObject([
    { kind: "image", name: "shot.png" },
    { kind: "file", name: "a.bin" },
  ]);
});

test("what an agent cannot take is refused in the protocol's own words", async () => {
  const client = await connect("ada");
  const send = (given: SendMessageRequest) => expect(client.sendMessage(given)).rejects;
  await send(request("hello", { contextId: "conversation-7" })).toThrow("The agent has no conversation 7");
  await send(request("hello", { contextId: "thread-7" })).toThrow("A context's id is conversation-N");
  await send(request("hello", { taskId: randomUUID() })).toThrow("The agent has no turn");
  await send(request("hello", { messageId: "" })).toThrow("messageId");
  await send(request("")).toThrow("must not be empty");
  await send(request("x".repeat(300_000))).toThrow("256 KiB");
  await send(request("", { parts: [raw(Buffer.from("x"), "a.png", "image/png")] })).toThrow("this is not an image");
  await send(request("", { parts: [raw(Buffer.alloc(0), "a.txt", "text/plain")] })).toThrow(
    "parts.0: the file is empty",
  );
  await send({ ...request("hello"), configuration: { ...later, acceptedOutputModes: ["image/png"] } }).toThrow(
    "text/plain",
  );
  await expect(client.getTask({ tenant: "", id: randomUUID() })).rejects.toThrow("no turn");
  await send({ ...request("hello"), message: { ...request("hello").message!, role: Role.ROLE_AGENT } }).toThrow(
    "ROLE_USER",
  );
});

test("the card names its keys, and is shown to who may talk to the agent", async () => {
  const path = "/agents/ada/a2a/.well-known/agent-card.json";
  const { body } = await owner.call("GET", path);
  expect(body).toMatchObject({
    name: "ada",
    supportedInterfaces: [{ url: `${owner.url}/agents/ada/a2a`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming: true, pushNotifications: true },
    securitySchemes: {
      key: { httpAuthSecurityScheme: { scheme: "Bearer" } },
      oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: `${owner.url}/oidc/.well-known/openid-configuration` } },
    },
  });
  expect((await new TestClient(owner.url, "").call("GET", path)).status).toBe(401);
});

test("an external agent key reaches its agent and its own tasks, and a stranger nothing", async () => {
  const key = await newKey(owner, { kind: "agent", agents: ["ada"] });
  const client = await connect("ada", key);
  const mine = (await client.sendMessage(request("mine"))) as Task;
  expect(replyIn(await client.getTask({ tenant: "", id: mine.id }))).toBe("mine");
  const { turnId } = await owner.chat("ada", "secret");
  await expect(client.getTask({ tenant: "", id: turnId })).rejects.toThrow("forbidden");
  await expect(client.cancelTask({ tenant: "", id: turnId, metadata: undefined })).rejects.toThrow("forbidden");
  await expect(read(client.resubscribeTask({ tenant: "", id: turnId }))).rejects.toThrow("forbidden");
  await expect(connect("bob", key)).rejects.toThrow("403");
  await expect(connect("ada", await newAccount(service))).rejects.toThrow("404");
  const other = (
    await owner.call(
      "POST",
      "/agents/eve/a2a",
      { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: mine.id } },
      { "a2a-version": "1.0" },
    )
  ).body;
  expect(other.error.message).toContain("no turn");
});

test("each method is logged as the operation that it is", async () => {
  await (await connect("ada")).sendMessage(request("hello"));
  await expect((await connect("ada")).sendMessage(request(""))).rejects.toThrow();
  const [refused, sent] = (await owner.call("GET", "/audit?limit=2")).body.data;
  expect(sent).toMatchObject({ operation: "POST /agents/{name}/chat", agent: "ada", status: 200 });
  expect(refused).toMatchObject({
    operation: "POST /agents/{name}/chat",
    agent: "ada",
    status: 400,
    code: "request_invalid",
  });
});
