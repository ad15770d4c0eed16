import { randomUUID } from "node:crypto";
import type { StreamResponse, Task } from "@a2a-js/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectA2a, request } from "../support/a2a.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The requirements that A2A's own kit checks (https://github.com/a2aproject/a2a-tck), and the codes of sections 3.3, 5.4
// and 9.5 of the specification, over plain HTTP. docs/clients.md lists the exceptions.

let service: ScriptedService;
let owner: TestClient;

beforeAll(async () => {
  service = await ScriptedService.start();
  owner = service.client;
  for (const name of ["ada", "bob"]) await owner.createAgent(name);
});
afterAll(() => service[Symbol.asyncDispose]());

const version = { "a2a-version": "1.0" };

async function post(body: unknown, headers: Record<string, string> = version, query = "") {
  return owner.call("POST", `/agents/ada/a2a${query}`, body, headers);
}

async function rpc(method: string, params: unknown, headers = version) {
  return (await post({ jsonrpc: "2.0", id: 1, method, params }, headers)).body;
}

const codeOf = async (method: string, params: unknown) => (await rpc(method, params)).error?.code;
const said = (fields: object = {}) => ({
  message: { messageId: randomUUID(), role: "ROLE_USER", parts: [{ text: "hello" }], ...fields },
});
const finished = async (): Promise<Task> => (await rpc("SendMessage", said())).result.task;

describe("JSON-RPC", () => {
  test("a body that is not JSON is -32700", async () => {
    for (const body of ['{"jsonrpc":"2.0","method":', "not json"]) {
      expect(await post(body)).toMatchObject({
        status: 400,
        body: { jsonrpc: "2.0", id: null, error: { code: -32_700, message: "The body is not JSON." } },
      });
    }
  });

  test("a body of another type is -32005", async () => {
    const { status, body } = await post("hello", { ...version, "content-type": "text/plain" });
    expect([status, body.error.code]).toEqual([415, -32_005]);
    expect(body.error.data[0]).toMatchObject({ reason: "CONTENT_TYPE_NOT_SUPPORTED", domain: "a2a-protocol.org" });
  });

  test.each([
    [{ id: 7, method: "GetTask", params: {} }, 7],
    [{ jsonrpc: "1.0", id: 7, method: "GetTask", params: {} }, 7],
    [{ jsonrpc: "2.0", id: "seven", params: {} }, "seven"],
    [{ jsonrpc: "2.0", id: 7, method: 5 }, 7],
    [{ jsonrpc: "2.0", id: { bad: "type" }, method: "GetTask", params: {} }, null],
    [{ jsonrpc: "2.0", id: "x".repeat(1_001), method: "GetTask" }, null],
    [[], null],
    ["text", null],
    [null, null],
  ])("an invalid request is -32600: %j", async (body, id) => {
    expect(await post(JSON.stringify(body))).toMatchObject({ status: 200, body: { id, error: { code: -32_600 } } });
  });

  test("a request names the method and its parameters", async () => {
    expect(await codeOf("NoSuchMethod", {})).toBe(-32_601);
    expect(await codeOf("NoSuchMethod", undefined)).toBe(-32_601);
    for (const params of [undefined, [], "text", { "": "text" }]) expect(await codeOf("GetTask", params)).toBe(-32_602);
  });
});

describe("versions", () => {
  const get = { jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "x" } };
  const code = async (body: unknown, headers: Record<string, string>, query = "") =>
    (await post(body, headers, query)).body.error.code;

  test("1.0 is served, also of a patch version, by its parameter and without a version", async () => {
    expect(await code(get, version)).toBe(-32_001);
    expect(await code(get, { "a2a-version": "1.0.1" })).toBe(-32_001);
    expect(await code(get, {}, "?A2A-Version=1.0")).toBe(-32_001);
    expect(await code(get, {})).toBe(-32_001);
    expect(await code(get, { "a2a-version": "" })).toBe(-32_001);
  });

  test("another version is -32009, as is a method of 0.3 without a version", async () => {
    for (const other of ["0.3", "99.0", "one"]) expect(await code(get, { "a2a-version": other })).toBe(-32_009);
    expect(await code(get, {}, "?A2A-Version=0.3")).toBe(-32_009);
    const earlier = { jsonrpc: "2.0", id: 1, method: "message/send", params: {} };
    expect(await code(earlier, {})).toBe(-32_009);
    expect(await code(earlier, version)).toBe(-32_601);
  });
});

describe("parameters", () => {
  test.each([
    ["GetTask", {}],
    ["GetTask", { id: "" }],
    ["GetTask", { id: 12_345 }],
    ["GetTask", { id: "x", historyLength: -1 }],
    ["CancelTask", {}],
    ["SubscribeToTask", {}],
    ["ListTasks", { pageSize: 0 }],
    ["ListTasks", { pageSize: 101 }],
    ["ListTasks", { pageSize: -1 }],
    ["ListTasks", { page_size: -1 }],
    ["ListTasks", { pageSize: "many" }],
    ["ListTasks", { status: "NOPE" }],
    ["ListTasks", { historyLength: -1 }],
    ["ListTasks", { statusTimestampAfter: "yesterday" }],
    ["ListTasks", { pageToken: "zzz" }],
    ["SendMessage", {}],
    ["SendMessage", { message: { parts: "invalid" } }],
    ["SendMessage", said({ role: "user" })],
    ["SendMessage", said({ role: "ROLE_AGENT" })],
    ["SendMessage", said({ messageId: undefined })],
    ["SendMessage", said({ parts: [] })],
    ["SendMessage", said({ parts: [{ text: { deep: true } }] })],
    ["SendMessage", said({ parts: [{ raw: "no base64!", mediaType: "text/plain" }] })],
    ["SendMessage", { ...said(), configuration: { historyLength: -1 } }],
    ["SendStreamingMessage", said({ role: "user" })],
  ])("%s refuses %j with -32602", async (method, params) => {
    const { error } = await rpc(method, params);
    expect(error).toMatchObject({ code: -32_602, message: expect.stringMatching(/\w{3}/) });
    expect(error.data[0]).toMatchObject({ reason: "INVALID_PARAMS", domain: "a2a-protocol.org" });
  });
});

describe("tasks", () => {
  test("a task that does not exist is -32001", async () => {
    for (const method of ["GetTask", "CancelTask", "SubscribeToTask"])
      expect(await codeOf(method, { id: randomUUID() })).toBe(-32_001);
    expect(await codeOf("SendMessage", said({ taskId: randomUUID() }))).toBe(-32_001);
    const { error } = await rpc("GetTask", { id: "definitely-none" });
    expect(error.data[0]).toMatchObject({ reason: "TASK_NOT_FOUND", domain: "a2a-protocol.org" });
  });

  test("a finished task cannot be cancelled, subscribed to or continued", async () => {
    const { id, contextId } = await finished();
    expect(await codeOf("CancelTask", { id })).toBe(-32_002);
    expect(await codeOf("SubscribeToTask", { id })).toBe(-32_004);
    expect(await codeOf("SendMessage", said({ taskId: id }))).toBe(-32_004);
    expect(await codeOf("SendMessage", said({ taskId: id, contextId }))).toBe(-32_004);
    expect(await codeOf("SendMessage", said({ taskId: id, contextId: "conversation-9" }))).toBe(-32_602);
  });

  test("what is not offered is refused by its code", async () => {
    expect(await codeOf("GetExtendedAgentCard", {})).toBe(-32_004);
    const modes = { ...said(), configuration: { acceptedOutputModes: ["image/png"] } };
    expect(await codeOf("SendMessage", modes)).toBe(-32_005);
    expect(await codeOf("SendMessage", said({ contextId: "of-my-own" }))).toBe(-32_602);
  });

  test("each task has an id of its own, and its context in the answer", async () => {
    const [first, second] = [await finished(), await finished()];
    expect(first.id).not.toBe(second.id);
    expect([first.contextId, second.contextId]).toEqual(["conversation-1", "conversation-1"]);
  });

  test("the history has the message, and nothing with the length 0", async () => {
    const { id, history } = await finished();
    expect(history).toMatchObject([{ role: "ROLE_USER", parts: [{ text: "hello" }] }]);
    expect((await rpc("GetTask", { id, historyLength: 1 })).result.history).toHaveLength(1);
    expect((await rpc("GetTask", { id, historyLength: 0 })).result.history ?? []).toEqual([]);
    const { task } = (await rpc("SendMessage", { ...said(), configuration: { historyLength: 0 } })).result;
    expect(task.history ?? []).toEqual([]);
  });

  test("a list always has its page's fields, and artifacts only on request", async () => {
    await finished();
    const { result } = await rpc("ListTasks", { contextId: "conversation-1", pageSize: 100 });
    expect(result).toMatchObject({ nextPageToken: "", pageSize: 100, totalSize: expect.any(Number) });
    for (const task of result.tasks) expect(task).not.toHaveProperty("artifacts");
    const times = result.tasks.map((task: { status: { timestamp: string } }) => task.status.timestamp);
    expect(times).toEqual(times.toSorted().toReversed());
    const none = (await rpc("ListTasks", { contextId: "none" })).result;
    expect(none).toMatchObject({ tasks: [], nextPageToken: "", totalSize: 0 });
  });
});

describe("streams", () => {
  async function read(stream: AsyncIterable<StreamResponse>, limit = Number.POSITIVE_INFINITY) {
    const read: StreamResponse[] = [];
    for await (const each of stream) {
      if (read.push(each) >= limit) break;
    }
    return read;
  }
  const artifacts = (responses: StreamResponse[]) =>
    responses
      .flatMap(({ payload }) => (payload?.$case === "artifactUpdate" ? payload.value.artifact!.parts : []))
      .map(({ content }) => content?.value)
      .join("");

  test("each begins with the task, gets all events, and ends with the task", async () => {
    const client = await connectA2a("bob", owner);
    const later = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true };
    const { id } = (await client.sendMessage({ ...request("count 40 30"), configuration: later })) as Task;
    const follow = () => client.resubscribeTask({ tenant: "", id });
    // Closing one does not affect the others.
    const [one, two, closed] = await Promise.all([read(follow()), read(follow()), read(follow(), 2)]);
    for (const each of [one, two, closed]) expect(each[0]!.payload?.$case).toBe("task");
    expect([artifacts(one), artifacts(two)]).toEqual([expect.stringMatching(/^1 2 .*40 $/), artifacts(one)]);
    expect(one.at(-1)!.payload).toMatchObject({ $case: "statusUpdate", value: { status: { state: 3 } } });
  });
});

test("the card may be cached, and an unchanged one is 304", async () => {
  const path = "/agents/ada/a2a/.well-known/agent-card.json";
  const { headers } = await owner.call("GET", path);
  expect(headers.get("cache-control")).toBe("private, max-age=60");
  const etag = headers.get("etag")!;
  const same = await owner.call("GET", path, undefined, { "if-none-match": etag });
  expect([same.status, same.body]).toEqual([304, ""]);
  expect((await owner.call("GET", path, undefined, { "if-none-match": '"other"' })).status).toBe(200);
});
