import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newAccount, newKey } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { callTool, connectMcp, mcpRevisions, refusalOf } from "../support/mcp-client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The official client of the Model Context Protocol, in the current revision and with the handshake of those before.

let service: ScriptedService;
let owner: TestClient;
/** An external agent key for ada. */
let adaKey: TestClient;
let stranger: TestClient;
const clients: Client[] = [];

beforeAll(async () => {
  service = await ScriptedService.start();
  owner = service.client;
  for (const name of ["ada", "bob"]) await owner.createAgent(name);
  adaKey = await newKey(owner, { kind: "agent", agents: ["ada"] });
  stranger = await newAccount(service);
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await service[Symbol.asyncDispose]();
});

async function connect(as: TestClient, revision?: (typeof mcpRevisions)[number]): Promise<Client> {
  const client = await connectMcp(as, revision);
  clients.push(client);
  return client;
}

const allTools = [
  ...["list_agents", "create_agent", "ask_agent", "start_turn", "get_turn", "cancel_turn"],
  ...["run_command", "read_file", "write_file", "list_files"],
];

describe.each(mcpRevisions)("revision %s", (revision) => {
  test("a call to an agent reports its progress", async () => {
    const client = await connect(owner, revision);
    expect(client.getServerVersion()?.name).toBe("berth");
    const told: string[] = [];
    const asked = { name: "ask_agent", arguments: { agent: "ada", message: "count 30 60" } };
    const result = await client.callTool(asked, { onprogress: ({ message }) => told.push(message ?? "") });
    expect(result.structuredContent).toMatchObject({ agent: "ada", status: "completed", replyTruncated: false });
    expect(result.content).toEqual([{ type: "text", text: (result.structuredContent as { reply: string }).reply }]);
    expect(told.some((message) => message.startsWith("Writes: "))).toBe(true);
  });

  test("a silent turn is reported again and again", async () => {
    const client = await connect(owner, revision);
    const again = Promise.withResolvers<void>();
    let reports = 0;
    const onprogress = () => {
      reports++;
      // The first tells of its beginning.
      if (reports === 2) again.resolve();
    };
    const asking = client.callTool({ name: "ask_agent", arguments: { agent: "ada", message: "hang" } }, { onprogress });
    await again.promise;
    const [turn] = (await owner.call("GET", "/agents/ada/turns?limit=1")).body.data;
    await owner.call("POST", `/agents/ada/turns/${turn.id}/cancel`);
    expect((await asking).structuredContent).toMatchObject({ status: "cancelled" });
  });

  test("a turn is begun, read and cancelled", async () => {
    const client = await connect(owner, revision);
    const { turnId, status } = await callTool(client, "start_turn", { agent: "ada", message: "hang" });
    expect(status).toBe("running");
    expect(await refusalOf(client, "start_turn", { agent: "ada", message: "hello" })).toContain("turn_in_progress");
    expect((await callTool(client, "get_turn", { agent: "ada", turnId })).status).toBe("running");
    await callTool(client, "cancel_turn", { agent: "ada", turnId });
    expect(await callTool(client, "get_turn", { agent: "ada", turnId, waitSeconds: 30 })).toMatchObject({
      status: "cancelled",
    });
    expect(await refusalOf(client, "cancel_turn", { agent: "ada", turnId })).toContain("turn_finished");
  });

  test("a reply that takes longer than the caller waits is fetched later", async () => {
    const client = await connect(owner, revision);
    const early = await callTool(client, "ask_agent", { agent: "ada", message: "count 20 100", waitSeconds: 0 });
    expect(early.status).toBe("running");
    const { turnId } = early;
    const late = await callTool(client, "get_turn", { agent: "ada", turnId, waitSeconds: 60 });
    expect(late).toMatchObject({ status: "completed", reply: expect.stringMatching(/20 $/) });
  });

  test("commands run and files are written, read and listed", async () => {
    const client = await connect(owner, revision);
    const run = await callTool(client, "run_command", { agent: "ada", command: "echo out; echo err >&2; exit 3" });
    expect(run).toMatchObject({ exitCode: 3, stdout: "out\n", stderr: "err\n", truncated: false });
    const path = `mcp-${revision}/notes.txt`;
    const written = await callTool(client, "write_file", { agent: "ada", path, text: "Grüße" });
    expect(written).toMatchObject({ created: true, size: 7 });
    const part = await callTool(client, "read_file", { agent: "ada", path, length: 3 });
    expect(part).toMatchObject({ text: "Gr", size: 7, nextOffset: 2 });
    expect(await callTool(client, "read_file", { agent: "ada", path, offset: 2 })).toMatchObject({
      text: "üße",
      nextOffset: null,
    });
    const { entries } = await callTool(client, "list_files", { agent: "ada", path: `mcp-${revision}` });
    expect(entries).toMatchObject([{ name: "notes.txt", type: "file" }]);
    const stale = { agent: "ada", path, text: "more", ifMatch: '"another"' };
    expect(await refusalOf(client, "write_file", stale)).toContain("precondition_failed");
    expect(await refusalOf(client, "read_file", { agent: "ada", path: "nowhere" })).toContain("file_not_found");
  });

  test("a conversation is a resource", async () => {
    const client = await connect(owner, revision);
    const { turnId } = await callTool(client, "ask_agent", { agent: "bob", message: "hello there" });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain("berth://agents/bob/transcript");
    const { contents } = await client.readResource({ uri: "berth://agents/bob/transcript" });
    expect(contents).toMatchObject([{ mimeType: "text/markdown", text: expect.stringContaining("hello there") }]);
    const single = await client.readResource({ uri: `berth://agents/bob/turns/${turnId}` });
    expect(single.contents).toMatchObject([{ text: expect.stringContaining(turnId) }]);
    await expect(client.readResource({ uri: "berth://agents/nobody/transcript" })).rejects.toThrow("nobody");
  });

  test("an external agent key has the tools that it may use, and no others", async () => {
    const client = await connect(adaKey, revision);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      "ask_agent",
      "cancel_turn",
      "get_turn",
      "list_agents",
      "start_turn",
    ]);
    expect((await callTool(client, "list_agents")).agents.map(({ name }: { name: string }) => name)).toEqual(["ada"]);
    expect((await callTool(client, "ask_agent", { agent: "ada", message: "hello" })).reply).toBe("hello");
    expect(await refusalOf(client, "ask_agent", { agent: "bob", message: "hello" })).toContain("forbidden");
    const { turnId } = await callTool(await connect(owner, revision), "ask_agent", { agent: "ada", message: "secret" });
    expect(await refusalOf(client, "get_turn", { agent: "ada", turnId })).toContain("forbidden");
    await expect(client.readResource({ uri: "berth://agents/ada/transcript" })).rejects.toThrow();
  });
});

test("a resource that does not exist has the code of its revision", async () => {
  const client = await connect(owner);
  const failed = await client.readResource({ uri: "berth://agents/nobody/transcript" }).catch((error) => error);
  expect(failed).toMatchObject({ code: -32_602, data: { uri: "berth://agents/nobody/transcript" } });
  const read = { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: "berth://agents/nobody/transcript" } };
  const accept = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" };
  const answer = await (await owner.fetch("POST", "/mcp", read, accept)).text();
  expect(answer).toContain('"code":-32002');
  expect(answer).toContain('"uri":"berth://agents/nobody/transcript"');
});

describe("changes of the list of agents", () => {
  async function subscribed(as: TestClient) {
    const client = await connect(as);
    let heard = 0;
    let next = Promise.withResolvers<void>();
    client.setNotificationHandler("notifications/resources/list_changed", () => {
      heard++;
      next.resolve();
      next = Promise.withResolvers();
    });
    const subscription = await client.listen({ resourcesListChanged: true, toolsListChanged: true });
    const { honoredFilter } = subscription;
    return { client, subscription, honoredFilter, heard: () => heard, next: () => next.promise };
  }

  test("a subscriber hears of agents that are created and deleted, and of no others", async () => {
    const [mine, theirs] = [await subscribed(owner), await subscribed(stranger)];
    expect(mine.honoredFilter).toEqual({ resourcesListChanged: true });
    const created = mine.next();
    await owner.createAgent("heard");
    await created;
    const { resources } = await mine.client.listResources();
    expect(resources.map(({ name }) => name)).toContain("heard");
    const deleted = mine.next();
    await owner.call("DELETE", "/agents/heard");
    await deleted;
    expect(theirs.heard()).toBe(0);
    const own = theirs.next();
    await stranger.createAgent("their-own");
    await own;
    await Promise.all([mine.subscription.close(), theirs.subscription.close()]);
  });

  test("an external agent key, which has no resources, and revisions of 2025 have no notifications", async () => {
    const ofKey = await subscribed(adaKey);
    expect([ofKey.honoredFilter, ofKey.client.getServerCapabilities()?.resources]).toEqual([{}, undefined]);
    const client = await connect(owner, "2025-11-25");
    expect(client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: false },
      resources: { listChanged: false },
    });
  });

  test("a subscription ends with its key", async () => {
    const { body } = await owner.call("POST", "/keys", {});
    const { subscription } = await subscribed(new TestClient(owner.url, body.key));
    await owner.call("DELETE", `/keys/${body.id}`);
    expect(await subscription.closed).not.toBe("local");
  });
});

test("the owner has all tools, each with its schemas and annotations", async () => {
  const { tools } = await (await connect(owner)).listTools();
  expect(tools.map(({ name }) => name)).toEqual(allTools);
  for (const { inputSchema, outputSchema, annotations, description } of tools) {
    expect({ inputSchema, outputSchema }).toMatchObject({
      inputSchema: { type: "object" },
      outputSchema: { type: "object" },
    });
    expect(annotations?.readOnlyHint).toBeTypeOf("boolean");
    expect(description).toBeTruthy();
  }
  expect(JSON.stringify(tools)).not.toContain("$ref");
});

test("another account's agent is not there", async () => {
  const client = await connect(stranger);
  for (const name of ["ask_agent", "start_turn"]) {
    expect(await refusalOf(client, name, { agent: "ada", message: "hello" })).toContain("agent_not_found");
  }
  expect(await refusalOf(client, "run_command", { agent: "ada", command: "true" })).toContain("agent_not_found");
  expect(await refusalOf(client, "read_file", { agent: "ada", path: "x" })).toContain("agent_not_found");
  await expect(client.readResource({ uri: "berth://agents/ada/transcript" })).rejects.toThrow("There is no agent");
});

test("an agent is created, and its name is checked", async () => {
  const client = await connect(owner);
  expect(await callTool(client, "create_agent", { name: "made-by-mcp" })).toMatchObject({ name: "made-by-mcp" });
  expect(await refusalOf(client, "create_agent", { name: "made-by-mcp" })).toContain("agent_exists");
  expect(await refusalOf(client, "create_agent", { name: "No" })).toContain("3 to 30 characters");
});

test("output of a command is bounded", async () => {
  const client = await connect(owner);
  const run = await callTool(client, "run_command", { agent: "ada", command: "yes | head -c 3000000; echo end" });
  expect(run.truncated).toBe(true);
  expect(run.stdout.length).toBeLessThan(33_000);
});

test("each tool is logged as the operation that it is", async () => {
  const client = await connect(owner);
  await callTool(client, "ask_agent", { agent: "ada", message: "hello" });
  await refusalOf(client, "ask_agent", { agent: "nobody", message: "hello" });
  await callTool(client, "list_agents");
  const [refused, asked] = (await owner.call("GET", "/audit?limit=2")).body.data;
  expect(refused).toMatchObject({ operation: "POST /agents/{name}/chat", status: 404, code: "agent_not_found" });
  expect(asked).toMatchObject({ operation: "POST /agents/{name}/chat", agent: "ada", status: 200, code: null });
});

test("a key that is revoked while its call waits loses the call", async () => {
  const { body } = await owner.call("POST", "/keys", {});
  const given = { name: "ask_agent", arguments: { agent: "bob", message: "hang" }, _meta: { progressToken: 1 } };
  const response = await new TestClient(owner.url, body.key).fetch(
    "POST",
    "/mcp",
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: given },
    { accept: "application/json, text/event-stream" },
  );
  const turn = async () => (await owner.call("GET", "/agents/bob/turns")).body.data[0];
  await expect.poll(async () => (await turn()).status).toBe("running");
  await owner.call("DELETE", `/keys/${body.id}`);
  await expect(response.text()).rejects.toThrow();
  await owner.call("POST", `/agents/bob/turns/${(await turn()).id}/cancel`);
});

test("an invalid protocol call is refused", async () => {
  const call = (body: unknown, headers = {}) =>
    owner.fetch("POST", "/mcp", body, { accept: "application/json, text/event-stream", ...headers });
  const batch = Array.from({ length: 21 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" }));
  expect((await call(batch)).status).toBe(400);
  expect((await call({ jsonrpc: "2.0", id: 1, method: "ping" }, { origin: "https://evil.example" })).status).toBe(403);
  expect((await call({ jsonrpc: "2.0", id: 1, method: "ping" }, { origin: owner.url })).status).toBe(200);
  expect((await owner.fetch("GET", "/mcp")).status).toBe(405);
  const unfinished = await owner.call("POST", "/mcp", '{"jsonrpc":"2.0",');
  expect(unfinished).toMatchObject({ status: 400, body: { jsonrpc: "2.0", id: null, error: { code: -32_700 } } });
  expect((await fetch(`${owner.url}/mcp`, { method: "POST" })).status).toBe(401);
});
