import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { eventsOf, type TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The host's wall clock is set while the server runs. The server is in this process, and so is its clock; monotonic time
// continues, as it does on a host.

const day = 86_400_000;
let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  service = await ScriptedService.start({
    idleMs: 600_000,
    stallMs: 60_000,
    rateLimits: { requests: 1_000, account: 1_000, address: 1_000, agents: 100, keys: 100, hooks: 0 },
  });
  client = service.client;
  await client.createAgent("ada");
});
afterEach(() => vi.useRealTimers());
afterAll(() => service[Symbol.asyncDispose]());

function setClock(by: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + by, shouldAdvanceTime: true });
}

test.each([
  ["forward", day],
  ["back", -day],
])("a clock that is set %s by a day in the middle of all harms nothing", async (_, by) => {
  const response = await client.fetch("POST", "/agents/ada/chat", { message: "count 60 50" });
  let text = "";
  let last = "";
  for await (const { event } of eventsOf(response)) {
    if (event.type === "response.output_text.delta") text += event.delta;
    if (text === "1 2 3 ") setClock(by);
    last = event.type;
  }
  expect([last, text.trim().split(" ").length]).toEqual(["response.completed", 60]);

  // Nobody was idle for a day, nor has used up a limit of another day.
  expect((await client.call("GET", "/agents/ada")).body.status).toBe("ready");
  for (let n = 0; n < 5; n++) expect((await client.call("GET", "/agents")).status).toBe(200);
  expect((await client.call("POST", "/agents/ada/suspend")).body.status).toBe("suspended");
  expect(await client.ask("ada", "awake again")).toBe("awake again");
  expect((await client.restartAgent("ada")).body.status).toBe("ready");
  const name = by > 0 ? "bob" : "cleo";
  expect((await client.createAgent(name)).body.status).toBe("ready");
  expect(await client.ask(name, "hello")).toBe("hello");
  const turns = (await client.call("GET", "/agents/ada/turns")).body.data;
  expect(turns[0]).toMatchObject({ message: "awake again", status: "completed" });
});
