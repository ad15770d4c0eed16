import { randomUUID } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  createTaskSessionFromClient,
  type RawClientDispatch,
  resultFromTaskOutcome,
  type TaskEnabledSession,
} from "@modelcontextprotocol/ext-tasks/client";
import { TaskStatusNotificationV2Schema } from "@modelcontextprotocol/ext-tasks/core/v2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mcpRevisions } from "../support/mcp-client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// MCP's tasks with the protocol's own package for them, in both generations.

const clientInfo = { name: "test", version: "1" };
const clientCapabilities = { elicitation: { form: {} }, extensions: { "io.modelcontextprotocol/tasks": {} } };

let service: ScriptedService;
beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
  await service.client.createAgent("asking", { permissions: { execute: "ask" } });
});
afterAll(() => service[Symbol.asyncDispose]());

/** The requests that the SDK's client does not send: those that tasks change. */
const rawDispatch: RawClientDispatch = async (request, { signal } = {}) => {
  const { method, params } = request as { method: string; params: { name?: string; taskId?: string } };
  const name = params.name ?? params.taskId;
  const response = await service.client.fetch(
    "POST",
    "/mcp",
    { jsonrpc: "2.0", id: randomUUID(), ...(request as object) },
    {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(name === undefined ? {} : { "mcp-name": name }),
    },
  );
  signal?.throwIfAborted();
  const { result, error } = (await response.json()) as { result?: never; error?: never };
  return error === undefined ? { kind: "result", result: result! } : { kind: "error", error };
};

/** A session whose user allows each request. */
async function session(revision: (typeof mcpRevisions)[number]): Promise<AsyncDisposable & TaskEnabledSession> {
  const mode = revision === "2026-07-28" ? { pin: revision } : ("legacy" as const);
  const client = new Client(clientInfo, { capabilities: clientCapabilities, versionNegotiation: { mode } });
  const { url, key } = service.client;
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  const raw = {
    rawDispatch,
    v2RequestFraming: { protocolVersion: "2026-07-28", clientInfo, clientCapabilities },
  };
  const opened = createTaskSessionFromClient(client, {
    endpointId: url,
    onInputRequest: async () => ({ action: "accept", content: { decision: "allow" } }) as never,
    ...(revision === "2026-07-28" ? raw : {}),
  });
  const close = async () => {
    await opened.close();
    await client.close();
  };
  return Object.assign(opened, { [Symbol.asyncDispose]: close });
}

describe.each(mcpRevisions)("revision %s", (revision) => {
  test("a call becomes a task, and settles with the tool's result", async () => {
    await using tasks = await session(revision);
    const execution = await tasks.callTool("ask_agent", { agent: "ada", message: "count 5 20" });
    const { outcome } = await execution.settle();
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ structuredContent: { reply: "1 2 3 4 5 " } });
  });

  test("a task asks its user, and continues with the answer", async () => {
    await using tasks = await session(revision);
    const execution = await tasks.callTool("ask_agent", { agent: "asking", message: "use execute make" });
    const { outcome } = await execution.settle();
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ structuredContent: { reply: "used" } });
  });
});

test("a subscriber to a task gets each of its states, up to the result", async () => {
  const { url, key } = service.client;
  const mode = { pin: "2026-07-28" } as const;
  const client = new Client(clientInfo, { capabilities: clientCapabilities, versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  const states: { status: string; [field: string]: unknown }[] = [];
  const asked = Promise.withResolvers<string>();
  const done = Promise.withResolvers<void>();
  client.fallbackNotificationHandler = async (notification) => {
    const { params } = TaskStatusNotificationV2Schema.parse({ jsonrpc: "2.0", ...notification });
    states.push(params);
    if (params.status === "input_required") asked.resolve(Object.keys(params.inputRequests)[0]!);
    if (params.status === "completed") done.resolve();
  };
  const started = await client.callTool({
    name: "start_turn",
    arguments: { agent: "asking", message: "use execute make" },
  });
  const { turnId } = started.structuredContent as { turnId: string };
  const subscription = await client.listen({ taskIds: [`asking.${turnId}`] } as never);
  const approval = `/agents/asking/turns/${turnId}/approvals/${await asked.promise}`;
  expect((await service.client.call("POST", approval, { decision: "allow" })).status).toBe(200);
  await done.promise;
  const statuses = states.map(({ status }) => status).filter((each) => each !== "working");
  expect(statuses).toEqual(["input_required", "completed"]);
  expect(states.at(-1)).toMatchObject({ result: { structuredContent: { reply: "used" } } });
  // Nothing else was subscribed to, and the task has ended.
  expect(await subscription.closed).toBe("graceful");
  await client.close();
});
