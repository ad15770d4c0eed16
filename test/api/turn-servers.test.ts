import { afterAll, beforeAll, expect, test } from "vitest";
import type { TurnEvent } from "../../src/contract/chat.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { type Member, ServerGroup } from "../support/server-group.ts";

// The queue, approvals, limits and outputs of turns, with clients of both of two servers on one database.

let group: ServerGroup;
let leader: Member;
let standby: Member;
let both: TestClient[];

beforeAll(async () => {
  group = await ServerGroup.start(2);
  leader = await group.leader();
  [standby] = (await group.others()) as [Member];
  both = [standby.client, leader.client];
});
afterAll(() => group?.[Symbol.asyncDispose]());

interface Sent {
  status: number;
  turnId: string;
  placed: string | null;
  /** All events, once the turn has ended. */
  ended: Promise<TurnEvent[]>;
}

async function send(by: TestClient, agent: string, message: string, more: object = {}): Promise<Sent> {
  const body = { message, include: ["status", "approvals"], ...more };
  const response = await by.fetch("POST", `/agents/${agent}/chat`, body);
  const [turnId, placed] = [response.headers.get("x-turn-id") ?? "", response.headers.get("x-berth-placed")];
  if (response.status !== 200) {
    expect(await response.json()).toMatchObject({ code: "queue_full" });
    return { status: response.status, turnId, placed, ended: Promise.resolve([]) };
  }
  const ended = Array.fromAsync(eventsOf(response)).then((events) => events.map(({ event }) => event));
  return { status: 200, turnId, placed, ended };
}

async function newAgent(name: string, settings: Record<string, unknown> = {}): Promise<string> {
  await leader.client.createAgent(name, settings);
  return name;
}

const queueOf = async (by: TestClient, agent: string) => (await by.call("GET", `/agents/${agent}/queue`)).body;

test("messages by both servers wait in one queue, and each begins once", async () => {
  const agent = await newAgent("queues");
  const messages = Array.from({ length: 12 }, (_, index) => `message ${index}`);
  const sent = await Promise.all(
    messages.map((message, index) => send(both[index % 2]!, agent, message, { whenBusy: "queue" })),
  );
  const ends = await Promise.all(sent.map(({ ended }) => ended));
  expect(ends.map((events) => events.at(-1)!.type)).toEqual(messages.map(() => "response.completed"));
  const { data } = (await standby.client.call("GET", `/agents/${agent}/turns?limit=100`)).body;
  expect(data.map((turn: { message: string }) => turn.message).toSorted()).toEqual(messages.toSorted());
  expect(data.map((turn: { reply: string }) => turn.reply)).toEqual(
    data.map((turn: { message: string }) => turn.message),
  );
  for (const client of both) expect(await queueOf(client, agent)).toEqual({ held: null, data: [] });
});

test("the queue's limit holds over both, and each server changes it", async () => {
  const agent = await newAgent("limits");
  const hanging = await send(leader.client, agent, "hang");
  const sent = await Promise.all(
    Array.from({ length: 24 }, (_, index) => send(both[index % 2]!, agent, `${index}`, { whenBusy: "queue" })),
  );
  expect(sent.filter(({ placed }) => placed === "queued")).toHaveLength(20);
  expect(sent.filter(({ status }) => status === 409)).toHaveLength(4);
  const { data } = await queueOf(standby.client, agent);
  const last = data.at(-1);
  const change = { position: 1, message: "the last" };
  expect((await standby.client.call("PATCH", `/agents/${agent}/turns/${last.id}`, change)).status).toBe(200);
  expect((await queueOf(leader.client, agent)).data[0]).toMatchObject({ id: last.id, message: "the last" });
  const { turnId } = hanging;
  expect((await standby.client.call("POST", `/agents/${agent}/turns/${turnId}/cancel`)).status).toBe(202);
  await expect.poll(async () => (await queueOf(leader.client, agent)).held).toBe("cancelled");
  const act = (client: TestClient, action: string) => client.call("POST", `/agents/${agent}/queue`, { action });
  await Promise.all([act(standby.client, "resume"), act(leader.client, "resume")]);
  await Promise.all(sent.map(({ ended }) => ended));
  const turns = (await leader.client.call("GET", `/agents/${agent}/turns?limit=100`)).body.data;
  expect(turns.map(({ status }: { status: string }) => status).toSorted()).toEqual([
    "cancelled",
    ...Array.from({ length: 20 }, () => "completed"),
  ]);
});

test("an approval that both answer at once has one answer, and the turn continues by it", async () => {
  const agent = await newAgent("approves", { permissions: { execute: "ask" } });
  for (const [one, other] of [both, both.toReversed()] as [TestClient, TestClient][]) {
    const { turnId, ended } = await send(one, agent, "use execute make");
    const open = async (client: TestClient) => (await client.call("GET", `/approvals?agent=${agent}`)).body.data;
    await expect.poll(async () => (await open(other)).length).toBe(1);
    const [{ id }] = await open(one);
    const path = `/agents/${agent}/turns/${turnId}/approvals/${id}`;
    const answers = await Promise.all([
      one.call("POST", path, { decision: "allow" }),
      other.call("POST", path, { decision: "deny" }),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const { decision } = answers.find(({ status }) => status === 200)!.body;
    expect(answers.find(({ status }) => status === 409)!.body).toMatchObject({
      code: "approval_answered",
      details: { decision },
    });
    expect(await ended).toContainEqual({ type: "response.approval.resolved", id, decision });
    const turn = (await other.call("GET", `/agents/${agent}/turns/${turnId}`)).body;
    expect(turn.reply).toBe(decision === "allow" ? "used" : "not used");
  }
});

test("limits of the agent and of the message hold for turns by both, the lowest first", async () => {
  const agent = await newAgent("bounded");
  expect((await standby.client.call("PATCH", `/agents/${agent}`, { maxToolCalls: 5 })).status).toBe(200);
  for (const client of both) {
    for (const [more, limit] of [
      [{}, 5],
      [{ maxToolCalls: 3 }, 3],
      [{ maxToolCalls: 9 }, 5],
    ] as const) {
      const events = await (await send(client, agent, "steps 20", more)).ended;
      expect(events.at(-1)).toMatchObject({
        type: "response.failed",
        error: { code: "limit_reached", details: { reason: "tool_calls_limit", limit } },
      });
    }
  }
});

test("an output is given by both", async () => {
  const agent = await newAgent("gives");
  const schema = { type: "object", properties: { name: { type: "string" } } };
  for (const client of both) {
    const events = await (await send(client, agent, 'give {"name":"Ada"}', { output: { schema } })).ended;
    expect(events.at(-1)).toEqual({ type: "response.completed", output: { name: "Ada" } });
    const refused = await client.call("POST", `/agents/${agent}/chat`, { message: "hi", output: { schema: {} } });
    expect([refused.status, refused.body.details.issues[0].field]).toEqual([400, "/type"]);
  }
});
