import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { TurnEvent } from "../../src/contract/chat.ts";
import { newKey } from "../support/accounts.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let client: TestClient;
let number = 0;
/** Each test has an agent of its own. */
let agent: string;

beforeAll(async () => {
  service = await ScriptedService.start();
});
beforeEach(async () => {
  client = service.client;
  agent = `agent-${++number}`;
  await client.createAgent(agent);
});
afterAll(() => service[Symbol.asyncDispose]());

interface Sent {
  turnId: string;
  placed: string | null;
  events: Promise<TurnEvent[]>;
}

interface SendOptions {
  by?: TestClient;
  key?: string;
  conversation?: number;
}

async function send(message: string, options: SendOptions = {}): Promise<Sent> {
  const { by = client, key = randomUUID(), conversation } = options;
  const body = { message, whenBusy: "steer", conversation, include: ["status"] };
  const response = await by.fetch("POST", `/agents/${agent}/chat`, body, { "idempotency-key": key });
  expect(response.status).toBe(200);
  const events = Array.fromAsync(eventsOf(response)).then((all) => all.map(({ event }) => event));
  events.catch(() => {}); // A stream that the test leaves breaks when the server stops.
  return {
    turnId: response.headers.get("x-turn-id")!,
    placed: response.headers.get("x-berth-placed"),
    events,
  };
}

/** A turn that waits for messages. */
async function listening(count: number, by = client): Promise<Sent> {
  const sent = await send(`listen ${count}`, { by });
  await expect
    .poll(async () => (await client.call("GET", `/agents/${agent}/files/.local/state/messages`)).status, {
      timeout: 10_000,
    })
    .toBe(200);
  return sent;
}

const textOf = (events: TurnEvent[]) =>
  events.map((event) => (event.type === "response.output_text.delta" ? event.delta : "")).join("");
const queueLength = async () => (await client.call("GET", `/agents/${agent}`)).body.queueLength;
const cancel = ({ turnId }: Sent) => client.call("POST", `/agents/${agent}/turns/${turnId}/cancel`);

test("a message for another conversation than the running turn's waits", async () => {
  await client.call("POST", `/agents/${agent}/conversations`, {});
  const first = await listening(2);
  const other = await send("elsewhere", { conversation: 2 });
  expect(other.placed).toBe("queued");
  expect((await send("left")).placed).toBe("steered");
  expect((await send("right")).placed).toBe("steered");
  expect(textOf(await first.events)).not.toContain("elsewhere");
  expect((await other.events).at(-1)).toMatchObject({ type: "response.completed" });
});

test("a message reaches the running turn, and both streams have it", async () => {
  const first = await listening(2);
  const second = await send("left");
  expect([second.placed, second.turnId]).toEqual(["steered", first.turnId]);
  const third = await send("right");
  const all = await first.events;
  expect(textOf(all)).toBe("left right ");
  expect(all.filter(({ type }) => type === "response.steered")).toMatchObject([
    { message: "left" },
    { message: "right" },
  ]);
  const seen = await second.events;
  expect(seen.map(({ type }) => type)).toEqual(all.slice(-seen.length).map(({ type }) => type));
  expect(seen.filter(({ type }) => type === "response.steered")).toHaveLength(2);
  expect((await third.events).at(-1)!.type).toBe("response.completed");
  expect((await client.call("GET", `/agents/${agent}/turns`)).body.data).toHaveLength(1);
});

test("a message says who sent it, and an external agent key does not learn it", async () => {
  const narrow = await newKey(client, { name: "front", kind: "agent", agents: [agent] });
  const named = await newKey(client, { name: "ci" });
  const first = await listening(2, narrow);
  await send("left", { by: named });
  await send("right", { by: narrow });
  const seen = (events: TurnEvent[]) => events.filter(({ type }) => type === "response.steered");
  const outside = seen(await first.events);
  expect(outside.map((event) => "createdBy" in event)).toEqual([false, false]);
  const record = await client.fetch("GET", `/agents/${agent}/turns/${first.turnId}/events?include=status`);
  const events = (await Array.fromAsync(eventsOf(record))).map(({ event }) => event);
  expect(seen(events)).toMatchObject([
    { message: "left", createdBy: { kind: "key", name: "ci" } },
    { message: "right", createdBy: { kind: "key", name: "front" } },
  ]);
});

test("a retry does not deliver it again, also after the turn and a restart of the server", async () => {
  const key = randomUUID();
  const first = await listening(2);
  const sent = await send("left", { key });
  const again = await send("left", { key });
  expect([again.placed, again.turnId]).toEqual(["steered", first.turnId]);
  await send("right");
  expect(textOf(await first.events)).toBe("left right ");
  for (const each of [sent, again]) expect(textOf(await each.events)).toMatch(/right $/);
  await service.restart();
  const late = await send("left", { by: service.client, key });
  expect([late.placed, late.turnId, textOf(await late.events)]).toEqual(["steered", first.turnId, "left right "]);
});

test("it waits where the runtime takes none, and where the turn waits for an approval", async () => {
  const other = `${agent}-opencode`;
  await client.call("POST", "/agents?wait=ready", { name: other, runtime: "opencode" });
  const busy = await client.fetch("POST", `/agents/${other}/chat`, { message: "hang" });
  const steered = await client.fetch("POST", `/agents/${other}/chat`, { message: "hi", whenBusy: "steer" });
  expect(steered.headers.get("x-berth-placed")).toBe("queued");
  await steered.body?.cancel();
  await client.call("POST", `/agents/${other}/turns/${busy.headers.get("x-turn-id")}/cancel`);
  await busy.text();

  await client.call("PATCH", `/agents/${agent}`, { permissions: { execute: "ask" } });
  const asking = await send("use execute date");
  await expect.poll(async () => (await client.call("GET", `/approvals?agent=${agent}`)).body.data.length).toBe(1);
  expect((await send("hi")).placed).toBe("queued");
  expect(await queueLength()).toBe(1);
  await cancel(asking);
});

test("a turn that ends first leaves the message to a turn of its own", async () => {
  const first = await listening(1);
  await send("left");
  await first.events;
  const sent = await send("hello");
  expect([sent.placed, textOf(await sent.events)]).toEqual(["started", "hello"]);
});

test("an external agent key reaches its own turns, and waits behind others", async () => {
  const key = await newKey(client, { kind: "agent", agents: [agent], creditLimit: "5" });
  const first = await listening(1);
  const sent = await send("mine", { by: key });
  expect(sent.placed).toBe("queued");
  await send("theirs");
  expect(textOf(await first.events)).toBe("theirs ");
  expect(textOf(await sent.events)).toBe("mine");
  const own = await send("listen 1", { by: key });
  await expect
    .poll(async () => (await client.fetch("GET", `/agents/${agent}/files/.local/state/messages`)).text())
    .toContain("listen 1\nmine\nlisten 1");
  expect((await send("again", { by: key })).placed).toBe("steered");
  expect(textOf(await own.events)).toBe("again ");
});
