import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/core/database/database.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { type Member, ServerGroup } from "../support/server-group.ts";
import { converse, follow } from "../support/tenacious-reader.ts";
import { ring } from "../support/timers.ts";
import { checkTranscript } from "../support/transcript.ts";

// Three servers, each a process, on one database and one data folder: one leads, the others stand by.

let group: ServerGroup;
let database: Database;
let sent = 0;

beforeAll(async () => {
  group = await ServerGroup.start(3);
  database = openDatabase({ connectionString: group.databaseUrl, max: 2 }, () => {});
});
afterAll(async () => {
  await database?.destroy();
  await group?.[Symbol.asyncDispose]();
});

/** A message that no agent was sent before. */
function unique(message: string): string {
  return `${message} ${++sent}`;
}

test("one of three leads, and each of them does all that is asked", async () => {
  expect(await group.leading()).toBe(1);
  for (const [index, { client }] of group.members.entries()) {
    const name = `agent-${index}`;
    expect((await client.call("GET", "/readyz")).status).toBe(200);
    expect((await client.createAgent(name)).body.status).toBe("ready");
    for (const other of group.members) {
      expect((await other.client.call("GET", `/agents/${name}`)).body.status).toBe("ready");
    }
    expect(await client.ask(name, "hello")).toBe("hello");
    const changed = await client.call("PATCH", `/agents/${name}`, { instructions: "Answer briefly." });
    expect([changed.status, changed.body.instructions]).toEqual([200, "Answer briefly."]);
    expect((await client.call("POST", `/agents/${name}/suspend`)).body.status).toBe("suspended");
    expect((await client.call("POST", `/agents/${name}/resume?wait=ready`)).body.status).toBe("ready");
    const logs = await client.call("GET", `/agents/${name}/logs`);
    expect([logs.status, Array.isArray(logs.body.lines)]).toEqual([200, true]);
    expect((await client.call("GET", "/agents")).body.data).toHaveLength(1);

    const running = await client.fetch("POST", `/agents/${name}/chat`, { message: "hang" });
    const turnId = running.headers.get("x-turn-id")!;
    const next = group.members[(index + 1) % 3]!.client;
    expect((await next.call("POST", `/agents/${name}/turns/${turnId}/cancel`)).status).toBe(202);
    const events = await Array.fromAsync(eventsOf(running));
    expect(events.at(-1)!.event.type).toBe("response.cancelled");
    expect((await next.call("DELETE", `/agents/${name}`)).status).toBe(204);
  }
});

test("a stream comes through a standby in order, without loss, and as it is made", async () => {
  const [standby] = await group.others();
  const { client } = standby!;
  await client.createAgent("ada");
  const message = unique("count 300 5");
  const response = await client.fetch("POST", "/agents/ada/chat", { message, include: ["status", "usage"] });
  const turnId = response.headers.get("x-turn-id")!;
  const seen = [];
  for await (const { id, event } of eventsOf(response)) {
    seen.push({ seq: id, event });
    // It is not gathered until its end: the turn still runs when its first text is here.
    if (seen.length === 10)
      expect((await client.call("GET", `/agents/ada/turns/${turnId}`)).body.status).toBe("running");
  }
  expect(checkTranscript(message, seen)).toBe("completed");
  for (const each of group.members) expect(await follow(each.client, "ada", turnId)).toEqual(seen);
});

/** A turn of each agent, read by readers who come again anywhere. */
async function converseWithAll(names: readonly string[], message: string) {
  for (const name of names) {
    if ((await group.anywhere.call("GET", `/agents/${name}`)).status === 404) await group.anywhere.createAgent(name);
  }
  return names.map(async (name) => {
    const own = unique(message);
    return { name, message: own, ...(await converse(group.anywhere, name, own)) };
  });
}

/** Each turn was read whole, event by event once, and every server has it so. */
async function check(readings: Awaited<ReturnType<typeof converseWithAll>>): Promise<void> {
  for (const { name, message, turnId, events } of await Promise.all(readings)) {
    expect(checkTranscript(message, events)).toBe("completed");
    for (const { client } of group.members) expect(await follow(client, name, turnId)).toEqual(events);
  }
}

/** Resolves once another server than `before` leads. Tells how long that took: measured, not asserted. */
async function replaced(before: Member, how: string): Promise<Member> {
  const began = performance.now();
  const others = group.members.filter((member) => member !== before);
  const next = await group.leader(others);
  console.log(`${how}: another server led after ${Math.round(performance.now() - began)} ms`);
  return next;
}

test("a killed leader is replaced; turns continue without gaps", async () => {
  const readings = await converseWithAll(["kim", "lea", "max"], "count 400 15");
  await sleep(1_500);
  const leader = await group.leader();
  await leader.process.end("SIGKILL");
  const next = await replaced(leader, "killed");
  expect((await next.client.createAgent(unique("made-by-the-next").replaceAll(" ", "-"))).body.status).toBe("ready");
  await group.startAgain(leader);
  await check(readings);
  expect(await group.leading()).toBe(1);
});

test("a paused leader is replaced, and changes nothing when it resumes", async () => {
  const readings = await converseWithAll(["kim", "lea", "max"], "count 600 15");
  await sleep(1_000);
  const leader = await group.leader();
  // The next leader kills the paused one.
  const ended = once(leader.process.child, "exit");
  leader.process.child.kill("SIGSTOP");
  const host = (await readFile(join(leader.config.dataFolder, "host.id"), "utf8")).trim();
  const sweep = `agent-sweep-${host}`;
  await ring(database, sweep);
  const [standby] = group.members.filter((member) => member !== leader);
  const waiting = standby!.client.call("PATCH", "/agents/kim", { instructions: unique("Answer briefly.") });
  await sleep(2_000);
  // The others do nothing that the leader does.
  expect(await statesOf(sweep)).toContain("created");
  await replaced(leader, "stopped");
  leader.process.child.kill("SIGCONT");
  await ended;
  // It had been sent to the leader, which may have done it.
  expect([200, 503]).toContain((await waiting).status);
  await expect.poll(() => statesOf(sweep)).not.toContain("created");
  await group.startAgain(leader);
  await check(readings);
});

test("a leader that cannot be ended, since it is of another container, ends itself and has changed nothing", async () => {
  const readings = await converseWithAll(["kim", "lea", "max"], "count 900 15");
  await sleep(1_000);
  const leader = await group.leader();
  const file = join(leader.config.dataFolder, "server.pid");
  const [pid, start, server] = (await readFile(file, "utf8")).split("\n");
  await writeFile(file, [pid, start, server, "elsewhere", ""].join("\n"));
  leader.process.child.kill("SIGSTOP");
  const next = await replaced(leader, "stopped out of reach");
  const row = await sql`select * from host_leases`.execute(database);
  const ended = once(leader.process.child, "exit");
  leader.process.child.kill("SIGCONT");
  expect((await ended)[0]).toBe(1);
  expect(leader.process.lines.join("\n")).toMatch(/has lost its lease/);
  expect(await group.leader()).toBe(next);
  expect((await sql<{ epoch: string }>`select * from host_leases`.execute(database)).rows[0]!.epoch).toBe(
    (row.rows[0] as { epoch: string }).epoch,
  );
  await group.startAgain(leader);
  await check(readings);
});

async function statesOf(timer: string): Promise<string[]> {
  const { rows } = await sql<{ state: string }>`select state from timers.job where name = ${timer}`.execute(database);
  return rows.map(({ state }) => state);
}

test("a database that is away for longer than a lease changes no leader, and never makes two", async () => {
  const readings = await converseWithAll(["kim", "lea", "max"], "count 900 15");
  await sleep(1_000);
  const leader = await group.leader();
  await group.breakDatabase();
  await sleep(9_000);
  expect(await group.leading()).toBe(1);
  await group.mendDatabase();
  for (let looks = 0; looks < 40; looks++, await sleep(200)) expect(await group.leading()).toBe(1);
  expect(await group.leader()).toBe(leader);
  await check(readings);
});

test("a rolling restart of all three loses no request and no event", { timeout: 300_000 }, async () => {
  const over = new AbortController();
  const lost: string[] = [];
  const names = ["una", "vic", "wes"];
  for (const name of names) await group.anywhere.createAgent(name);
  const workers = names.map(async (name) => {
    let done = 0;
    for (; !over.signal.aborted; done++) {
      const message = unique("count 20 10");
      const chat = await asked("POST", `/agents/${name}/chat`, { message });
      if (chat.status !== 200) lost.push(`chat: ${chat.status} ${await chat.text()}`);
      const turnId = chat.headers.get("x-turn-id");
      await chat.body?.cancel();
      const events = turnId ? await follow(group.anywhere, name, turnId) : null;
      if (!events || checkTranscript(message, events) !== "completed") lost.push(`turn of ${name}`);
      for (const [method, path, body] of [
        ["PATCH", `/agents/${name}`, { instructions: message }],
        ["GET", `/agents/${name}`],
        ["POST", `/agents/${name}/conversation/reset`],
        ["GET", `/agents/${name}/turns`],
      ] as const) {
        const { status } = await asked(method, path, body);
        if (status !== 200) lost.push(`${method} ${path}: ${status}`);
      }
    }
    return done;
  });
  // Those that stand by as well as, each time, the one that leads.
  for (let restarts = 0; restarts < 5; restarts++) {
    await sleep(1_000);
    const member = restarts % 2 === 0 ? await group.leader() : (await group.others())[0]!;
    const ending = member.process.end("SIGTERM");
    if (restarts % 2 === 0) await replaced(member, "asked to stop");
    await ending;
    await group.startAgain(member);
  }
  await sleep(1_000);
  over.abort();
  const done = await Promise.all(workers);
  console.log(`rolling restart: ${done.join(" + ")} rounds of five requests, ${lost.length} lost`);
  expect(lost).toEqual([]);
  expect(await group.leading()).toBe(1);
});

/** A request as a load balancer sends it: to the next server where one was gone before it answered. */
async function asked(method: string, path: string, body?: unknown): Promise<Response> {
  const headers = method === "POST" ? { "idempotency-key": randomUUID() } : {};
  const client: TestClient = group.anywhere;
  for (let left = 3; ; left--) {
    try {
      return await client.fetch(method, path, body, headers);
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}
