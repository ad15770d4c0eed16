import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AccountEvent } from "../../src/contract/account-events.ts";
import type { CommandRecord } from "../../src/contract/commands.ts";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf } from "../support/accounts.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The ends of commands in /events, whoever reads the commands.

let service: ScriptedService;
let database: Database;
beforeAll(async () => {
  service = await ScriptedService.start();
  database = await databaseOf(service);
});
afterAll(async () => {
  await database?.destroy();
  await service[Symbol.asyncDispose]();
});

type Exited = Extract<AccountEvent, { type: "command.exited" }>;

/** The ends that were reported for an agent. */
async function ends(agent: string): Promise<Exited[]> {
  const { rows } = await sql<{ id: string; at: Date; event: object }>`
    select id, at, event from account_events
    where event ->> 'type' = 'command.exited' and event ->> 'agent' = ${agent} order by id`.execute(database);
  return rows.map(
    ({ id, at, event }) => AccountEvent.parse({ ...event, id: Number(id), at: at.toISOString() }) as Exited,
  );
}

/** Resolves when that many ends were reported. */
async function reported(agent: string, count: number): Promise<Exited[]> {
  await expect.poll(async () => (await ends(agent)).length, { timeout: 30_000 }).toBe(count);
  return ends(agent);
}

async function open(): Promise<number> {
  const { rows } = await sql`select from machine_authors where open`.execute(database);
  return rows.length;
}

async function start(agent: string, command: string, options: object = {}): Promise<CommandRecord> {
  const body = { command, detach: true, ...options };
  const answer = await service.client.call("POST", `/agents/${agent}/commands`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

test("the end of each command is reported once, with its exit code or signal", async () => {
  const { client } = service;
  await client.createAgent("ada");
  const { body: waited } = await client.call("POST", "/agents/ada/commands", { command: "exit 3" });
  const killed = await start("ada", "sleep 1000");
  const late = await start("ada", "sleep 1000", { timeoutSeconds: 1 });
  const first = await reported("ada", 2);
  expect(first.map(({ commandId }) => commandId)).toEqual([waited.id, late.id]);
  expect(first).toMatchObject([
    { exitCode: 3, signal: null, timedOut: false, lost: false },
    { exitCode: null, signal: "SIGKILL", timedOut: true, lost: false },
  ]);
  await client.call("POST", `/agents/ada/commands/${killed.id}/signal`, { signal: "SIGTERM" });
  expect((await reported("ada", 3))[2]).toMatchObject({ commandId: killed.id, signal: "SIGTERM", timedOut: false });
  expect(await open()).toBe(0);
});

test("a command that the machine refuses is not reported", async () => {
  await service.client.createAgent("strict");
  const body = { command: "true", cwd: "/nowhere", detach: true };
  const { body: refused } = await service.client.call("POST", "/agents/strict/commands", body);
  expect(refused.code).toBe("command_not_runnable");
  expect(await open()).toBe(0);
  expect(await ends("strict")).toEqual([]);
});

test("the end of a command whose machine sleeps is reported when it wakes", async () => {
  const { client } = service;
  await client.createAgent("sleepy");
  const { id } = await start("sleepy", "sleep 1000");
  await client.call("POST", "/agents/sleepy/suspend?wait=suspended");
  // Long enough for two looks at the open commands.
  await sleep(5_000);
  expect((await client.call("GET", "/agents/sleepy")).body.status).toBe("suspended");
  expect(await ends("sleepy")).toEqual([]);
  await client.call("POST", "/agents/sleepy/resume?wait=ready");
  await client.call("POST", `/agents/sleepy/commands/${id}/signal`, { signal: "SIGKILL" });
  expect(await reported("sleepy", 1)).toMatchObject([{ commandId: id, signal: "SIGKILL" }]);
});

test("a command that its machine has lost is reported as lost", async () => {
  const { client } = service;
  await client.createAgent("unlucky", { autoSnapshot: 0 });
  const { body: before } = await client.call("POST", "/agents/unlucky/snapshots", { name: "before" });
  const machine = service.driver.running.at(-1)!;
  const crashed = await start("unlucky", "sleep 1000");
  service.driver.kill(machine);
  await client.call("GET", "/agents/unlucky/commands");
  expect(await reported("unlucky", 1)).toMatchObject([{ commandId: crashed.id, lost: true }]);
  const forgotten = await start("unlucky", "sleep 1000");
  const restored = await client.call("POST", "/agents/unlucky/rollback", { snapshot: before.id });
  expect(restored.status, JSON.stringify(restored.body)).toBeLessThan(300);
  expect((await client.call("GET", "/agents/unlucky/commands")).body.data).toEqual([]);
  expect((await reported("unlucky", 2))[1]).toMatchObject({ commandId: forgotten.id, lost: true });
});

test("a command that ends while no server runs is reported by the next one", async () => {
  await service.client.createAgent("patient");
  const { id } = await start("patient", "sleep 2; exit 4");
  await service.restart();
  expect(await reported("patient", 1)).toMatchObject([{ commandId: id, exitCode: 4 }]);
});

test("many commands at once are each reported", async () => {
  await service.client.createAgent("busy");
  const started = await Promise.all(Array.from({ length: 40 }, (_, index) => start("busy", `exit ${index}`)));
  const found = await reported("busy", 40);
  const codes = new Map(found.map(({ commandId, exitCode }) => [commandId, exitCode]));
  expect(started.map(({ id }) => codes.get(id))).toEqual(started.map((_, index) => index));
});
