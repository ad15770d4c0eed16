import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { processor } from "../../src/core/processor.ts";
import { DemoServer } from "../../src/models/demo/demo-server.ts";
import { acp } from "../../src/runtimes/acp-program.ts";
import { guestPackages } from "../support/guest-packages.ts";
import { ModelProxy, systemOf } from "../support/model-proxy.ts";
import { providersAt, realModels } from "../support/real-runtimes.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The runtime `acp` with programs that know nothing of Berth: Claude Code's own adapter, as anybody starts it, opencode, and
// programs that do not speak ACP.

let provider: DemoServer;
let proxy: ModelProxy;
let service: ScriptedService;
let packages: string;

beforeAll(async () => {
  packages = await guestPackages();
  provider = await DemoServer.start([...realModels, "haiku"]);
  proxy = await new ModelProxy(provider.url).listen();
  service = await ScriptedService.start(providersAt(proxy.url), { runtimes: [acp], packages });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
  provider[Symbol.dispose]();
});

const claude = () => ({
  command: join(packages, processor.packages.node, "bin/node"),
  args: [join(packages, "@agentclientprotocol/claude-agent-acp/dist/index.js")],
});

test("a program has model, instructions, tools, resets and cancels, and its conversation survives a restart", async () => {
  const { client } = service;
  const instructions = "Speak of ships only.";
  const { body } = await client.createAgent("ada", { acp: claude(), instructions });
  expect(body).toMatchObject({ status: "ready", runtime: "acp" });
  await client.ask("ada", "My cat is called Miez.");
  expect(systemOf(proxy.asked.at(-1)!.body)).toContain(instructions);
  const used = await client.chat("ada", "run: echo kept > note.txt && cat note.txt", ["tools", "usage"]);
  expect(used.text).toContain("kept");
  expect(used.events.some(({ event }) => event.type === "response.tool_call.completed")).toBe(true);
  expect(used.events.at(-1)!.event).toMatchObject({ usage: { inputTokens: expect.any(Number) } });
  await client.restartAgent("ada");
  expect(await client.ask("ada", "What is she called?")).toMatch(/Your message [3-9] of this conversation/);
  expect(JSON.stringify(proxy.asked.at(-1)!.body)).toContain("Miez");
  await client.call("POST", "/agents/ada/conversation/reset");
  expect(await client.ask("ada", "Hello.")).toContain("Your message 1 of this conversation");
});

test("a model is chosen by the program's own list, and one that it lacks is a clear error", async () => {
  const { client } = service;
  await client.createAgent("bob", { acp: claude(), model: "anthropic/claude-haiku-4-5" });
  const { events } = await client.chat("bob", "Hello.");
  expect(events.at(-1)!.event).toMatchObject({
    type: "response.failed",
    error: {
      code: "model_not_available",
      message: expect.stringMatching(/^The agent's program has no model claude-haiku-4-5: it offers default, .*haiku/),
    },
  });
  await client.call("PATCH", "/agents/bob", { model: "anthropic/haiku" });
  await client.ask("bob", "Hello.");
  expect(proxy.asked.at(-1)!.body.model).toContain("haiku");
});

let programs = 0;

test.each([
  [{ command: "no-such-program" }, /did not start: .*no-such-program.*(ENOENT|not found)/s],
  [{ command: "sh", args: ["-c", "echo wrong >&2; exit 3"] }, /did not start: .*wrong\nsh ended \(3\)/s],
  [{ command: "sh", args: ["-c", "echo not json; sleep 2"] }, /did not start: /],
])("an agent whose program is %j fails with the reason", async (program, message) => {
  const { client } = service;
  const name = `eve-${programs++}`;
  const { body } = await client.createAgent(name, { acp: program });
  expect([body.status, body.error.code]).toEqual(["failed", "runtime_failed"]);
  expect(body.error.message).toMatch(message);
});
