import { randomUUID } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  createTaskSessionFromClient,
  type RawClientDispatch,
  resultFromTaskOutcome,
  type TaskEnabledSession,
} from "@modelcontextprotocol/ext-tasks/client";
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
