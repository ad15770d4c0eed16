import { afterEach, beforeEach, expect, test } from "vitest";
import { eventsOf } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Machines that cannot outlive their server, as in a container. The scripted ones can, so tests see which were suspended.

let service: ScriptedService;
beforeEach(async () => {
  service = await ScriptedService.start({ stopSuspendMs: 30_000 });
  await service.client.createAgent("ada");
});
afterEach(() => service[Symbol.asyncDispose]());

const statusOf = async (name: string) => (await service.client.call("GET", `/agents/${name}`)).body.status;

test("a stop suspends awake agents, which wake with their memory", async () => {
  await service.client.chat("ada", "first");
  await service.restart(async () => {
    expect([service.driver.running, service.driver.suspended.length]).toEqual([[], 1]);
  });
  expect(await statusOf("ada")).toBe("suspended");
  expect((await service.client.chat("ada", "recall")).text).toBe("first\nrecall\n");
});

test("a turn that runs at the stop continues at the next start", async () => {
  const response = await service.client.fetch("POST", "/agents/ada/chat", { message: "count 100 20" });
  const turnId = response.headers.get("x-turn-id")!;
  for await (const { id } of eventsOf(response)) if (id === 10) break;
  await service.restart(async () => {
    expect(service.driver.running).toEqual([]);
  });
  const { events } = await service.client.events("ada", turnId, 10);
  expect(events.map(({ id }) => id)).toEqual(Array.from({ length: 93 }, (_, index) => index + 11));
  expect(events.at(-1)!.event).toMatchObject({ type: "response.completed" });
  expect(await statusOf("ada")).toBe("ready");
});

test("an agent that cannot be suspended does not keep others awake", async () => {
  await service.client.createAgent("bob");
  service.driver.suspendFailures.push(new Error("the disk is full"));
  await service.restart(async () => {
    expect([service.driver.running.length, service.driver.suspended.length]).toEqual([1, 1]);
  });
});

test("a stop leaves machines running without the setting, and those that take too long", async () => {
  const gate = Promise.withResolvers<void>();
  service.driver.suspendGate = gate.promise;
  service.config.stopSuspendMs = 100;
  await service.restart(async () => {
    service.config.stopSuspendMs = 0;
    expect(service.driver.running.length).toBe(1);
    gate.resolve();
  });
  expect((await service.client.chat("ada", "recall")).text).toBe("recall\n");
  await service.restart(async () => {
    expect(service.driver.running.length).toBe(1);
  });
});
