import { afterAll, beforeAll, expect, test } from "vitest";
import { eventsOf, type TestClient } from "../support/client.ts";
import { KillableService } from "../support/killable-service.ts";

// A guest that hangs: its machine runs, takes connections, and answers nothing.

let service: KillableService;
let client: TestClient;

beforeAll(async () => {
  service = await KillableService.start({ stallMs: 2_000, idleMs: 10_000 });
  client = service.client;
  machines = { ada: await create("ada"), bob: await create("bob") };
});
afterAll(() => service[Symbol.asyncDispose]());

/** An agent's machine and that machine's process. */
let machines: Record<"ada" | "bob", { id: string; pid: number }>;

/** Creates an agent. Answers its machine. */
async function create(name: string): Promise<{ id: string; pid: number }> {
  const before = (await service.machines.list()).map(({ id }) => id);
  await client.createAgent(name);
  const { id } = (await service.machines.list()).find((machine) => !before.includes(machine.id))!;
  return { id, pid: (await service.machines.record(id))!.pid };
}

test.concurrent("a machine that hangs in a tool call is lost, and the agent answers again", {
  timeout: 300_000,
}, async ({ expect }) => {
  const response = await client.fetch("POST", "/agents/ada/chat", { message: "tool hang", include: ["tools"] });
  let last = "";
  for await (const { event } of eventsOf(response)) {
    last = event.type === "response.failed" ? event.error.code : event.type;
    if (event.type === "response.tool_call.started") {
      process.kill((await service.machines.record(machines.ada.id))!.pid, "SIGSTOP");
    }
  }
  expect(last).toBe("machine_lost");
  expect(await client.ask("ada", "are you back?")).toBe("are you back?");
});

test.concurrent("a machine that hangs while its agent is idle is ended, started again and suspended", {
  timeout: 500_000,
}, async ({ expect }) => {
  const { id, pid } = machines.bob;
  process.kill(pid, "SIGSTOP");
  await expect.poll(async () => (await service.machines.record(id))?.pid, { timeout: 200_000 }).not.toBe(pid);
  const status = async () => (await client.call("GET", "/agents/bob")).body.status;
  await expect.poll(status, { timeout: 200_000 }).toBe("suspended");
  expect(await client.ask("bob", "are you back?")).toBe("are you back?");
});

test("a tool that is silent for longer than a turn may be is left to work", async () => {
  await client.createAgent("cleo");
  const response = await client.fetch("POST", "/agents/cleo/chat", { message: "tool hang", include: ["tools"] });
  const turnId = response.headers.get("x-turn-id");
  // Long enough for two examinations.
  setTimeout(() => void client.call("POST", `/agents/cleo/turns/${turnId}/cancel`), 6_000);
  const events = await Array.fromAsync(eventsOf(response));
  expect(events.at(-1)!.event.type).toBe("response.cancelled");
});
