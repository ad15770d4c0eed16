import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventsOf } from "../support/client.ts";
import { ServerGroup } from "../support/server-group.ts";
import { converse, follow } from "../support/tenacious-reader.ts";
import { checkTranscript } from "../support/transcript.ts";

// Three servers, each a process, on one database and one data folder: one leads, the others stand by.

let group: ServerGroup;
let sent = 0;

beforeAll(async () => {
  group = await ServerGroup.start(3);
});
afterAll(() => group[Symbol.asyncDispose]());

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

test("a leader that is killed in mid-turn is replaced: its turns go on, and readers miss nothing", async () => {
  const names = ["kim", "lea", "max"];
  for (const name of names) await group.anywhere.createAgent(name);
  const readings = names.map(async (name) => {
    const message = unique("count 400 15");
    return { name, message, ...(await converse(group.anywhere, name, message)) };
  });
  await sleep(1_500);
  const leader = await group.leader();
  await leader.process.end("SIGKILL");
  const began = performance.now();
  const next = await group.leader();
  console.log(`another server led after ${Math.round(performance.now() - began)} ms`);
  expect(next).not.toBe(leader);
  for (const { name, message, turnId, events } of await Promise.all(readings)) {
    expect(checkTranscript(message, events)).toBe("completed");
    expect(await follow(next.client, name, turnId)).toEqual(events);
  }
  expect(await group.leading()).toBe(1);
  await group.startAgain(leader);
  expect(await group.leading()).toBe(1);
});
