import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../support/client.ts";
import { VmService } from "../support/vm-service.ts";

// An agent on the runtime `acp` in a real machine: its template starts no runtime, and its clone starts the program.

let service: VmService;
let client: TestClient;
beforeAll(async () => {
  service = await VmService.start();
  client = service.client;
});
afterAll(() => service[Symbol.asyncDispose]());

const acp = {
  command: "node",
  args: ["/opt/berth/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"],
};

test("the program answers in a clone, after a sleep and after a restart, and a wrong one fails with the reason", async () => {
  expect((await client.createAgent("ada", { runtime: "acp", acp })).body).toMatchObject({ status: "ready", acp });
  expect((await service.record(await service.machineId("ada"))).origin).toBe("clone");
  expect(await client.ask("ada", "My cat is called Miez.")).toContain("Your message 1 of this conversation");
  expect(await client.ask("ada", "run: echo from $(id -un)")).toContain("from agent");
  await client.call("POST", "/agents/ada/suspend");
  expect(await client.ask("ada", "Still there?")).toMatch(/Your message [3-4] of this conversation/);
  await client.restartAgent("ada");
  expect(await client.ask("ada", "And now?")).toMatch(/Your message [4-6] of this conversation/);
  await client.call("PATCH", "/agents/ada", { acp: { command: "no-such-program" } });
  const { events } = await client.chat("ada", "Hello?");
  expect(events.at(-1)!.event).toMatchObject({
    type: "response.failed",
    error: { code: "runtime_failed", message: expect.stringContaining("cannot start no-such-program") },
  });
  await client.call("PATCH", "/agents/ada", { acp });
  expect(await client.ask("ada", "Back again?")).toContain("of this conversation");
});
