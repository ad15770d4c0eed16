import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newAccount } from "../support/accounts.ts";
import { importArchive } from "../support/archives.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { ClaudeServer } from "../support/subscription-servers.ts";

// Subscriptions as providers: local servers that speak the vendors' protocols and check their authentication.

const token = "sk-ant-oat01-a-token-of-the-workspace-wxyz";
const nowhere = "http://127.0.0.1:9";
const ask = "ask /anthropic/v1/messages";
let service: ScriptedService;
let client: TestClient;
let claude: ClaudeServer;

beforeAll(async () => {
  claude = await ClaudeServer.start();
  claude.models = ["claude-sonnet-4-5"];
  const subscriptions = { claude: claude.url, chatGpt: nowhere, chatGptLogin: nowhere };
  service = await ScriptedService.start({ subscriptions, allowUnpriced: false });
  client = await newAccount(service);
});
beforeEach(() => {
  claude.tokens.clear();
  claude.tokens.add(token);
  claude.received.length = 0;
  claude.refused = 0;
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  claude?.[Symbol.dispose]();
});

describe("a Claude subscription", () => {
  beforeAll(async () => {
    const asked = { name: "claude", kind: "claude", apiKey: token };
    const { status, body } = await client.call("POST", "/providers", asked);
    expect([status, body]).toMatchObject([
      201,
      { credential: "…wxyz", wires: ["messages"], runtimes: ["claude-code"] },
    ]);
  });

  test("answers agents of Claude Code, with the token put in on the way out", async () => {
    await client.createAgent("ada", { model: "claude/claude-sonnet-4-5" });
    const { events, text } = await client.chat("ada", ask);
    expect(text).toContain("demonstration model");
    expect(JSON.stringify(events)).not.toContain("sk-ant");
    const [call] = claude.received;
    expect(call!.body.model).toBe("claude-sonnet-4-5");
    // It costs no credits, and counts at the list price.
    const { data } = (await client.call("GET", "/billing/entries?kind=model")).body;
    expect(data).toMatchObject([{ credits: "0", model: "claude/claude-sonnet-4-5" }]);
    expect(Number(data[0].listPrice)).toBeGreaterThan(0);
  });

  test("is for no other runtime: neither as the model nor as a fallback", async () => {
    const asked = { name: "bea", runtime: "opencode", model: "claude/claude-sonnet-4-5" };
    const { status, body } = await client.call("POST", "/agents", asked);
    expect([status, body.code]).toEqual([400, "model_not_available"]);
    expect(body.message).toMatch(
      /is of a subscription that only claude-code may use, not opencode\. Available: demo\/demo/,
    );
    const fallback = { ...asked, model: "demo/demo", fallbackModels: ["claude/claude-sonnet-4-5"] };
    expect((await client.call("POST", "/agents", fallback)).body.code).toBe("model_not_available");
    const changed = await client.call("PATCH", "/agents/ada", { runtime: "opencode" });
    expect([changed.status, changed.body.code]).toEqual([400, "model_not_available"]);
    await client.createAgent("bea", { ...asked, model: "demo/demo" });
    const message = { message: "hello", model: "claude/claude-sonnet-4-5" };
    expect((await client.call("POST", "/agents/bea/chat", message)).status).toBe(400);
  });

  test("is a workspace's, and takes no key of the API and no other address", async () => {
    for (const [fields, message] of [
      [{ apiKey: "sk-ant-api03-a-key" }, /a key of Anthropic's API, for the kind anthropic/],
      [{ apiKey: token, baseUrl: "https://example.com" }, /baseUrl: a provider of the kind claude has none/],
      [{ apiKey: token, scope: "installation" }, /a subscription is not for all workspaces/],
    ] as const) {
      const asked = { name: "other", kind: "claude", ...fields };
      const { status, body } = await service.client.call("POST", "/providers", asked);
      expect([status, body.message]).toEqual([400, expect.stringMatching(message)]);
    }
    const { body } = await (await newAccount(service)).call("GET", "/providers");
    expect(body.data).toEqual([]);
  });

  test("an export and a fork have none of it, and both talk where the subscription is", async () => {
    const exported = await client.fetch("GET", "/agents/ada/export?disk=true");
    const archive = Buffer.from(await exported.arrayBuffer());
    const unpacked = archive[0] === 0x1f ? gunzipSync(archive) : archive;
    for (const bytes of [archive, unpacked]) expect(bytes.includes("sk-ant")).toBe(false);
    await client.createAgent("cyd", { from: { agent: "ada" } });
    expect(await client.ask("cyd", ask)).toContain("demonstration model");
    // In another workspace, the model's name is of no provider.
    const other = await newAccount(service);
    const imported = await importArchive(other, archive, { query: "?name=ada&wait=ready" });
    expect([imported.status, imported.body.code]).toEqual([400, "model_not_available"]);
    const answered = await importArchive(other, archive, { query: "?name=ada&wait=ready&model=default" });
    expect(answered.status).toBe(201);
    expect((await other.call("GET", "/providers")).body.data).toEqual([]);
  });

  test("a token that is revoked ends the turn with how to connect again, once and without the token", async () => {
    claude.tokens.clear();
    const { events } = await client.chat("ada", ask);
    expect(events.at(-1)!.event).toMatchObject({
      type: "response.failed",
      error: {
        code: "model_credentials_refused",
        message:
          "The login of the provider claude has failed. Anthropic does not accept the token (401). Make another with `claude setup-token`. Connect it again: berth providers login claude, or the dashboard's page Providers.",
      },
    });
    expect(JSON.stringify(events)).not.toContain("sk-ant");
    expect(claude.refused).toBe(2);
    // Later calls fail at once.
    expect((await client.chat("ada", ask)).events.at(-1)!.event).toMatchObject({
      error: { code: "model_credentials_refused" },
    });
    expect(claude.refused).toBe(2);
    const [shown] = (await client.call("GET", "/providers")).body.data;
    expect(shown.login).toMatchObject({ status: "failed", reason: expect.stringContaining("(401)") });
    const other = "sk-ant-oat01-another-token-abcd";
    claude.tokens.add(other);
    expect((await client.call("PATCH", "/providers/claude", { apiKey: other })).body).toMatchObject({
      ...{ credential: "…abcd", login: { status: "connected", reason: null } },
    });
    expect(await client.ask("ada", ask)).toContain("demonstration model");
  });

  test("a test call is made as an agent's", async () => {
    const { body } = await client.call("POST", "/providers/claude/test", { model: "claude-sonnet-4-5" });
    expect([body.ok, body.error]).toEqual([false, expect.objectContaining({ code: "model_credentials_refused" })]);
    await client.call("PATCH", "/providers/claude", { apiKey: token });
    expect((await client.call("POST", "/providers/claude/test", {})).body).toMatchObject({ ok: true, error: null });
  });
});
