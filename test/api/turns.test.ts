import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { followEvents } from "../../packages/client/src/events.ts";
import { BerthError } from "../../src/contract/errors.ts";
import { databaseOf } from "../support/accounts.ts";
import { eventsOf, type Reply, type TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

const stallMs = 1_500;
let service: ScriptedService;
let client: TestClient;

beforeAll(async () => {
  service = await ScriptedService.start({ stallMs });
  await service.client.createAgent("ada");
});
beforeEach(() => {
  client = service.client;
});
afterAll(() => service[Symbol.asyncDispose]());

function types({ events }: Reply): string[] {
  return events.map(({ event }) => event.type);
}

/** The messages that ada's runtime has received. */
async function messagesOfRuntime(): Promise<string> {
  return (await client.fetch("GET", "/agents/ada/files/.local/state/messages")).text();
}

/** The numbers 1, 2, 3, … of events that were all sent for. */
function expectGapless({ events }: Reply, from = 1): void {
  expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + from));
}

test("a reply comes as deltas that concatenate, then one last event", async () => {
  const reply = await client.chat("ada", "good morning  to you");
  expect(reply.text).toBe("good morning  to you");
  expect(new Set(types(reply).slice(0, -1))).toEqual(new Set(["response.output_text.delta"]));
  expect(types(reply).at(-1)).toBe("response.completed");
  expect(reply.events.at(-1)!.event).toEqual({ type: "response.completed" });
});

test("more kinds of events come when they are asked for", async () => {
  const reply = await client.chat("ada", "tool", ["status", "tools"]);
  expectGapless(reply);
  expect(types(reply)).toEqual([
    "response.created",
    "response.in_progress",
    "response.tool_call.started",
    "response.tool_call.completed",
    "response.output_text.delta",
    "response.completed",
  ]);
  expect(types(await client.chat("ada", "tool"))).toEqual(["response.output_text.delta", "response.completed"]);
});

test("a second message while one is answered is 409 with the running turn's id", async () => {
  const response = await client.fetch("POST", "/agents/ada/chat", { message: "count 20 20" });
  const second = await client.call("POST", "/agents/ada/chat", { message: "me too" });
  expect(second).toMatchObject({ status: 409, body: { code: "turn_in_progress" } });
  expect(second.body.details.turnId).toBe(response.headers.get("x-turn-id"));
  await response.text();
  for (let again = 0; again < 20; again++) expect(await client.ask("ada", "next")).toBe("next");
});

test("a turn continues without its client and has any number of readers", async () => {
  const gone = new AbortController();
  const response = await fetch(`${client.url}/agents/ada/chat`, {
    method: "POST",
    signal: gone.signal,
    headers: { authorization: `Bearer ${client.key}`, "content-type": "application/json" },
    body: JSON.stringify({ message: "count 50 10" }),
  });
  const turnId = response.headers.get("x-turn-id")!;
  gone.abort();
  const cursors = [0, 0, 7, 30];
  const replies = await Promise.all(cursors.map((after) => client.events("ada", turnId, after)));
  for (const [index, cursor] of cursors.entries()) expectGapless(replies[index]!, cursor + 1);
  expect(replies[0]!.text).toBe(Array.from({ length: 50 }, (_, index) => `${index + 1} `).join(""));
  expect(replies[1]).toEqual(replies[0]);
  const later = await client.events("ada", turnId, 40);
  expect(later.events).toEqual(replies[0]!.events.slice(40));
  const byHeader = await client.fetch("GET", `/agents/ada/turns/${turnId}/events`, undefined, {
    "last-event-id": "51",
  });
  expect((await Array.fromAsync(eventsOf(byHeader))).map(({ id }) => id)).toEqual([52, 53]);
});

test("a cursor that no event has is answered sensibly, and rubbish is refused or passed over", async () => {
  const { turnId } = await client.chat("ada", "hello");
  const path = `/agents/ada/turns/${turnId}/events`;
  // A reader that has seen more events than exist, of a turn whose end was lost with its machine, learns that it ended.
  for (const after of ["99", "2147483648", "9007199254740991"]) {
    const response = await client.fetch("GET", `${path}?after=${after}`);
    const events = await Array.fromAsync(eventsOf(response));
    expect(events).toEqual([{ id: 4, event: { type: "response.completed" } }]);
  }
  for (const after of ["-1", "1.5", "soon", "1e30", "9007199254740993"]) {
    const answer = await client.call("GET", `${path}?after=${after}`);
    expect(answer).toMatchObject({ status: 400, body: { code: "request_invalid" } });
    expect(answer.body.message).toContain("after");
  }
  for (const [header, first] of [
    ["3", 4],
    ["0", 3],
    ["soon", 3],
    ["-5", 3],
    ["1e1", 3],
  ] as const) {
    const response = await client.fetch("GET", path, undefined, { "last-event-id": header });
    expect((await Array.fromAsync(eventsOf(response)))[0]!.id).toBe(first);
  }
  // Nothing follows the last event: 204, with which an EventSource does not come back.
  for (const [query, header] of [
    ["", "4"],
    ["?after=4", ""],
  ] as const) {
    const over = await client.call("GET", path + query, undefined, header === "" ? {} : { "last-event-id": header });
    expect([over.status, over.body, over.headers.get("x-turn-id")]).toEqual([204, "", turnId]);
  }
  const running = await client.fetch("POST", "/agents/ada/chat", { message: "count 20 20" });
  const runningId = running.headers.get("x-turn-id")!;
  const [ahead, beyond] = await Promise.all([15, 99].map((after) => client.events("ada", runningId, after)));
  expectGapless(ahead!, 16);
  expect(beyond!.events).toEqual(ahead!.events.slice(-1));
  await running.text();
});

test("a client gets the end of a turn whose last events were lost with server and machine", async () => {
  const { turnId } = await client.chat("ada", "one");
  // Events that the lost server sent, and never stored.
  const sent = [1, 2, 3, 4, 5, 6].map((id) => `id: ${id}\ndata: {"type":"response.output_text.delta"}\n\n`).join("");
  const before = new Response(sent, { headers: { "content-type": "text/event-stream" } });
  const open = (lastId: string | null) =>
    lastId === null
      ? Promise.resolve(before)
      : client.fetch("GET", `/agents/ada/turns/${turnId}/events?after=${lastId}`);
  const isLast = ({ type }: { type: string }) => type === "response.completed";
  const events = await Array.fromAsync(followEvents<{ type: string }>(open, { isLast, delaysMs: [1] }));
  expect([events.length, events.at(-1)]).toEqual([7, { type: "response.completed" }]);
});

test("cancel ends the turn, and the next turn is fine", async () => {
  const response = await client.fetch("POST", "/agents/ada/chat", { message: "hang until cancelled" });
  const turnId = response.headers.get("x-turn-id")!;
  await expect.poll(messagesOfRuntime).toContain("hang until cancelled");
  expect((await client.call("POST", `/agents/ada/turns/${turnId}/cancel`)).status).toBe(202);
  const [last, ...more] = await Array.fromAsync(eventsOf(response));
  expect([last!.event.type, more]).toEqual(["response.cancelled", []]);
  // A reader that has seen another event in its place, which was lost with a machine, learns that it ended.
  const path = `/agents/ada/turns/${turnId}/events?after=${last!.id}`;
  expect(await Array.fromAsync(eventsOf(await client.fetch("GET", path)))).toEqual([last]);
  expect(await client.ask("ada", "next")).toBe("next");
});

test("a runtime that does nothing is given up, and the next turn is fine", async () => {
  const reply = await client.chat("ada", "hang");
  expect(reply.events.at(-1)!.event).toMatchObject({ type: "response.failed", error: { code: "runtime_stalled" } });
  expect(await client.ask("ada", "next")).toBe("next");
});

test("a runtime that crashes ends the turn as failed, and is started again for the next", async () => {
  const reply = await client.chat("ada", "crash");
  expect(reply.events.at(-1)!.event).toMatchObject({ type: "response.failed", error: { code: "runtime_failed" } });
  expect(await client.ask("ada", "next")).toBe("next");
});

test("a lost machine ends its turn as machine_lost; the agent recovers", async () => {
  const { driver } = service;
  const response = await client.fetch("POST", "/agents/ada/chat", { message: "hang until lost" });
  await expect.poll(messagesOfRuntime).toContain("hang until lost");
  driver.kill(driver.running[0]!);
  const events = await Array.fromAsync(eventsOf(response));
  expect(events.at(-1)!.event).toMatchObject({ type: "response.failed", error: { code: "machine_lost" } });
  expect(await client.ask("ada", "are you back?")).toBe("are you back?");
});

test("a connection to the machine that breaks within a turn loses and repeats nothing", async () => {
  const { driver } = service;
  const response = await client.fetch("POST", "/agents/ada/chat", { message: "count 60 20", include: ["status"] });
  const events: { id: number }[] = [];
  for await (const event of eventsOf(response)) {
    events.push(event);
    if (events.length === 10 || events.length === 30) driver.disconnect(driver.running[0]!);
  }
  expect(events.map(({ id }) => id)).toEqual(Array.from({ length: 63 }, (_, index) => index + 1));
});

test("a restarted server resumes a running turn", async () => {
  const response = await client.fetch("POST", "/agents/ada/chat", { message: "count 100 20" });
  const turnId = response.headers.get("x-turn-id")!;
  const first: { id: number }[] = [];
  for await (const event of eventsOf(response)) {
    first.push(event);
    if (first.length === 10) break;
  }
  await service.restart(() => new Promise((resolve) => setTimeout(resolve, 300)));
  const rest = await service.client.events("ada", turnId, first.at(-1)!.id);
  expectGapless(rest, first.at(-1)!.id + 1);
  expect(rest.events.at(-1)).toMatchObject({ id: 103, event: { type: "response.completed" } });
  expect((await service.client.events("ada", turnId)).text).toContain("1 2 3 ");
});

test("a message that comes while the server is starting is sent to the machine once", async () => {
  for (let round = 0; round < 5; round++) {
    await service.restart();
    expect(types(await service.client.chat("ada", "good morning to you"))).toEqual([
      ...Array(4).fill("response.output_text.delta"),
      "response.completed",
    ]);
  }
});

test("deleting an agent ends its running turn as agent_deleted", async () => {
  await client.createAgent("brief");
  const response = await client.fetch("POST", "/agents/brief/chat", { message: "hang" });
  const deleted = client.call("DELETE", "/agents/brief");
  const events = await Array.fromAsync(eventsOf(response));
  expect(events.at(-1)!.event).toMatchObject({ type: "response.failed", error: { code: "agent_deleted" } });
  expect((await deleted).status).toBe(204);
});

test("a message to an agent that is still being made is answered when it is ready", async () => {
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  await client.call("POST", "/agents", { name: "fresh" });
  const reply = client.chat("fresh", "early", ["status"]);
  await expect.poll(async () => (await client.call("GET", "/agents/fresh/turns")).body.data).toHaveLength(1);
  gate.resolve();
  expect(types(await reply).slice(0, 2)).toEqual(["response.created", "response.in_progress"]);
  expect((await reply).text).toBe("early");
});

test("a message to an agent that cannot be made ends with the reason", async () => {
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  service.driver.failures.push(new BerthError("disk_full", "The disk has 3 MiB free."));
  await client.call("POST", "/agents", { name: "large" });
  const response = await client.fetch("POST", "/agents/large/chat", { message: "early" });
  gate.resolve();
  const events = await Array.fromAsync(eventsOf(response));
  expect(events.at(-1)!.event).toMatchObject({ type: "response.failed", error: { code: "disk_full" } });
  await client.call("DELETE", "/agents/large");
});

test("a turn that waits for its machine can be cancelled", async () => {
  const gate = Promise.withResolvers<void>();
  service.driver.gate = gate.promise;
  await client.call("POST", "/agents", { name: "slow" });
  const response = await client.fetch("POST", "/agents/slow/chat", { message: "early" });
  await client.call("POST", `/agents/slow/turns/${response.headers.get("x-turn-id")}/cancel`);
  expect((await Array.fromAsync(eventsOf(response))).map(({ event }) => event.type)).toEqual(["response.cancelled"]);
  gate.resolve();
});

test("a machine that is lost again and again is not started for ever", async () => {
  await client.createAgent("doomed");
  const before = new Set(service.driver.running);
  for (let losses = 0; losses < 3; losses++) {
    const id = service.driver.running.at(-1)!;
    service.driver.kill(id);
    // Not before the machine is there again is the agent ready for the next loss.
    if (losses < 2) await expect.poll(() => service.driver.running.includes(id)).toBe(true);
    const after = losses < 2 ? "ready" : "failed";
    await expect.poll(async () => (await client.call("GET", "/agents/doomed")).body.status).toBe(after);
  }
  expect(before.size).toBeGreaterThan(0);
  expect((await client.call("GET", "/agents/doomed")).body).toMatchObject({
    status: "failed",
    error: { code: "machine_lost" },
  });
  expect((await client.call("DELETE", "/agents/doomed")).status).toBe(204);
});

test("a long reply is cut in the list of turns, which says so; its events have all of it", async () => {
  await client.createAgent("long");
  const message = "é".repeat(70_000);
  expect(await client.ask("long", message)).toBe(message);
  expect(await client.ask("long", "short")).toBe("short");
  const { data } = (await client.call("GET", "/agents/long/turns")).body;
  expect(data).toMatchObject([
    { reply: "short", replyTruncated: false },
    { reply: "é".repeat(65_536), replyTruncated: true },
  ]);
});

test("a page continues after a turn that was deleted", async () => {
  await client.createAgent("paula");
  for (const message of ["one", "two", "three", "four"]) await client.ask("paula", message);
  const page = async (cursor: string) => (await client.call("GET", `/agents/paula/turns?limit=2${cursor}`)).body;
  const first = await page("");
  const database = await databaseOf(service);
  await database.deleteFrom("turns").where("id", "=", first.data[1].id).execute();
  await database.destroy();
  const second = await page(`&cursor=${first.nextCursor}`);
  const messages = [...first.data, ...second.data].map(({ message }: { message: string }) => message);
  expect(messages).toEqual(["four", "three", "two", "one"]);
  expect(second.nextCursor).toBeNull();
});
