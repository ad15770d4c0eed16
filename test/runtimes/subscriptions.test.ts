import { afterAll, beforeAll, expect, test } from "vitest";
import { newAccount } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { runtimes } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { ChatGptServer, ClaudeServer } from "../support/subscription-servers.ts";

// The real Claude Code and Codex with subscriptions, at local servers that speak the vendors' protocols and check their
// authentication.

const token = "sk-ant-oat01-a-token-of-the-workspace-wxyz";
let claude: ClaudeServer;
let vendor: ChatGptServer;
let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  claude = await ClaudeServer.start();
  claude.models = ["claude-sonnet-4-5"];
  claude.tokens.add(token);
  vendor = await ChatGptServer.start();
  service = await ScriptedService.start(
    { subscriptions: { claude: claude.url, ...vendor.urls }, allowUnpriced: false },
    { runtimes, packages: await guestPackages() },
  );
  client = await newAccount(service);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  claude?.[Symbol.dispose]();
  vendor?.[Symbol.dispose]();
});

const fileOf = async (agent: string, path: string) =>
  (await client.fetch("GET", `/agents/${agent}/files/${path}`)).text();

test("Claude Code talks and uses tools over a Claude subscription, and none of its token is in its home", async () => {
  await client.call("POST", "/providers", { name: "claude", kind: "claude", apiKey: token });
  await client.createAgent("ada", { runtime: "claude-code", model: "claude/claude-sonnet-4-5" });
  expect(await client.ask("ada", "My cat is called Miez.")).toContain("My cat is called Miez.");
  await client.chat("ada", "run: grep -rlE 'oat01-a-tok[e]n' ~ > found");
  expect(claude.received.length).toBeGreaterThanOrEqual(3);
  expect(await fileOf("ada", "found")).toBe("");
  const [entry] = (await client.call("GET", "/billing/entries?kind=model")).body.data;
  expect(entry).toMatchObject({ credits: "0", model: "claude/claude-sonnet-4-5" });
});

test("Codex talks and uses tools over a ChatGPT subscription", async () => {
  const { body } = await client.call("POST", "/providers", { name: "chatgpt", kind: "chatgpt" });
  vendor.codes.set(body.login.userCode, true);
  const statusOf = async () => {
    const { data } = (await client.call("GET", "/providers")).body;
    return data.find(({ name }: { name: string }) => name === "chatgpt").login.status;
  };
  await expect.poll(statusOf, { timeout: 20_000 }).toBe("connected");
  await client.createAgent("bob", { runtime: "codex", model: "chatgpt/gpt-5-codex", effort: "low" });
  expect(await client.ask("bob", "My dog is called Rex.")).toContain("My dog is called Rex.");
  await client.chat("bob", "run: echo done > made");
  expect(await fileOf("bob", "made")).toBe("done\n");
  const bodies = vendor.received.map(({ body }) => body as { store?: unknown; reasoning?: { effort?: string } });
  expect(bodies.length).toBeGreaterThanOrEqual(3);
  for (const { store, reasoning } of bodies) expect([store, reasoning?.effort]).toEqual([false, "low"]);
});
