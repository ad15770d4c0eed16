import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newKey } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { callTool, mcpRevisions } from "../support/mcp-client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Approvals that a turn waits for, asked of the client's user by forms (elicitation), with the official client.

let service: ScriptedService;
let owner: TestClient;
const clients: Client[] = [];

beforeAll(async () => {
  service = await ScriptedService.start();
  owner = service.client;
  await owner.createAgent("asking", { permissions: { execute: "ask" } });
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await service[Symbol.asyncDispose]();
});

interface Form {
  message: string;
  requestedSchema?: { properties: Record<string, unknown> };
}

type Answer = { action: "accept" | "decline" | "cancel"; content?: Record<string, string> };

/** A client whose user answers forms so. */
async function connect(
  revision: (typeof mcpRevisions)[number],
  answer: ((form: Form) => Answer | Promise<Answer>) | null,
  { url, key } = owner,
): Promise<Client> {
  const mode = revision === "2026-07-28" ? { pin: revision } : ("legacy" as const);
  const capabilities = answer ? { elicitation: { form: {} } } : {};
  const client = new Client({ name: "test", version: "1" }, { capabilities, versionNegotiation: { mode } });
  if (answer) client.setRequestHandler("elicitation/create", async ({ params }) => answer(params as Form));
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  clients.push(client);
  return client;
}

const ask = (client: Client, message: string, waitSeconds?: number) =>
  callTool(client, "ask_agent", { agent: "asking", message, ...(waitSeconds === undefined ? {} : { waitSeconds }) });

describe.each(mcpRevisions)("revision %s", (revision) => {
  test("the user allows, denies and declines by a form", async () => {
    const forms: Form[] = [];
    const answers: Answer[] = [
      { action: "accept", content: { decision: "allow" } },
      { action: "accept", content: { decision: "deny" } },
      { action: "decline" },
    ];
    const client = await connect(revision, (form) => {
      forms.push(form);
      return answers[forms.length - 1]!;
    });
    const replies: string[] = [];
    for (const _ of answers) replies.push((await ask(client, "use execute make")).reply);
    expect(replies).toEqual(["used", "not used", "not used"]);
    expect(forms[0]).toMatchObject({
      message: expect.stringContaining("The agent asking asks for permission (execute): make"),
      requestedSchema: { properties: { decision: { type: "string", enum: ["allow", "allow-always", "deny"] } } },
    });
    expect(forms).toHaveLength(3);
    const [last] = (await owner.call("GET", "/audit?limit=1")).body.data;
    expect(["POST /agents/{name}/turns/{turnId}/approvals/{approvalId}", "POST /agents/{name}/chat"]).toContain(
      last.operation,
    );
  });

  test("a form that is cancelled leaves the approval open", async () => {
    const shown = Promise.withResolvers<void>();
    const client = await connect(revision, () => {
      shown.resolve();
      return { action: "cancel" };
    });
    const asking = ask(client, "use execute make", 600);
    await shown.promise;
    const { data } = (await owner.call("GET", "/approvals")).body;
    expect(data).toMatchObject([{ agent: "asking", status: "open" }]);
    const { turnId } = data[0];
    await callTool(client, "cancel_turn", { agent: "asking", turnId });
    // The call of 2026-07-28 has returned by then.
    expect(["running", "cancelled"]).toContain((await asking).status);
    await callTool(client, "get_turn", { agent: "asking", turnId, waitSeconds: 600 });
  });

  test("an approval that somebody answers elsewhere meanwhile lets the call continue", async () => {
    const client = await connect(revision, async () => {
      const [open] = (await owner.call("GET", "/approvals")).body.data;
      const path = `/agents/asking/turns/${open.turnId}/approvals/${open.id}`;
      expect((await owner.call("POST", path, { decision: "allow" })).status).toBe(200);
      return { action: "accept", content: { decision: "deny" } };
    });
    expect((await ask(client, "use execute make")).reply).toBe("used");
  });

  test("a client without forms, and a key that may not answer, are not asked: the tool is denied", async () => {
    const silent = await connect(revision, null);
    expect((await ask(silent, "use execute make")).reply).toBe("not used");
    const key = await newKey(owner, { kind: "agent", agents: ["asking"] });
    const external = await connect(revision, () => ({ action: "accept", content: { decision: "allow" } }), key);
    expect((await ask(external, "use execute make")).reply).toBe("not used");
  });
});

describe("a hostile client", () => {
  const accept = { accept: "application/json, text/event-stream" };

  test("an answer to what nobody asked is accepted and changes nothing", async () => {
    const id = `asking.${"0".repeat(8)}-0000-0000-0000-${"0".repeat(12)}`;
    const result = { action: "accept", content: { decision: "allow" } };
    for (const given of [`${id}.${id.slice(7)}`, id, "asking", 7, "x".repeat(10_000)])
      expect((await owner.call("POST", "/mcp", { jsonrpc: "2.0", id: given, result }, accept)).status).toBe(202);
  });

  test("an external agent key cannot answer by the id of a form", async () => {
    const turn = await owner.fetch("POST", "/agents/asking/chat", { message: "use execute make" });
    const turnId = turn.headers.get("x-turn-id")!;
    const open = async () => (await owner.call("GET", "/approvals")).body.data;
    await expect.poll(async () => (await open()).length).toBe(1);
    const [approval] = await open();
    const key = await newKey(owner, { kind: "agent", agents: ["asking"] });
    const answer = { action: "accept", content: { decision: "allow" } };
    const message = { jsonrpc: "2.0", id: `asking.${turnId}.${approval.id}`, result: answer };
    expect((await key.call("POST", "/mcp", message, accept)).status).toBe(202);
    // Nor does rubbish decide.
    for (const result of [{}, { action: "accept" }, { action: "accept", content: { decision: "maybe" } }])
      expect((await owner.call("POST", "/mcp", { ...message, result }, accept)).status).toBe(202);
    expect(await open()).toHaveLength(1);
    expect((await owner.call("POST", "/mcp", message, accept)).status).toBe(202);
    expect(await turn.text()).toContain('"used"');
  });

  test("a repeated call with a state that is not the service's is refused", async () => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
    };
    const headers = {
      ...accept,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "ask_agent",
    };
    const call = async (requestState: string) => {
      const given = { name: "ask_agent", arguments: { agent: "asking", message: "hello" }, requestState, _meta };
      const answer = await owner.call(
        "POST",
        "/mcp",
        { jsonrpc: "2.0", id: 1, method: "tools/call", params: given },
        headers,
      );
      return answer.body.result;
    };
    for (const state of ["rubbish", "{}", '{"turnId":"x"}'])
      expect(await call(state)).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining("requestState") }],
      });
    const none = await call(JSON.stringify({ turnId: "00000000-0000-4000-8000-000000000000" }));
    expect(none).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("turn_not_found") }] });
  });
});
