import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TurnEvent } from "../../src/contract/chat.ts";
import { databaseOf, newKey } from "../support/accounts.ts";
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

/** A message that was sent: its turn's id, where it was placed, and the events of its stream. */
class Sent {
  readonly turnId: string;
  readonly placed: string | null;
  readonly events: TurnEvent[] = [];
  readonly ended: Promise<TurnEvent[]>;

  constructor(response: Response) {
    this.turnId = response.headers.get("x-turn-id")!;
    this.placed = response.headers.get("x-berth-placed");
    this.ended = this.#read(response);
  }

  get types(): string[] {
    return this.events.map(({ type }) => type);
  }

  async #read(response: Response): Promise<TurnEvent[]> {
    try {
      for await (const { event } of eventsOf(response)) this.events.push(event);
    } catch {
      // The server that sent it has stopped.
    }
    return this.events;
  }
}

async function send(message: string, whenBusy = "queue", by = client): Promise<Sent> {
  const body = { message, whenBusy, include: ["status"] };
  const response = await by.fetch("POST", `/agents/${agent}/chat`, body);
  if (response.status !== 200) throw Object.assign(new Error("refused"), { body: await response.json() });
  return new Sent(response);
}

/** A turn that runs until it is cancelled. */
async function hang(): Promise<Sent> {
  const sent = await send("hang");
  await expect.poll(() => sent.types).toContain("response.in_progress");
  return sent;
}

const cancel = ({ turnId }: Sent) => client.call("POST", `/agents/${agent}/turns/${turnId}/cancel`);
const queue = async () => (await client.call("GET", `/agents/${agent}/queue`)).body;
const act = (action: string) => client.call("POST", `/agents/${agent}/queue`, { action });
const statusOf = async ({ turnId }: Sent) =>
  (await client.call("GET", `/agents/${agent}/turns/${turnId}`)).body.status as string;
const received = async () => {
  const response = await client.fetch("GET", `/agents/${agent}/files/.local/state/messages`);
  return (await response.text()).trim().split("\n");
};
const positionsOf = ({ events }: Sent) =>
  events.flatMap((event) => (event.type === "response.queued" ? [event.position] : []));

describe("a message to an agent that answers", () => {
  test("waits in a stream that opens at once, and begins when the answer is complete", async () => {
    const first = await send("count 30 20");
    const second = await send("second");
    expect([first.placed, second.placed]).toEqual(["started", "queued"]);
    await expect.poll(() => second.events).toContainEqual({ type: "response.queued", for: "turn", position: 1 });
    expect(await statusOf(second)).toBe("queued");
    await second.ended;
    expect(first.types.at(-1)).toBe("response.completed");
    expect(second.types).toEqual([
      "response.created",
      "response.queued",
      "response.in_progress",
      "response.output_text.delta",
      "response.completed",
    ]);
    expect(await received()).toEqual(["count 30 20", "second"]);
  });

  test("waits behind those that wait, and is sent its new position", async () => {
    const first = await hang();
    const [second, third] = [await send("second"), await send("third")];
    expect((await queue()).data.map((each: { message: string }) => each.message)).toEqual(["second", "third"]);
    await act("resume");
    await cancel(first);
    await first.ended;
    await act("resume");
    await third.ended;
    expect([positionsOf(second), positionsOf(third)]).toEqual([[1], [2, 1]]);
    expect(await received()).toEqual(["hang", "second", "third"]);
  });

  test("is refused without `queue`, and steer waits where the runtime takes no messages in a turn", async () => {
    const first = await hang();
    await expect(send("second", "reject")).rejects.toMatchObject({
      body: { statusCode: 409, code: "turn_in_progress", details: { turnId: first.turnId } },
    });
    expect((await send("third", "steer")).placed).toBe("queued");
    await cancel(first);
  });

  test("begins at once where the agent does not answer", async () => {
    for (const whenBusy of ["queue", "steer", "interrupt"]) {
      const sent = await send("hello", whenBusy);
      expect([sent.placed, (await sent.ended).at(-1)!.type]).toEqual(["started", "response.completed"]);
    }
  });

  test("that interrupts cancels the running turn, begins next, and holds those that waited", async () => {
    const first = await hang();
    const waiting = await send("waiting");
    const urgent = await send("urgent", "interrupt");
    expect(positionsOf(urgent)).toEqual([]);
    expect((await urgent.ended).at(-1)!.type).toBe("response.completed");
    expect((await first.ended).at(-1)!.type).toBe("response.cancelled");
    expect(await queue()).toMatchObject({ held: "cancelled", data: [{ id: waiting.turnId, position: 1 }] });
    await act("resume");
    await waiting.ended;
    expect(await received()).toEqual(["hang", "urgent", "waiting"]);
  });
});

describe("a queue", () => {
  test.each([
    ["cancelled", (first: Sent) => cancel(first)],
    ["failed", () => client.restartAgent(agent)],
  ])("is held by a turn that is %s, and continues on request", async (held, end) => {
    const first = await hang();
    const second = await send("second");
    await end(first);
    await first.ended;
    expect(await queue()).toMatchObject({ held, data: [{ message: "second" }] });
    expect((await client.call("GET", `/agents/${agent}`)).body).toMatchObject({ queueLength: 1, queue: { held } });
    // A new message is answered meanwhile, and does not let the others continue.
    expect((await (await send("between")).ended).at(-1)!.type).toBe("response.completed");
    expect(await statusOf(second)).toBe("queued");
    expect((await act("resume")).body).toEqual({ held: null, data: [] });
    await second.ended;
    expect(await received()).toEqual(["hang", "between", "second"]);
    expect((await client.call("GET", `/agents/${agent}`)).body).toMatchObject({
      queueLength: 0,
      queue: { held: null },
    });
  });

  test("that is discarded cancels its messages, which the agent never receives", async () => {
    const first = await hang();
    const waiting = [await send("one"), await send("two")];
    await cancel(first);
    await first.ended;
    expect((await act("discard")).body).toEqual({ held: null, data: [] });
    for (const sent of waiting) expect((await sent.ended).at(-1)).toEqual({ type: "response.cancelled" });
    await (await send("after")).ended;
    expect(await received()).toEqual(["hang", "after"]);
    expect((await act("discard")).body).toEqual({ held: null, data: [] });
    expect((await act("resume")).body).toEqual({ held: null, data: [] });
    expect((await act("stop")).status).toBe(400);
  });

  test("is edited, reordered and shortened", async () => {
    const first = await hang();
    const sent = [await send("one"), await send("two"), await send("three")];
    const change = ({ turnId }: Sent, body: object) => client.call("PATCH", `/agents/${agent}/turns/${turnId}`, body);
    const texts = ({ body }: { body: { data: { message: string }[] } }) => body.data.map(({ message }) => message);
    expect(texts(await change(sent[2]!, { position: 1 }))).toEqual(["three", "one", "two"]);
    expect(texts(await change(sent[2]!, { position: 20, message: "drei 三 🚢" }))).toEqual([
      "one",
      "two",
      "drei 三 🚢",
    ]);
    expect((await cancel(sent[0]!)).status).toBe(202);
    expect((await sent[0]!.ended).at(-1)!.type).toBe("response.cancelled");
    await expect.poll(() => positionsOf(sent[1]!)).toEqual([2, 3, 2, 1]);
    expect((await cancel(sent[0]!)).body).toMatchObject({ code: "turn_finished" });
    const { body } = await client.call("GET", `/agents/${agent}/turns/${sent[0]!.turnId}`);
    expect(body).toMatchObject({ status: "cancelled", createdAt: body.queuedAt });
    const recent: { id: string }[] = (await client.call("GET", "/turns")).body.data;
    expect(recent.map(({ id }) => id)).not.toContain(sent[0]!.turnId);
    for (const wrong of [{}, { position: 0 }, { message: "" }, { place: 1 }]) {
      expect((await change(sent[1]!, wrong)).status).toBe(400);
    }
    expect((await change(first, { position: 1 })).body).toMatchObject({ statusCode: 409, code: "turn_not_queued" });
    await cancel(first);
    await first.ended;
    await act("resume");
    await sent[2]!.ended;
    expect(await received()).toEqual(["hang", "two", "drei 三 🚢"]);
  });

  test("has 20 messages at most, and 5 of an external key", async () => {
    const first = await hang();
    const external = await newKey(client, { kind: "agent", agents: [agent] });
    for (let count = 0; count < 5; count++) await send("mine", "queue", external);
    await expect(send("one more", "queue", external)).rejects.toMatchObject({ body: { code: "queue_full" } });
    await expect(send("mine", "interrupt", external)).rejects.toMatchObject({ body: { code: "forbidden" } });
    for (let count = 0; count < 15; count++) await send("theirs");
    await expect(send("one more")).rejects.toMatchObject({ body: { statusCode: 409, code: "queue_full" } });
    expect((await queue()).data).toHaveLength(20);
    await act("discard");
    await cancel(first);
  });

  test("survives a restart of the server, and a turn that ended meanwhile continues it", async () => {
    const first = await send("count 40 20");
    const waiting = [await send("one"), await send("two")];
    await service.restart(() => new Promise((resolve) => setTimeout(resolve, 1_500)));
    client = service.client;
    await expect.poll(() => statusOf(waiting[1]!)).toBe("completed");
    expect(await statusOf(first)).toBe("completed");
    expect(await received()).toEqual(["count 40 20", "one", "two"]);
    const { events } = await client.events(agent, waiting[1]!.turnId);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, index) => index + 1));
  });

  test("continues after a turn whose row was removed", async () => {
    const first = await hang();
    const second = await send("second");
    const database = await databaseOf(service);
    await database.deleteFrom("turns").where("id", "=", first.turnId).execute();
    await database.destroy();
    await service.restart();
    client = service.client;
    await expect.poll(() => statusOf(second)).toBe("completed");
  });

  test("cancels the messages of a key that was revoked when they would begin", async () => {
    const first = await send("count 30 20");
    const key = await newKey(client, { name: "ended" });
    const revoked = await send("revoked", "queue", key);
    const after = await send("after");
    const { id } = (await client.call("GET", "/keys")).body.data.find(
      (each: { name: string }) => each.name === "ended",
    );
    await client.call("DELETE", `/keys/${id}`);
    await after.ended;
    expect(await statusOf(revoked)).toBe("cancelled");
    expect(await received()).toEqual(["count 30 20", "after"]);
    expect((await first.ended).at(-1)!.type).toBe("response.completed");
  });

  test("goes with its agent", async () => {
    await hang();
    const second = await send("second");
    expect((await client.call("DELETE", `/agents/${agent}`)).status).toBe(204);
    await second.ended;
    expect(second.types.at(-1)).not.toBe("response.completed");
  });

  test("is reported in the account's events", async () => {
    const abort = new AbortController();
    const response = await fetch(`${client.url}/events`, {
      headers: { authorization: `Bearer ${client.key}` },
      signal: abort.signal,
    });
    const seen: { type: string; agent?: string; length?: number; held?: string | null; turnId?: string }[] = [];
    const reading = (async () => {
      for await (const { event } of eventsOf(response)) seen.push(event as never);
    })().catch(() => {});
    await expect.poll(() => seen.length).toBeGreaterThan(0);
    const first = await hang();
    const second = await send("second");
    await cancel(first);
    await first.ended;
    await act("resume");
    await second.ended;
    await expect.poll(() => seen.findLast(({ type }) => type === "turn.ended")?.turnId).toBe(second.turnId);
    const ours = seen.filter((each) => each.agent === agent && each.type.startsWith("queue."));
    expect(ours.map(({ length, held }) => [length, held])).toEqual([
      [1, null],
      [1, "cancelled"],
      [0, null],
    ]);
    expect(seen.filter(({ type, turnId }) => type === "turn.started" && turnId === second.turnId)).toHaveLength(1);
    abort.abort();
    await reading;
  });
});
