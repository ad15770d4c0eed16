import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import { messageNumberIn } from "../support/client.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { HttpMcpServer } from "../support/mcp-server.ts";
import { modelOf, providersAt, realModels, runtimes, toolName } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// An agent's own MCP servers as tools of the real runtimes: one over the web, with a secret, and one by a command.

let provider: DemoServer;
let remote: HttpMcpServer;
let service: ScriptedService;

beforeAll(async () => {
  provider = await DemoServer.start(realModels);
  remote = await HttpMcpServer.start();
  service = await ScriptedService.start(
    { ...providersAt(provider.url), egressInside: [remote.authority] },
    { runtimes, packages: await guestPackages() },
  );
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  remote[Symbol.dispose]();
  provider[Symbol.dispose]();
});

const local = { command: process.execPath, args: [join(import.meta.dirname, "../support/stdio-mcp-server.ts")] };

const agentOf = (runtime: string) => `on-${runtime}`;

/** The reply to a call of a server's tool. Claude Code's models look for a tool of a server before they call it. */
async function use(runtime: string, server: string, text: string): Promise<string> {
  const { client } = service;
  const agent = agentOf(runtime);
  if (runtime === "claude-code") await client.ask(agent, `use: ToolSearch {"query":"select:mcp__${server}__echo"}`);
  return client.ask(agent, `use: ${toolName(runtime, server, "echo")} {"text":"${text}"}`);
}

describe.each(runtimes.map(({ name }) => name))("%s", (runtime) => {
  const agent = agentOf(runtime);
  beforeAll(() => service.client.createAgent(agent, { runtime, model: modelOf(runtime) }));

  test("has the tools of its servers, with its secrets, in the same conversation", async () => {
    const { client } = service;
    await client.ask(agent, "The word is heron.");
    const secret = { value: "hush", hosts: [`http://${remote.authority}`], headers: ["Authorization"] };
    expect((await client.call("PUT", `/agents/${agent}/secrets/TOKEN`, secret)).status).toBe(201);
    const mcpServers = {
      web: { url: `http://${remote.authority}/mcp`, headers: { Authorization: `Bearer \${TOKEN}` } },
      lost: { url: `http://${remote.authority}/mcp`, headers: { Authorization: `Bearer \${NO_SUCH}` } },
      here: { ...local, env: { GREETING: "a greeting" } },
    };
    const { body } = await client.call("PATCH", `/agents/${agent}`, { mcpServers });
    expect(body.mcpServers).toEqual(mcpServers);
    expect(await use(runtime, "here", "hello")).toContain("hello, with a greeting");
    remote.credentials.clear();
    expect(await use(runtime, "web", "hello")).toContain("hello, with the web");
    expect([...remote.credentials]).toEqual(["Bearer hush"]);
    expect(await client.ask(agent, "What was before?")).toMatch(/Your message [4-9] of this conversation/);
    await client.call("PATCH", `/agents/${agent}`, { mcpServers: {} });
    expect(await client.ask(agent, 'use: web__echo {"text":"x"}')).toMatch(
      /cannot call the tool|No such tool available/,
    );
  });

  test("asks another agent of its account", async () => {
    const { client } = service;
    const friend = `friend-of-${runtime}`;
    await client.createAgent(friend, { model: "anthropic/claude-sonnet-4-5" });
    expect((await client.call("PATCH", `/agents/${agent}`, { agents: [friend] })).status).toBe(200);
    const tool = `${runtime === "claude-code" ? "mcp__" : ""}${toolName(runtime, "agents", "ask_agent")}`;
    const asked = JSON.stringify({ agent: friend, message: "The word is ibis." });
    // In a conversation that has begun without it, Claude Code's models find a tool by a search.
    if (runtime === "claude-code") await client.ask(agent, `use: ToolSearch {"query":"select:${tool}"}`);
    const reply = await client.ask(agent, `use: ${tool} ${asked}`);
    expect(reply).toContain("Your message 1 of this conversation");
    const { body } = await client.call("GET", `/agents/${friend}/turns`);
    expect(body.data).toMatchObject([{ message: "The word is ibis.", askedBy: { agent } }]);
  });

  test("schedules a message to itself, and gets it in the same conversation", async () => {
    const { client } = service;
    expect((await client.call("PATCH", `/agents/${agent}`, { agents: [], schedules: {} })).status).toBe(200);
    const tool = `${runtime === "claude-code" ? "mcp__" : ""}${toolName(runtime, "agents", "schedule")}`;
    const asked = JSON.stringify({ message: "Remind me of the ibis.", inMinutes: 1 });
    if (runtime === "claude-code") await client.ask(agent, `use: ToolSearch {"query":"select:${tool}"}`);
    // Most runtimes ask once for a server's tools, so they start again for others.
    const before = messageNumberIn(await client.ask(agent, "Where are we?"));
    await client.ask(agent, `use: ${tool} ${asked}`);
    const made = async () => (await client.call("GET", `/automations?agent=${agent}`)).body.data;
    expect(await made()).toMatchObject([{ message: "Remind me of the ibis.", byAgent: true }]);
    await expect
      .poll(made, { timeout: 240_000, interval: 1_000 })
      .toMatchObject([{ lastRun: { status: "completed" } }]);
    const [{ name }] = await made();
    const [{ reply }] = (await client.call("GET", `/automations/${name}/runs`)).body.data;
    expect(messageNumberIn(reply)).toBeGreaterThan(before);
  });
});
