import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ServerGroup } from "../support/server-group.ts";

// MCP's tasks and forms with several servers: each request of a client may meet another one.

let servers: ServerGroup;
let client: Client;
let requests = 0;

beforeAll(async () => {
  servers = await ServerGroup.start(2);
  const { client: leader } = await servers.leader();
  await leader.createAgent("ada");
  await leader.createAgent("asking", { permissions: { execute: "ask" } });
  client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { decision: "allow" } }));
  const requestInit = { headers: { authorization: `Bearer ${leader.key}` } };
  const fetchAnywhere = (url: string | URL, init?: RequestInit) => {
    const { client: next } = servers.members[requests++ % servers.members.length]!;
    return fetch(new URL(new URL(url).pathname, next.url), init);
  };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${leader.url}/mcp`), { requestInit, fetch: fetchAnywhere }),
  );
}, 120_000);
afterAll(async () => {
  await client?.close();
  await servers?.[Symbol.asyncDispose]();
});

const call = (agent: string, message: string) =>
  Array.fromAsync(
    client.experimental.tasks.callToolStream(
      { name: "ask_agent", arguments: { agent, message } },
      CallToolResultSchema,
      { task: {} },
    ),
  );

test("a task is begun, watched and answered by any server", async () => {
  for (let time = 0; time < 3; time++) {
    const seen = await call("ada", "count 5 20");
    expect(seen.at(-1)).toMatchObject({ type: "result", result: { structuredContent: { reply: "1 2 3 4 5 " } } });
  }
});

test("a form in a task's stream is answered through any server", async () => {
  for (let time = 0; time < 3; time++) {
    const seen = await call("asking", "use execute make");
    expect(seen.at(-1)).toMatchObject({ type: "result", result: { structuredContent: { reply: "used" } } });
  }
});

test("a form in a call's stream is answered through any server", async () => {
  for (let time = 0; time < 3; time++) {
    const asked = { name: "ask_agent", arguments: { agent: "asking", message: "use execute make" } };
    expect(await client.callTool(asked)).toMatchObject({ structuredContent: { reply: "used" } });
  }
});
