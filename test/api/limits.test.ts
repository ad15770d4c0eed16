import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TurnEvent } from "../../src/contract/chat.ts";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf, newAccount } from "../support/accounts.ts";
import { eventsOf, type TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let database: Database;
let client: TestClient;
let number = 0;
/** Each test has an agent of its own. */
let agent: string;

beforeAll(async () => {
  service = await ScriptedService.start({ machinePrice: "0" });
  database = await databaseOf(service);
});
beforeEach(async () => {
  client = service.client;
  agent = `agent-${++number}`;
  await client.createAgent(agent);
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

const change = (settings: object) => client.call("PATCH", `/agents/${agent}`, settings);
const chat = (message: string, more: object = {}, by = client, name = agent) =>
  by.fetch("POST", `/agents/${name}/chat`, { message, include: ["status"], ...more });

/** All events of a turn. */
async function run(message: string, more: object = {}): Promise<TurnEvent[]> {
  const response = await chat(message, more);
  expect(response.status).toBe(200);
  return (await Array.fromAsync(eventsOf(response))).map(({ event }) => event);
}

/** The first warning of a turn that then hangs; the turn is cancelled. */
async function warningOf(message: string, more: object = {}, by = client, name = agent): Promise<TurnEvent> {
  const response = await chat(message, more, by, name);
  const events: TurnEvent[] = [];
  for await (const { event } of eventsOf(response)) {
    events.push(event);
    if (event.type !== "response.warning") continue;
    await by.call("POST", `/agents/${name}/turns/${response.headers.get("x-turn-id")}/cancel`);
  }
  expect(events.at(-1)!.type).toBe("response.cancelled");
  return events.find(({ type }) => type === "response.warning")!;
}

const failed = (code: string, details: object) => ({ type: "response.failed", error: { code, details } });

describe("settings", () => {
  test("an agent has no limits, gets some, keeps them in a fork, and loses them", async () => {
    const none = { maxCredits: null, maxMinutes: null, maxToolCalls: null };
    const some = { maxCredits: "12.5", maxMinutes: 30, maxToolCalls: 100 };
    expect((await client.call("GET", `/agents/${agent}`)).body).toMatchObject(none);
    expect((await change(some)).body).toMatchObject(some);
    const fork = await client.call("POST", "/agents", { name: `${agent}-fork`, from: { agent } });
    expect(fork.body).toMatchObject(some);
    expect((await change({ maxMinutes: null })).body).toMatchObject({ ...some, maxMinutes: null });
    expect((await change(none)).body).toMatchObject(none);
  });

  test.each([
    ["credits that are a number", { maxCredits: 5 }, /^maxCredits: /],
    ["no credits", { maxCredits: "0.0" }, /^maxCredits: maxCredits must be more than 0\.$/],
    ["credits with seven places", { maxCredits: "0.0000001" }, /^maxCredits: .*six decimal places/],
    ["no minutes", { maxMinutes: 0 }, /^maxMinutes: .*1/],
    ["half a minute", { maxMinutes: 0.5 }, /^maxMinutes: /],
    ["more than a week", { maxMinutes: 10_081 }, /^maxMinutes: .*10080/],
    ["no tool calls", { maxToolCalls: 0 }, /^maxToolCalls: .*1/],
    ["tool calls as text", { maxToolCalls: "5" }, /^maxToolCalls: /],
  ])("%s are refused for the agent and for the turn", async (_case, given, text) => {
    const ofAgent = await change(given);
    const ofTurn = await client.call("POST", `/agents/${agent}/chat`, { message: "hi", ...given });
    for (const { status, body } of [ofAgent, ofTurn]) {
      expect([status, body.code]).toEqual([400, "request_invalid"]);
      expect(body.message).toMatch(text);
    }
  });
});

describe("tool calls", () => {
  const reached = (limit: number) => failed("limit_reached", { reason: "tool_calls_limit", limit });

  test("the call after the last allowed one stops the turn, and the next message continues", async () => {
    const events = await run("steps 20", { maxToolCalls: 3, include: ["tools"] });
    expect(events.at(-1)).toMatchObject(reached(3));
    const turn = (await client.call("GET", `/agents/${agent}/turns`)).body.data[0];
    expect(turn).toMatchObject({ status: "failed", error: reached(3).error });
    expect(turn.error.message).toMatch(/3 tool calls \(maxToolCalls\)/);
    expect((await run("steps 3", { maxToolCalls: 3 })).at(-1)!.type).toBe("response.completed");
  });

  test.each([
    ["the agent's is lower", 2, 5, 2],
    ["the turn's is lower", 5, 2, 2],
    ["only the agent has one", 2, undefined, 2],
    ["the turn asks for none", 2, null, 2],
  ])("the lowest limit applies: %s", async (_case, ofAgent, ofTurn, limit) => {
    await change({ maxToolCalls: ofAgent });
    expect((await run("steps 20", { maxToolCalls: ofTurn })).at(-1)).toMatchObject(reached(limit));
  });

  test("a turn is warned at four fifths", async () => {
    const warning = await warningOf("steps 4 hang", { maxToolCalls: 5 });
    expect(warning).toMatchObject({ reason: "tool_calls_limit", limit: 5, used: 4 });
  });

  test("a turn that repeats a call five times is warned", async () => {
    const warning = await warningOf("steps 5 same hang");
    expect(warning).toMatchObject({ reason: "repeated_tool_call", used: 5 });
    expect((warning as { message: string }).message).toMatch(/Step 5 times in a row/);
  });

  test("a restarted server continues to count, and does not warn again", async () => {
    const response = await chat("steps 4 hang", { maxToolCalls: 5 });
    const turnId = response.headers.get("x-turn-id");
    const warnings = async () => {
      const { rows } = await sql<{ count: number }>`
        select count(*)::integer from turn_events where turn_id = ${turnId} and event ->> 'type' = 'response.warning'`.execute(
        database,
      );
      return rows[0]!.count;
    };
    await expect.poll(warnings).toBe(1);
    await service.restart();
    client = service.client;
    const events = client.fetch("GET", `/agents/${agent}/turns/${turnId}/events?include=status`);
    await client.call("POST", `/agents/${agent}/turns/${turnId}/cancel`);
    const all = await Array.fromAsync(eventsOf(await events));
    expect(all.at(-1)!.event.type).toBe("response.cancelled");
    expect(await warnings()).toBe(1);
  });
});

describe("minutes", () => {
  test("a turn whose time is over when its server starts is stopped", async () => {
    const response = await chat("hang", { maxMinutes: 5 });
    const turnId = response.headers.get("x-turn-id");
    const reading = Array.fromAsync(eventsOf(response)).catch(() => null);
    await sql`update turns set created_at = now() - interval '6 minutes' where id = ${turnId}`.execute(database);
    await service.restart();
    await reading;
    const events = await service.client.fetch("GET", `/agents/${agent}/turns/${turnId}/events`);
    const last = (await Array.fromAsync(eventsOf(events))).at(-1)!.event;
    expect(last).toMatchObject(failed("limit_reached", { reason: "minutes_limit", limit: 5 }));
  });

  test("the time that it has waited for approvals is left out", async () => {
    await change({ permissions: { execute: "ask" } });
    const response = await chat("use execute date", { maxMinutes: 5, include: ["approvals"] });
    const turnId = response.headers.get("x-turn-id");
    const reading = Array.fromAsync(eventsOf(response)).catch(() => null);
    const open = async () => (await client.call("GET", `/agents/${agent}/turns/${turnId}/approvals`)).body.data;
    await expect.poll(async () => (await open()).length).toBe(1);
    await sql`update turns set created_at = now() - interval '60 minutes' where id = ${turnId}`.execute(database);
    await sql`update approvals set requested_at = now() - interval '59 minutes' where turn_id = ${turnId}`.execute(
      database,
    );
    await service.restart();
    await reading;
    client = service.client;
    const events = client.fetch("GET", `/agents/${agent}/turns/${turnId}/events`);
    const [{ id }] = await open();
    await client.call("POST", `/agents/${agent}/turns/${turnId}/approvals/${id}`, { decision: "allow" });
    expect((await Array.fromAsync(eventsOf(await events))).at(-1)!.event.type).toBe("response.completed");
  });
});

describe("credits", () => {
  const reached = (reason: string, limit: string) => failed("insufficient_credits", { reason, limit });

  test("a model call that the turn's limit does not cover stops the turn", async () => {
    const events = await run("ask", { maxCredits: "0.000001" });
    expect(events.at(-1)).toMatchObject(reached("turn_limit", "0.000001"));
    expect((events.at(-1) as { error: { message: string } }).error.message).toMatch(
      /maxCredits.* of 0\.000001 credits/,
    );
    expect((await run("ask")).at(-1)!.type).toBe("response.completed");
  });

  test("the agent's limit applies to each of its turns alone", async () => {
    await change({ maxCredits: "5" });
    for (let turn = 0; turn < 3; turn++) expect((await run("ask")).at(-1)!.type).toBe("response.completed");
    await change({ maxCredits: "0.000001" });
    expect((await run("ask")).at(-1)).toMatchObject(reached("turn_limit", "0.000001"));
  });

  test("a turn is warned when four fifths of the month's limit are spent", async () => {
    const other = await newAccount(service);
    await other.createAgent("ada");
    await sql`
      update accounts set monthly_limit = 100000000, month_spent = 85000000, month = date_trunc('month', now() at time zone 'UTC')
      where id = ${(await other.call("GET", "/account")).body.id}`.execute(database);
    const warning = await warningOf("ask /anthropic/v1/messages hang", {}, other, "ada");
    expect(warning).toMatchObject({ reason: "monthly_limit", limit: "100", used: "85" });
  });

  test("a refused turn names the month's limit", async () => {
    const other = await newAccount(service);
    await other.createAgent("ada");
    const { id } = (await other.call("GET", "/account")).body;
    await sql`
      update accounts set monthly_limit = 1000000, month_spent = 1000000, month = date_trunc('month', now() at time zone 'UTC')
      where id = ${id}`.execute(database);
    const { status, body } = await other.call("POST", "/agents/ada/chat", { message: "ask" });
    expect([status, body.code, body.details]).toEqual([
      402,
      "insufficient_credits",
      { reason: "monthly_limit", limit: "1" },
    ]);
  });
});
