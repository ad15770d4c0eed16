import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, expect, test } from "vitest";
import { databaseOf } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The life of snapshots, rollbacks and forks, with machines whose disk alone is kept. Real machines, with their memory,
// are in test/vm/snapshots.test.ts.

let service: ScriptedService;
let client: TestClient;

async function start(changes: Parameters<typeof ScriptedService.start>[0] = {}): Promise<void> {
  service = await ScriptedService.start(changes);
  client = service.client;
}
afterEach(() => service[Symbol.asyncDispose]());

const keep = (body: object = {}, name = "ada") => client.call("POST", `/agents/${name}/snapshots`, body);
const rollBack = (snapshot: string, name = "ada") =>
  client.call("POST", `/agents/${name}/rollback?wait=ready`, { snapshot });
const kept = async (name = "ada") => (await client.call("GET", `/agents/${name}/snapshots`)).body.data;
const turns = async (name = "ada") => (await client.call("GET", `/agents/${name}/turns`)).body.data.toReversed();
const undone = async (name = "ada") =>
  (await turns(name))
    .filter((turn: { undone: boolean }) => turn.undone)
    .map((turn: { message: string }) => turn.message);

/** The snapshots that the machines keep. */
async function files(): Promise<string[]> {
  return (await service.driver.snapshots()).map(({ id }) => id);
}

test("an agent goes back to what it was, and forward again; its turns stay, and say which are undone", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  expect(await kept()).toEqual([]);
  await client.chat("ada", "one");
  const first = await keep({ name: "eins" });
  expect(first).toMatchObject({
    status: 201,
    body: { name: "eins", reason: "asked", conversation: 1, turnId: null, bytes: expect.any(Number) },
  });
  await client.chat("ada", "two");
  expect((await rollBack("eins")).body).toMatchObject({ status: "ready", conversation: 1 });
  expect(await client.ask("ada", "recall")).toBe("one\nrecall\n");
  expect(await undone()).toEqual(["two"]);

  const [, before] = await kept();
  expect(before).toMatchObject({ reason: "rollback", name: expect.stringMatching(/^before the rollback to eins, /) });
  await rollBack(before.id);
  expect(await client.ask("ada", "recall")).toBe("one\ntwo\nrecall\n");
  expect(await undone()).toEqual(["recall"]);
  // And to the one that this rollback made: what was undone then is undone again.
  await rollBack((await kept())[2].name);
  expect(await client.ask("ada", "recall")).toBe("one\nrecall\nrecall\n");
  expect(await undone()).toEqual(["two", "recall"]);
});

test("the conversation goes back too, also over a reset", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  await client.chat("ada", "one");
  await keep({ name: "first" });
  await client.call("POST", "/agents/ada/conversation/reset");
  expect(await client.ask("ada", "recall")).toBe("recall\n");
  expect((await rollBack("first")).body.conversation).toBe(1);
  expect(await client.ask("ada", "recall")).toBe("one\nrecall\n");
});

test("a sleeping agent is kept as it sleeps, and one that is still being made once it is", async () => {
  await start();
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  await client.call("POST", "/agents", { name: "ada", autoSnapshot: 0 });
  const early = keep({ name: "early" });
  gate.resolve();
  expect((await early).status).toBe(201);
  await client.chat("ada", "one");
  await client.call("POST", "/agents/ada/suspend");
  expect((await keep({ name: "asleep" })).status).toBe(201);
  expect((await client.call("GET", "/agents/ada")).body.status).toBe("suspended");
  await rollBack("early");
  expect(await client.ask("ada", "recall")).toBe("recall\n");
});

test("the name of a snapshot before a rollback is cut between characters", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  // The 70th code unit of "before the rollback to aa…😀" is half of its last character.
  const name = `${"a".repeat(46)}😀`;
  expect((await keep({ name })).status).toBe(201);
  await rollBack(name);
  const [, before] = await kept();
  expect(before.name).toMatch(/^before the rollback to a{46}, /);
});

test("a turn continues while a snapshot is made, and a rollback waits for no client", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  await keep({ name: "before" });
  const response = await client.fetch("POST", "/agents/ada/chat", { message: "count 40 20" });
  const turnId = response.headers.get("x-turn-id");
  expect((await keep({ name: "within" })).body.turnId).toBe(turnId);
  const refused = await client.call("POST", "/agents/ada/rollback", { snapshot: "before" });
  expect(refused).toMatchObject({ status: 409, body: { code: "turn_in_progress", details: { turnId } } });
  expect(await kept()).toHaveLength(2);
  expect(await response.text()).toContain("40 ");
  await rollBack("within");
  // The turn that it would have continued is no turn of this agent any more.
  expect(await undone()).toEqual(["count 40 20"]);
  expect(await client.ask("ada", "well")).toBe("well");
});

test("names are the owner's, once each; what is wrong with them is said", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  expect((await keep({ name: "vor dem Umbau – 下書き 🚧" })).status).toBe(201);
  expect(await keep({ name: "vor dem Umbau – 下書き 🚧" })).toMatchObject({
    status: 409,
    body: { code: "snapshot_exists" },
  });
  for (const name of ["", "  ", "a\nb", "x".repeat(101), crypto.randomUUID()]) {
    const { status, body } = await keep({ name });
    expect([status, body.message]).toEqual([400, expect.stringContaining("1 to 100 characters")]);
  }
  expect((await keep({ memory: "no" })).status).toBe(400);
  const { body } = await keep();
  expect(body.name).toMatch(/^20\d\d-/);
  expect(await rollBack("nothing")).toMatchObject({ status: 404, body: { code: "snapshot_not_found" } });
  expect(await rollBack("a\0b")).toMatchObject({ status: 400, body: { code: "request_invalid" } });
  expect((await client.call("DELETE", "/agents/ada/snapshots/a%00b")).status).toBe(400);
  const path = `/agents/ada/snapshots/${encodeURIComponent("vor dem Umbau – 下書き 🚧")}`;
  expect((await client.call("DELETE", path)).status).toBe(204);
  expect((await client.call("DELETE", path)).body.code).toBe("snapshot_not_found");
  expect((await kept()).map(({ name }: { name: string }) => name)).toEqual([body.name]);
  expect(await files()).toEqual([body.id]);
});

test("a request that is repeated makes one snapshot", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  const ask = () => client.call("POST", "/agents/ada/snapshots", {}, { "idempotency-key": "once" });
  const [first, again] = [await ask(), await ask()];
  expect(again.body).toEqual(first.body);
  expect(await kept()).toHaveLength(1);
});

test("a failed snapshot leaves nothing behind, and the agent continues", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  service.driver.failures.push(new Error("the disk is on fire"));
  expect((await keep()).status).toBe(500);
  expect([await kept(), await files()]).toEqual([[], []]);
  expect(await client.ask("ada", "well")).toBe("well");
});

test("an agent has at most 100 snapshots, and keeps the five newest of those that rollbacks made", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  await keep({ name: "base" });
  for (let count = 0; count < 7; count++) await rollBack("base");
  const made = (await kept()).filter(({ reason }: { reason: string }) => reason === "rollback");
  expect([made.length, (await files()).length]).toEqual([5, 6]);
  for (let count = 6; count < 98; count++) expect((await keep()).status).toBe(201);
  // At the same moment: two of these fit.
  const last = await Promise.all(Array.from({ length: 5 }, () => keep()));
  expect(last.map(({ status, body }) => body.code ?? status).toSorted()).toEqual([
    ...[201, 201],
    ...["too_many_snapshots", "too_many_snapshots", "too_many_snapshots"],
  ]);
});

test("snapshots go with their agent, and what nobody needs goes at the next start", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  await keep();
  await client.call("DELETE", "/agents/ada");
  await service.restart();
  client = service.client;
  await expect.poll(files).toEqual([]);
});

test("ten forks have the files and the conversation, names of their own, and say where they come from", async () => {
  await start();
  await client.createAgent("ada", { instructions: "Be kind.", autoSnapshot: 0 });
  await client.call("PUT", "/agents/ada/network", { allow: [], deny: ["*"] });
  await client.call("PUT", "/agents/ada/secrets/TOKEN", { value: "s3cret-value-of-ada", hosts: ["example.com"] });
  await client.chat("ada", "one");
  const { body } = await client.call("POST", "/agents?wait=ready", { name: "fox", from: { agent: "ada" }, count: 10 });
  expect(body).toMatchObject({
    name: "fox-1",
    status: "ready",
    instructions: "Be kind.",
    forkedFrom: { agent: "ada", snapshot: null },
  });
  for (let count = 1; count <= 10; count++) {
    expect(await client.ask(`fox-${count}`, "recall")).toBe("one\nrecall\n");
  }
  expect(await client.ask("ada", "recall")).toBe("one\nrecall\n");
  expect(await turns("fox-1")).toHaveLength(1);
  expect((await client.call("GET", "/agents/fox-7/network")).body.deny).toEqual(["*"]);
  expect((await client.call("GET", "/agents/fox-7/secrets")).body.data).toEqual([]);
  // The moment was kept for them alone.
  expect(await kept()).toEqual([]);
  await service.restart();
  client = service.client;
  await expect.poll(files).toEqual([]);
});

test("a fork of a snapshot has what that has, and its own settings where they are given", async () => {
  await start();
  await client.createAgent("ada", { instructions: "Be kind.", autoSnapshot: 0 });
  await client.call("PUT", "/agents/ada/secrets/TOKEN", { value: "s3cret-value-of-ada", hosts: ["example.com"] });
  await client.chat("ada", "one");
  await keep({ name: "then" });
  await client.chat("ada", "two");
  const from = { agent: "ada", snapshot: "then", secrets: true };
  const { body } = await client.call("POST", "/agents?wait=ready", { name: "bea", instructions: "Be brief.", from });
  expect(body).toMatchObject({ instructions: "Be brief.", forkedFrom: { agent: "ada", snapshot: "then" } });
  expect(await client.ask("bea", "recall")).toBe("one\nrecall\n");
  const secretsOf = async (name: string) => (await client.call("GET", `/agents/${name}/secrets`)).body.data;
  const [[own], [copied]] = [await secretsOf("ada"), await secretsOf("bea")];
  expect(copied).toMatchObject({ name: "TOKEN", hosts: ["example.com"] });
  expect(copied.placeholder).not.toBe(own.placeholder);
  // The fork outlives what it comes from.
  await client.call("DELETE", "/agents/ada/snapshots/then");
  await client.call("DELETE", "/agents/ada");
  await client.call("POST", "/agents/bea/restart?wait=ready");
  expect(await client.ask("bea", "recall")).toBe("one\nrecall\nrecall\n");
});

test("a fork's machine trusts the authority of its secrets from the start", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  await client.call("PUT", "/agents/ada/secrets/TOKEN", { value: "s3cret-value-of-ada", hosts: ["example.com"] });
  const from = { agent: "ada", secrets: true };
  await client.call("POST", "/agents?wait=ready", { name: "bea", from });
  const given = [...service.driver.provided.values()].map(({ authority }) => authority);
  expect(given).toHaveLength(2);
  expect(given.every((authority) => authority?.includes("BEGIN CERTIFICATE"))).toBe(true);
  expect(given[0]).not.toBe(given[1]);
});

test("a fork that is cut off leaves no agent, and its retry makes all of them with their rules", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  await client.call("PUT", "/agents/ada/network", { allow: ["example.com"], deny: [] });
  const database = await databaseOf(service);
  await sql`create function cut() returns trigger language plpgsql as $$
    begin raise exception 'cut off' using errcode = '57P01'; end $$`.execute(database);
  await sql`create trigger cut before insert on network_rules for each row
    when (new.allow = '["example.com"]') execute function cut()`.execute(database);
  const fork = () =>
    client.call("POST", "/agents", { name: "fox", count: 2, from: { agent: "ada" } }, { "idempotency-key": "fox" });
  expect(await fork()).toMatchObject({ status: 503, body: { code: "database_unavailable" } });
  await sql`drop trigger cut on network_rules`.execute(database);
  await database.destroy();
  await service.restart();
  client = service.client;
  const names = async () => (await client.call("GET", "/agents")).body.data.map(({ name }: { name: string }) => name);
  expect(await names()).toEqual(["ada"]);
  expect((await fork()).status).toBe(201);
  expect(await names()).toEqual(["ada", "fox-1", "fox-2"]);
  for (const name of ["fox-1", "fox-2"]) {
    expect((await client.call("GET", `/agents/${name}/network`)).body).toMatchObject({
      allow: ["example.com"],
      deny: [],
    });
  }
});

test("what a fork cannot be is said, and nothing is made", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  await client.createAgent("yak-2");
  const fork = async (body: object) => (await client.call("POST", "/agents", { name: "bea", ...body })).body;
  const from = { agent: "ada" };
  expect(await fork({ from: { agent: "nobody" } })).toMatchObject({ code: "agent_not_found" });
  expect(await fork({ from: { agent: "ada", snapshot: "then" } })).toMatchObject({ code: "snapshot_not_found" });
  expect((await fork({ from, runtime: "opencode" })).message).toMatch(/runtime of its source, claude-code/);
  expect((await fork({ from, resources: { cpus: 4 } })).message).toMatch(/size of its source/);
  expect((await fork({ count: 3 })).message).toMatch(/count requires `from`/);
  expect((await fork({ from, count: 21 })).code).toBe("request_invalid");
  expect((await fork({ from, name: "a".repeat(29), count: 2 })).message).toMatch(/30 characters/);
  expect(await fork({ from, name: "yak", count: 3 })).toMatchObject({ code: "agent_exists" });
  expect(await fork({ from, name: "ada" })).toMatchObject({ code: "agent_exists" });
  const { body } = await client.call("GET", "/agents");
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual(["ada", "yak-2"]);
});

test("each fork counts as a new agent", async () => {
  await start({ rateLimits: { requests: 0, account: 0, address: 0, agents: 8, keys: 0, hooks: 0 } });
  await client.createAgent("ada", { autoSnapshot: 0 });
  const fork = (name: string, count: number) =>
    client.call("POST", "/agents?wait=ready", { name, from: { agent: "ada" }, count });
  expect((await fork("fox", 5)).status).toBe(201);
  expect(await fork("yak", 5)).toMatchObject({ status: 429, body: { details: { policy: "agents" } } });
  expect((await client.call("GET", "/agents")).body.data).toHaveLength(6);
});

test("the next server continues a rollback and a fork", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  await client.chat("ada", "one");
  await keep({ name: "then" });
  await client.chat("ada", "two");
  const gate = Promise.withResolvers<void>();
  await client.call("POST", "/agents/ada/suspend");
  service.driver.gate = gate.promise;
  const forked = client.call("POST", "/agents", { name: "bea", from: { agent: "ada", snapshot: "then" } });
  expect((await forked).status).toBe(201);
  // The files of a snapshot that something is being made of stay.
  await client.call("DELETE", "/agents/ada/snapshots/then");
  const stopped = service.restart();
  gate.resolve();
  await stopped;
  client = service.client;
  expect(await client.ask("bea", "recall")).toBe("one\nrecall\n");
});

test("a snapshot is taken before each turn if that is set, and the oldest of these are removed", async () => {
  await start();
  await client.call("POST", "/agents", { name: "ada", autoSnapshot: 2 });
  for (const message of ["one", "two", "three"]) await client.chat("ada", message);
  const moments = await kept();
  expect(moments.map(({ reason }: { reason: string }) => reason)).toEqual(["turn", "turn"]);
  expect(moments.map(({ turnId }: { turnId: string }) => turnId)).toEqual(
    (await turns()).slice(1).map(({ id }: { id: string }) => id),
  );
  await rollBack(moments[0].id);
  expect(await undone()).toEqual(["two", "three"]);
  expect(await client.ask("ada", "recall")).toBe("one\nrecall\n");
  const off = await client.call("PATCH", "/agents/ada", { autoSnapshot: 0 });
  expect(off.body.autoSnapshot).toBe(0);
  const before = (await kept()).length;
  await client.chat("ada", "unkept");
  expect(await kept()).toHaveLength(before);
  expect(await client.call("PATCH", "/agents/ada", { autoSnapshot: 21 })).toMatchObject({
    status: 400,
    body: { code: "request_invalid", message: expect.stringContaining("20") },
  });
});

test("while the disk is nearly full, the oldest snapshots from before turns are removed", async () => {
  await start();
  for (const name of ["ada", "bob"]) {
    await client.createAgent(name, { autoSnapshot: 5 });
    for (const message of ["one", "two", "three"]) await client.chat(name, message);
  }
  await keep({ name: "mine" });
  const last = (await kept())[2];
  const left = async () => [...(await kept()), ...(await kept("bob"))].length;
  expect(await left()).toBe(7);
  service.config.diskReserveBytes = 2 ** 60;
  await service.restart();
  client = service.client;
  await expect.poll(left).toBe(3);
  expect((await kept()).map(({ name }: { name: string }) => name)).toEqual([last.name, "mine"]);
  await expect.poll(files).toHaveLength(3);
});

test("a turn is answered also where no snapshot can be made before it", async () => {
  await start();
  await client.call("POST", "/agents", { name: "ada", autoSnapshot: 1 });
  // A file where the folder of snapshots is to be.
  await writeFile(join(service.config.dataFolder, "snapshots"), "");
  expect(await client.ask("ada", "hello")).toBe("hello");
  expect(await kept()).toEqual([]);
});

test("removing a snapshot during a rollback to it leaves its files until the rollback is done", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  await client.chat("ada", "one");
  await keep({ name: "eins" });
  await client.chat("ada", "two");
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  const rolledBack = rollBack("eins");
  // The rollback has found the snapshot and waits to keep the agent as it is.
  await expect.poll(() => service.driver.waiting).toBe(1);
  expect((await client.call("DELETE", "/agents/ada/snapshots/eins")).status).toBe(204);
  service.driver.gate = Promise.resolve();
  gate.resolve();
  expect((await rolledBack).body).toMatchObject({ status: "ready" });
  expect(await client.ask("ada", "recall")).toBe("one\nrecall\n");
});

test("a snapshot whose row is stored after its request timed out keeps its files", async () => {
  await start();
  await client.createAgent("ada", { autoSnapshot: 0 });
  await client.chat("ada", "one");
  const database = await databaseOf(service);
  await sql`create function late() returns trigger language plpgsql as $$
    begin perform pg_sleep(11); return new; end $$`.execute(database);
  await sql`create trigger late before insert on snapshots for each row execute function late()`.execute(database);
  expect(await keep({ name: "eins" })).toMatchObject({ status: 503, body: { code: "database_unavailable" } });
  await expect.poll(kept).toHaveLength(1);
  await sql`drop trigger late on snapshots`.execute(database);
  await database.destroy();
  const fork = await client.call("POST", "/agents?wait=ready", {
    name: "fox",
    from: { agent: "ada", snapshot: "eins" },
  });
  expect(fork).toMatchObject({ status: 201, body: { status: "ready" } });
  expect(await client.ask("fox", "recall")).toBe("one\nrecall\n");
});
