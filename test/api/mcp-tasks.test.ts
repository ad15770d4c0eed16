import { randomUUID } from "node:crypto";
import { Client as EarlierClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema, type Task } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newAccount, newKey } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Turns as tasks of the Model Context Protocol: of the revision 2025-11-25 by its own SDK's client, and of the extension
// of 2026-07-28 over plain HTTP. test/clients/mcp-tasks-package.test.ts uses the protocol's package for both.

let service: ScriptedService;
let owner: TestClient;
let adaKey: TestClient;
let stranger: TestClient;
const clients: EarlierClient[] = [];

beforeAll(async () => {
  service = await ScriptedService.start();
  owner = service.client;
  for (const name of ["ada", "bob"]) await owner.createAgent(name);
  await owner.createAgent("asking", { permissions: { execute: "ask" } });
  adaKey = await newKey(owner, { kind: "agent", agents: ["ada"] });
  stranger = await newAccount(service);
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await service[Symbol.asyncDispose]();
});

async function connect({ url, key }: TestClient, capabilities = {}): Promise<EarlierClient> {
  const client = new EarlierClient({ name: "test", version: "1" }, { capabilities });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  clients.push(client);
  return client;
}

interface Message {
  method?: string;
  params?: { notifications?: { taskIds: string[] } };
  result?: { resultType: string };
  error?: { code: number };
}

const asking = (agent: string, message: string) => ({ name: "ask_agent", arguments: { agent, message } });

describe("revision 2025-11-25", () => {
  async function begin(client: EarlierClient, agent: string, message: string): Promise<Task> {
    const stream = client.experimental.tasks.callToolStream(asking(agent, message), CallToolResultSchema, { task: {} });
    const { value } = await stream.next();
    await stream.return(undefined);
    if (value?.type !== "taskCreated") throw new Error(JSON.stringify(value));
    return value.task;
  }

  test("a call is a task, whose result follows", async () => {
    const client = await connect(owner);
    expect(client.getServerCapabilities()?.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
    const { tools } = await client.listTools();
    const supporting = tools.filter(({ execution }) => execution?.taskSupport === "optional");
    expect(supporting.map(({ name }) => name)).toEqual(["ask_agent"]);
    const seen = await Array.fromAsync(
      client.experimental.tasks.callToolStream(asking("ada", "count 5 20"), CallToolResultSchema, { task: {} }),
    );
    expect(seen[0]).toMatchObject({ type: "taskCreated", task: { status: "working", ttl: null } });
    expect(seen.at(-1)).toMatchObject({
      type: "result",
      result: { structuredContent: { agent: "ada", status: "completed", reply: "1 2 3 4 5 " } },
    });
  });

  test("a task survives its connection and is cancelled by another, once", async () => {
    const first = await connect(owner);
    const { taskId } = await begin(first, "bob", "hang");
    await first.close();
    const { tasks } = (await connect(owner)).experimental;
    expect(await tasks.getTask(taskId)).toMatchObject({ taskId, status: "working" });
    expect((await tasks.listTasks()).tasks).toContainEqual(expect.objectContaining({ taskId, status: "working" }));
    expect(await tasks.cancelTask(taskId)).toMatchObject({ status: "cancelled" });
    await expect(tasks.cancelTask(taskId)).rejects.toThrow("turn_finished");
    const over = await tasks.getTaskResult(taskId, CallToolResultSchema);
    expect(over).toMatchObject({
      structuredContent: { status: "cancelled" },
      _meta: { "io.modelcontextprotocol/related-task": { taskId } },
    });
  });

  test("a task that waits for an approval asks the user by a form", async () => {
    const client = await connect(owner, { elicitation: { form: {} } });
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { decision: "allow" } }));
    const stream = client.experimental.tasks.callToolStream(
      asking("asking", "use execute make"),
      CallToolResultSchema,
      { task: {} },
    );
    const seen = await Array.fromAsync(stream);
    expect(seen).toContainEqual(
      expect.objectContaining({ task: expect.objectContaining({ status: "input_required" }) }),
    );
    expect(seen.at(-1)).toMatchObject({ type: "result", result: { structuredContent: { reply: "used" } } });
  });

  test("a tool that failed is a task that failed", async () => {
    const { tasks } = (await connect(owner)).experimental;
    const { taskId } = await begin(await connect(owner), "bob", "crash");
    const result = await tasks.getTaskResult(taskId, CallToolResultSchema);
    expect(result).toMatchObject({ isError: true, structuredContent: { status: "failed" } });
    expect(await tasks.getTask(taskId)).toMatchObject({ status: "failed", statusMessage: expect.stringMatching(/_/) });
  });

  test("each caller has the tasks that it may see", async () => {
    const ofOwner = await connect(owner);
    const { taskId } = await begin(ofOwner, "ada", "secret");
    await ofOwner.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
    const ofKey = await connect(adaKey);
    expect(ofKey.getServerCapabilities()?.tasks).not.toHaveProperty("list");
    for (const [as, reason] of [
      [ofKey, "forbidden"],
      [await connect(stranger), "agent_not_found"],
    ] as const) {
      const { tasks } = as.experimental;
      await expect(tasks.getTask(taskId)).rejects.toThrow(reason);
      await expect(tasks.cancelTask(taskId)).rejects.toThrow(reason);
      await expect(tasks.getTaskResult(taskId)).rejects.toThrow(reason);
    }
    await expect(ofKey.experimental.tasks.listTasks()).rejects.toThrow();
    expect((await (await connect(stranger)).experimental.tasks.listTasks()).tasks).toEqual([]);
    const own = await begin(ofKey, "ada", "mine");
    const result = await ofKey.experimental.tasks.getTaskResult(own.taskId, CallToolResultSchema);
    expect(result).toMatchObject({ structuredContent: { reply: "mine" } });
  });

  test("an id that is not a task's is refused, and so is a message to a busy agent", async () => {
    const client = await connect(owner);
    const { tasks } = client.experimental;
    for (const id of ["", "x", "ada", `ada.${"0".repeat(36)}`, "x".repeat(100_000), "bob.NaN"])
      await expect(tasks.getTask(id)).rejects.toThrow("-32602");
    const { taskId } = await begin(client, "bob", "hang");
    const refused = await Array.fromAsync(
      client.experimental.tasks.callToolStream(asking("bob", "hello"), CallToolResultSchema, { task: {} }),
    );
    expect(refused).toMatchObject([{ type: "error" }]);
    await tasks.cancelTask(taskId);
  });
});

describe("the extension of 2026-07-28", () => {
  const capabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };

  async function call(method: string, params: Record<string, unknown>, declared: object = capabilities, as = owner) {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": declared,
    };
    const name = params.name ?? params.taskId;
    const headers = {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(name === undefined ? {} : { "mcp-name": String(name) }),
    };
    return (await as.call("POST", "/mcp", { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }, headers))
      .body;
  }

  async function settled(taskId: string) {
    let task = (await call("tasks/get", { taskId })).result;
    while (["working", "input_required"].includes(task.status)) task = (await call("tasks/get", { taskId })).result;
    return task;
  }

  test("a call of a client that takes tasks is one, and its result is in the task", async () => {
    const { result: found } = await call("server/discover", {});
    expect(found.capabilities.extensions).toEqual(capabilities.extensions);
    const { result } = await call("tools/call", asking("ada", "count 5 20"));
    expect(result).toMatchObject({ resultType: "task", status: "working", ttlMs: null, pollIntervalMs: 2_000 });
    const task = await settled(result.taskId);
    expect(task).toMatchObject({
      resultType: "complete",
      taskId: result.taskId,
      status: "completed",
      result: { structuredContent: { status: "completed", reply: "1 2 3 4 5 " } },
    });
  });

  test("a call of another client, and one with a time to wait, is answered with its result", async () => {
    const plain = (await call("tools/call", asking("ada", "hello"), {})).result;
    expect(plain).toMatchObject({ resultType: "complete", structuredContent: { reply: "hello" } });
    const waiting = asking("ada", "hello");
    const { result } = await call("tools/call", {
      ...waiting,
      arguments: { ...waiting.arguments, waitSeconds: 30 },
    });
    expect(result).toMatchObject({ resultType: "complete", structuredContent: { reply: "hello" } });
  });

  test("a task that waits for an approval requires input, and continues with it", async () => {
    const eliciting = { ...capabilities, elicitation: {} };
    const { taskId } = (await call("tools/call", asking("asking", "use execute make"), eliciting)).result;
    const read = async () => (await call("tasks/get", { taskId }, eliciting)).result;
    await expect.poll(async () => (await read()).status).toBe("input_required");
    const [[id, form]] = Object.entries((await read()).inputRequests) as [[string, unknown]];
    expect(form).toMatchObject({ method: "elicitation/create", params: { mode: "form" } });
    const answer = { action: "accept", content: { decision: "allow" } };
    const inputResponses = { [id]: answer, unknown: answer };
    expect((await call("tasks/update", { taskId, inputResponses }, eliciting)).result.resultType).toBe("complete");
    expect(await settled(taskId)).toMatchObject({ result: { structuredContent: { reply: "used" } } });
  });

  test("a tool that failed is a completed task with its error, and a cancelled one is cancelled", async () => {
    const failed = (await call("tools/call", asking("bob", "crash"))).result;
    expect(await settled(failed.taskId)).toMatchObject({ status: "completed", result: { isError: true } });
    const hanging = (await call("tools/call", asking("bob", "hang"))).result;
    expect((await call("tasks/cancel", { taskId: hanging.taskId })).result).toMatchObject({ resultType: "complete" });
    expect(await settled(hanging.taskId)).toMatchObject({ status: "cancelled" });
  });

  test("tasks are for clients that declare them, and for callers that may see them", async () => {
    const { taskId } = (await call("tools/call", asking("ada", "secret"))).result;
    await settled(taskId);
    const undeclared = (await call("tasks/get", { taskId }, {})).error;
    expect(undeclared).toMatchObject({ code: -32_021, data: { requiredCapabilities: capabilities } });
    for (const as of [adaKey, stranger]) {
      for (const method of ["tasks/get", "tasks/cancel"])
        expect((await call(method, { taskId }, capabilities, as)).error.code).toBe(-32_602);
      const answers = { taskId, inputResponses: {} };
      expect((await call("tasks/update", answers, capabilities, as)).error.code).toBe(-32_602);
    }
    expect((await call("tasks/get", { taskId: "none" })).error.code).toBe(-32_602);
  });

  /** The messages of a subscription that ends, or the error. */
  async function listen(taskIds: unknown, declared: object = capabilities, as = owner): Promise<Message[]> {
    const body = await call("subscriptions/listen", { notifications: { taskIds } }, declared, as);
    if (typeof body !== "string") return [body];
    return [...body.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!));
  }

  test("a subscription is to the tasks that its caller may read, up to 20", async () => {
    const turns: string[] = [];
    for (let n = 0; n < 21; n++) turns.push(`bob.${(await owner.chat("bob", "hi")).turnId}`);
    const { turnId } = await owner.chat("ada", "hello");
    const accepted = ([first]: Message[]) => first!.params!.notifications!.taskIds;
    const own = await listen([`ada.${turnId}`, `ada.${turnId}`, "x", "ada.none", `ada.${randomUUID()}`]);
    expect(own.map(({ method, result }) => method ?? result!.resultType)).toEqual([
      "notifications/subscriptions/acknowledged",
      "notifications/tasks",
      "complete",
    ]);
    expect(accepted(own)).toEqual([`ada.${turnId}`]);
    expect(own[1]!.params).toMatchObject({
      taskId: `ada.${turnId}`,
      status: "completed",
      result: { structuredContent: { reply: "hello" } },
    });
    expect(accepted(await listen(turns))).toEqual(turns.slice(0, 20));
    for (const other of [adaKey, stranger]) {
      const theirs = await listen([`ada.${turnId}`, turns[0]], capabilities, other);
      expect([accepted(theirs), theirs.length]).toEqual([[], 2]);
    }
  });

  test("a subscription to tasks of a client without them, or to no list of ids, is refused", async () => {
    expect(await listen(["ada.x"], {})).toMatchObject([{ id: 1, error: { code: -32_021 } }]);
    for (const taskIds of ["ada.x", [1], [null], {}, Array(1_001).fill("x"), ["x".repeat(201)]])
      expect(await listen(taskIds)).toMatchObject([{ id: 1, error: { code: -32_602 } }]);
  });
});
