import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import type { Agent } from "../../src/contract/agents.ts";
import { BerthError } from "../../src/contract/errors.ts";
import type { Runtime, Session } from "../../src/runtimes/runtime.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { scriptedRuntime } from "../support/scripted-runtime.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { untilDesired } from "../support/until-desired.ts";

let service: ScriptedService;
let client: TestClient;

async function start(changes: Parameters<typeof ScriptedService.start>[0] = {}): Promise<void> {
  service = await ScriptedService.start(changes);
  client = service.client;
}
afterEach(() => service[Symbol.asyncDispose]());

async function statusOf(name: string): Promise<string> {
  return (await client.call("GET", `/agents/${name}`)).body.status;
}

test("an agent is suspended and resumed on demand, with what it had in memory; its next message wakes it too", async () => {
  await start();
  await client.createAgent("ada");
  await client.chat("ada", "first");
  expect((await client.call("POST", "/agents/ada/suspend")).body).toMatchObject({ status: "suspended", error: null });
  expect([service.driver.running, service.driver.suspended.length]).toEqual([[], 1]);
  expect((await client.call("POST", "/agents/ada/suspend")).body.status).toBe("suspended");
  expect((await client.call("GET", "/agents/ada/install-status")).body.status).toBe("installed");

  expect((await client.call("POST", "/agents/ada/resume?wait=ready")).body.status).toBe("ready");
  expect((await client.call("POST", "/agents/ada/resume")).body.status).toBe("ready");
  await client.call("POST", "/agents/ada/suspend");
  const reply = await client.chat("ada", "recall", ["status"]);
  expect(reply.text).toBe("first\nrecall\n");
  expect(reply.events.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  expect(reply.events[1]!.event).toMatchObject({ type: "response.in_progress" });
  expect(await statusOf("ada")).toBe("ready");
});

test("an agent that answers a message is not suspended on demand", async () => {
  await start();
  await client.createAgent("ada");
  const response = await client.fetch("POST", "/agents/ada/chat", { message: "count 100 20" });
  const refused = await client.call("POST", "/agents/ada/suspend");
  expect(refused).toMatchObject({ status: 409, body: { code: "turn_in_progress" } });
  expect(refused.body.details.turnId).toBe(response.headers.get("x-turn-id"));
  await response.text();
  expect((await client.call("POST", "/agents/ada/suspend")).body.status).toBe("suspended");
});

test("requests to an agent that is provisioning are queued", async () => {
  await start();
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  await client.call("POST", "/agents", { name: "ada" });
  await expect.poll(() => service.driver.waiting).toBe(1);
  const suspended = client.call("POST", "/agents/ada/suspend");
  await untilDesired(service, "ada", "suspended");
  gate.resolve();
  expect((await suspended).body.status).toBe("suspended");
});

test("an unused agent is suspended; a busy, open or recent one is not", async () => {
  await start({ idleMs: 1_000 });
  await client.createAgent("busy");
  service.driver.busy.add(service.driver.running[0]!);
  for (const name of ["idle", "open"]) await client.createAgent(name);
  const gone = new AbortController();
  const log = await fetch(`${client.url}/agents/open/logs?follow=true`, {
    headers: { authorization: `Bearer ${client.key}` },
    signal: gone.signal,
  });
  const reply = client.chat("idle", "count 250 20");
  await sleep(3_500);
  expect(await statusOf("idle")).toBe("ready");
  expect((await reply).text.endsWith("250 ")).toBe(true);
  await expect.poll(() => statusOf("idle")).toBe("suspended");
  expect([await statusOf("busy"), await statusOf("open")]).toEqual(["ready", "ready"]);
  // So that they do not stay first among the idle ones.
  const lastActive = async (name: string) =>
    Date.parse((await client.call("GET", `/agents/${name}`)).body.lastActiveAt);
  const before = await lastActive("busy");
  await expect.poll(() => lastActive("busy")).toBeGreaterThan(before);
  service.driver.busy.clear();
  gone.abort();
  await log.text().catch(() => {});
  for (const name of ["busy", "open"]) await expect.poll(() => statusOf(name)).toBe("suspended");
});

test("one that begins to read an agent's log while it is looked at for idleness keeps it open", async () => {
  await start({ idleMs: 1_000 });
  await client.createAgent("ada");
  const gate = Promise.withResolvers<void>();
  service.driver.lookGate = gate.promise;
  await expect.poll(() => service.driver.looking).toBe(true);
  const gone = new AbortController();
  const headers = { authorization: `Bearer ${client.key}` };
  const log = await fetch(`${client.url}/agents/ada/logs?follow=true`, { headers, signal: gone.signal });
  gate.resolve();
  await expect.poll(() => service.driver.looking).toBe(false);
  await sleep(500);
  expect(await statusOf("ada")).toBe("ready");
  gone.abort();
  await log.text().catch(() => {});
  await expect.poll(() => statusOf("ada")).toBe("suspended");
});

test("a transient shortage loses neither memory nor the pending message", async () => {
  await start();
  await client.createAgent("ada");
  await client.chat("ada", "first");
  await client.call("POST", "/agents/ada/suspend");
  const shortage = (code: string) => Object.assign(new Error(`${code}: open a file`), { code });
  service.driver.failures.push(
    shortage("EMFILE"),
    shortage("ENOSPC"),
    new BerthError("machine_failed", "It did not start.", { cause: shortage("EAGAIN") }),
  );
  expect(await client.ask("ada", "recall")).toBe("first\nrecall\n");
});

test("an agent that failed to wake keeps its memory, and resumes with it when its owner asks", async () => {
  await start();
  await client.createAgent("ada");
  await client.chat("ada", "first");
  await client.call("POST", "/agents/ada/suspend");
  for (let attempt = 0; attempt < 3; attempt++) {
    service.driver.failures.push(new BerthError("machine_failed", "The image is damaged."));
  }
  const refused = await client.call("POST", "/agents/ada/resume?wait=ready");
  expect(refused.body).toMatchObject({ status: "failed", error: { message: "The image is damaged." } });
  expect(service.driver.suspended.length).toBe(1);
  expect((await client.call("POST", "/agents/ada/resume?wait=ready")).body).toMatchObject({
    status: "ready",
    error: null,
  });
  expect(await client.ask("ada", "recall")).toBe("first\nrecall\n");
});

test("a message in the moment of a suspension wins", async () => {
  await start();
  await client.createAgent("ada");
  for (let round = 0; round < 20; round++) {
    const suspension = client.call("POST", "/agents/ada/suspend");
    await sleep(round % 10);
    const message = client.chat("ada", `round ${round}`);
    expect((await message).text).toBe(`round ${round}`);
    expect([200, 409]).toContain((await suspension).status);
    await expect.poll(() => statusOf("ada")).toMatch(/ready|suspended/);
  }
  expect(await client.ask("ada", "still here")).toBe("still here");
});

test("suspended agents wait out a restart of the server, and a reboot of the host lays all to sleep", async () => {
  await start();
  for (const name of ["ada", "bob"]) await client.createAgent(name);
  await client.chat("ada", "first");
  await client.call("POST", "/agents/ada/suspend");
  await service.restart();
  client = service.client;
  expect([await statusOf("ada"), await statusOf("bob")]).toEqual(["suspended", "ready"]);
  await service.restart(async () => {
    for (const id of service.driver.running) service.driver.kill(id);
  });
  client = service.client;
  await expect.poll(() => statusOf("bob")).toBe("suspended");
  expect(service.driver.running).toEqual([]);
  expect(await client.ask("bob", "good morning")).toBe("good morning");
  expect(await client.ask("ada", "recall")).toBe("first\nrecall\n");
});

test("a deletion does not wait for a machine that is being made", async () => {
  await start();
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  await client.call("POST", "/agents", { name: "ada" });
  await expect.poll(() => service.driver.waiting).toBe(1);
  const deleted = client.call("DELETE", "/agents/ada");
  await untilDesired(service, "ada", "deleted");
  gate.resolve();
  expect((await deleted).status).toBe(204);
  expect(await service.server.machines.list()).toEqual([]);
});

test("deleting an agent ends a runtime that is still starting", async () => {
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const sessions: Session[] = [];
  const slow: Runtime = {
    ...scriptedRuntime("claude-code"),
    start: async (context) => {
      begun.resolve();
      await gate.promise;
      const session = await scriptedRuntime("claude-code").start(context);
      sessions.push(session);
      return session;
    },
  };
  service = await ScriptedService.start({}, { runtimes: [slow] });
  client = service.client;
  await client.call("POST", "/agents", { name: "ada" });
  await begun.promise;
  expect((await client.call("DELETE", "/agents/ada")).status).toBe(204);
  gate.resolve();
  await expect.poll(() => sessions.length).toBe(1);
  await sessions[0]!.ended;
});

test("when memory is short, idle agents make room for the one that is needed", async () => {
  await start({ memoryMiB: 2 * 1536 });
  for (const name of ["ada", "bob", "cat", "dan"]) await client.createAgent(name);
  expect(service.driver.running).toHaveLength(2);
  for (const name of ["ada", "bob", "cat", "dan", "ada"]) {
    expect(await client.ask(name, `hello ${name}`)).toBe(`hello ${name}`);
    expect(service.driver.running.length).toBeLessThanOrEqual(2);
  }
  // Ada and Dan were used last.
  expect([await statusOf("ada"), await statusOf("dan")]).toEqual(["ready", "ready"]);
});

test("where none can make room, a turn waits in order and says so; then, when too many wait, it is 503", async () => {
  await start({ maximumAwake: 1, maximumWaiting: 2 });
  await client.createAgent("ada");
  for (const name of ["bob", "cat", "dan"]) {
    await client.createAgent(name);
    await client.call("POST", `/agents/${name}/suspend`);
  }
  const long = await client.fetch("POST", "/agents/ada/chat", { message: "count 200 10" });
  const bob = await client.fetch("POST", "/agents/bob/chat", { message: "me next", include: ["status"] });
  const cat = await client.fetch("POST", "/agents/cat/chat", { message: "then me", include: ["status"] });
  await expect
    .poll(async () => (await client.call("GET", "/metrics")).body)
    .toContain('berth_agents_waiting{server="test"} 2');
  const { data } = (await client.call("GET", "/agents")).body;
  expect(data.map(({ name, queuePosition }: Agent) => [name, queuePosition])).toEqual([
    ["ada", null],
    ["bob", 1],
    ["cat", 2],
    ["dan", null],
  ]);
  expect((await client.call("GET", "/admin/capacity")).body).toEqual({
    machines: { used: 1, limit: 1 },
    memoryMiB: { used: 1536, limit: 20_000 },
    spares: { used: 0, limit: 0, reason: null },
    queue: { used: 2, limit: 2 },
  });
  const refused = await client.call("POST", "/agents/dan/chat", { message: "me too" });
  expect(refused).toMatchObject({ status: 503, body: { code: "no_capacity" } });
  expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
  expect((await client.call("POST", "/agents", { name: "eve" })).body.code).toBe("no_capacity");
  await long.text();
  const told = await Array.fromAsync(eventsOf(cat));
  expect(told.map(({ id }) => id)).toEqual(told.map((_, index) => index + 1));
  const positions = told.flatMap(({ event }) => (event.type === "response.queued" ? [event.position] : []));
  expect(positions).toEqual([2, 1]);
  expect(told.at(-1)!.event.type).toBe("response.completed");
  expect((await Array.fromAsync(eventsOf(bob))).at(-1)!.event.type).toBe("response.completed");
});

test("a turn that waits too long for a place ends as failed, and its agent is well afterwards", async () => {
  await start({ maximumAwake: 1, waitMs: 300 });
  for (const name of ["bob", "ada"]) await client.createAgent(name);
  const long = await client.fetch("POST", "/agents/ada/chat", { message: "count 6000 10" });
  const reply = await client.chat("bob", "me next");
  expect(reply.events.at(-1)!.event).toMatchObject({ type: "response.failed", error: { code: "no_capacity" } });
  expect(await statusOf("bob")).toBe("suspended");
  await client.call("POST", `/agents/ada/turns/${long.headers.get("x-turn-id")}/cancel`);
  await long.text();
  expect(await client.ask("bob", "now")).toBe("now");
});

test("a machine that could not be suspended runs on", async () => {
  await start();
  await client.createAgent("ada");
  service.driver.suspendFailures.push(new Error("no space left on device"));
  expect((await client.call("POST", "/agents/ada/suspend")).body.status).toBe("ready");
  expect(await client.ask("ada", "still here")).toBe("still here");
  expect((await client.call("POST", "/agents/ada/suspend")).body.status).toBe("suspended");
});

test("logs come from the machine, or from the kept log if it is stopped", async () => {
  await start();
  await client.createAgent("ada");
  const lines = async (query = "") => (await client.call("GET", `/agents/ada/logs${query}`)).body.lines;
  expect(await lines()).toContain("The runner begins.");
  expect(await lines("?tail=0")).toEqual([]);
  expect((await client.call("GET", "/agents/ada/logs?tail=1001")).status).toBe(400);
  const following = await client.fetch("GET", "/agents/ada/logs?follow=true&tail=0");
  const reading = following.text();
  await client.call("POST", "/agents/ada/restart?wait=ready");
  expect(await reading).toContain('{"ended":true}');
  await client.call("POST", "/agents/ada/suspend");
  expect(await lines()).toContain("The runner begins.");
});

test("metrics count agents and events, and contain no names", async () => {
  await start();
  await client.createAgent("ada");
  await client.chat("ada", "a secret message");
  await client.chat("ada", "ask");
  await client.call("POST", "/agents/ada/suspend");
  const { headers, body } = await client.call("GET", "/metrics");
  expect(headers.get("content-type")).toContain("text/plain");
  for (const line of [
    'berth_agents{status="suspended",server="test"} 1',
    'berth_agents{status="ready",server="test"} 0',
    'berth_turns_total{outcome="completed",code="",server="test"} 2',
    'berth_machine_seconds_count{server="test",what="suspend"} 1',
    'berth_first_delta_seconds_count{server="test"} 2',
    'berth_model_first_byte_seconds_count{server="test",provider="demo"} 1',
    'berth_events_unstored{server="test"} 0',
    'berth_machines_running{server="test"} 0',
  ]) {
    expect(body).toContain(line);
  }
  expect(body).not.toMatch(/ada|secret/);
});

test("a turn that waits for a place outlives a restart of the server", async () => {
  await start({ maximumAwake: 1 });
  for (const name of ["bob", "ada"]) await client.createAgent(name);
  const long = await client.fetch("POST", "/agents/ada/chat", { message: "count 150 20" });
  const waiting = await client.fetch("POST", "/agents/bob/chat", { message: "me next", include: ["status"] });
  const turnId = waiting.headers.get("x-turn-id")!;
  await Promise.all([service.restart(), long.text().catch(() => {}), waiting.text().catch(() => {})]);
  client = service.client;
  const reply = await client.events("bob", turnId);
  expect(reply.text).toBe("me next");
  expect(reply.events.map(({ id }) => id)).toEqual(reply.events.map((_, index) => index + 1));
  expect(reply.events.at(-1)!.event.type).toBe("response.completed");
});

test("each loss of a machine counts once, however often it was asked for", async () => {
  await start();
  for (const wait of ["", "?wait=ready"]) {
    const name = `ada${wait.length}`;
    const created = client.call("POST", `/agents${wait}`, { name });
    if (wait) await created;
    else await Promise.all([created, sleep(20).then(() => client.chat(name, "at once").catch(() => {}))]);
    for (let loss = 1; loss <= 2; loss++) {
      await client.chat(name, "hello");
      for (const id of service.driver.running) service.driver.kill(id);
      await expect.poll(() => service.driver.running.length).toBe(1);
    }
    await expect.poll(() => statusOf(name)).toBe("ready");
    expect(await client.ask(name, "still here")).toBe("still here");
    await client.call("DELETE", `/agents/${name}`);
  }
});

test("an agent that loses its place in the moment in which it is needed sleeps on, with its memory", async () => {
  await start({ maximumAwake: 1, waitMs: 500 });
  await client.createAgent("ada");
  await client.chat("ada", "first");
  const late = Promise.withResolvers<void>();
  service.driver.suspendGate = late.promise;
  const bob = client.call("POST", "/agents", { name: "bob" });
  await expect.poll(() => service.driver.suspending).toBe(true);
  const reply = client.chat("ada", "too late");
  await expect.poll(async () => (await client.call("GET", "/agents/ada/turns")).body.data).toHaveLength(2);
  late.resolve();
  await bob;
  await expect.poll(() => statusOf("bob")).toBe("ready");
  const long = client.fetch("POST", "/agents/bob/chat", { message: "count 100 20" });
  expect((await reply).events.at(-1)!.event.type).toMatch(/failed|completed/);
  await (await long).text();
  expect(await statusOf("ada")).toMatch(/suspended|ready/);
  expect(await client.ask("ada", "recall")).toMatch(/^first\n/);
});

test("an agent that gets a message while it is evicted does not keep idle agents awake", async () => {
  await start({ maximumAwake: 1, waitMs: 10_000 });
  await client.createAgent("ada");
  const gate = Promise.withResolvers<void>();
  service.driver.suspendGate = gate.promise;
  const bob = client.call("POST", "/agents?wait=ready", { name: "bob" });
  await expect.poll(() => service.driver.suspending).toBe(true);
  const reply = await client.fetch("POST", "/agents/ada/chat", { message: "me again", include: ["status"] });
  gate.resolve();
  expect((await bob).body.status).toBe("ready");
  const events = await Array.fromAsync(eventsOf(reply));
  expect(events.at(-1)!.event.type).toBe("response.completed");
});
