import { afterAll, beforeAll, expect, test } from "vitest";
import { eventsOf, type TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Turns with their events in one answer.

let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  service = await ScriptedService.start();
  client = service.client;
  for (const name of ["ada", "bob", "cid"]) await client.createAgent(name);
});
afterAll(() => service[Symbol.asyncDispose]());

const list = async (agent: string, query = "&events=true") =>
  (await client.call("GET", `/agents/${agent}/turns?limit=30${query}`)).body.data;

test("a turn has all its events, and its text in one piece", async () => {
  await client.chat("ada", "tool");
  await client.chat("ada", "count 50");
  const [count, tool] = await list("ada");
  const text = Array.from({ length: 50 }, (_, index) => `${index + 1} `).join("");
  expect(count.events.map(({ type }: { type: string }) => type)).toEqual([
    "response.created",
    "response.in_progress",
    "response.output_text.delta",
    "response.completed",
  ]);
  expect(count.events[2].delta).toBe(text);
  expect(count.events[3]).toMatchObject({ usage: expect.anything(), at: expect.any(String) });
  const streamed = await client.fetch("GET", `/agents/ada/turns/${tool.id}/events?include=status,tools,usage`);
  const events = [];
  for await (const { event } of eventsOf(streamed)) events.push(event);
  expect(tool.events).toEqual(events);
});

test("events come only when they are asked for, and never for a turn that runs", async () => {
  const [turn] = await list("ada", "");
  expect("events" in turn).toBe(false);
  const begun = await client.fetch("POST", "/agents/bob/chat", { message: "hang" });
  const turnId = begun.headers.get("x-turn-id");
  expect(await list("bob")).toMatchObject([{ id: turnId, status: "running", events: null }]);
  await client.call("POST", `/agents/bob/turns/${turnId}/cancel`);
  await expect.poll(async () => (await list("bob"))[0].events?.at(-1)?.type).toBe("response.cancelled");
  const { status, body } = await client.call("GET", "/agents/ada/turns?events=yes");
  expect([status, body.message]).toEqual([400, expect.stringContaining("events")]);
});

test("turns with too many or too large events come without, and so does the rest of a large list", async () => {
  await client.chat("cid", "count 4100");
  await client.chat("cid", "bulk 3 100000");
  for (let at = 0; at < 5; at += 1) await client.chat("cid", "bulk 2 20000");
  const turns = await list("cid");
  expect(turns.map(({ events }: { events: unknown }) => events !== null)).toEqual([
    ...[true, true, true, false, false],
    ...[false, false],
  ]);
  expect(JSON.stringify(turns.map(({ events }: { events: unknown }) => events)).length).toBeLessThan(130 * 1024);
});
