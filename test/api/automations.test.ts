import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Automation, AutomationRun } from "../../src/contract/automations.ts";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import { type Answer, TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let database: Database;
let client: TestClient;
/** Each test has an account of its own, with an agent `ada`. */
beforeAll(async () => {
  service = await ScriptedService.start();
  database = await databaseOf(service);
  await service.client.createAgent("waker");
  const waker = { ...asked, name: "waker", agent: "waker", paused: true };
  expect((await service.client.call("POST", "/automations", waker)).status).toBe(201);
});
beforeEach(async () => {
  client = await newAccount(service);
  await client.createAgent("ada");
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

const yearly = { type: "schedule", cron: "0 0 1 1 *", timeZone: "UTC" };
const asked = { name: "check", agent: "ada", message: "hello", trigger: yearly };
const patient = { timeout: 10_000, interval: 20 };

const create = (fields: object = {}): Promise<Answer> => client.call("POST", "/automations", { ...asked, ...fields });
const run = (name = "check") => client.call("POST", `/automations/${name}/run`);
const get = async (name = "check"): Promise<Automation> => (await client.call("GET", `/automations/${name}`)).body;

async function made(fields: object = {}): Promise<Automation> {
  const { status, body } = await create(fields);
  expect([status, body]).toEqual([201, body]);
  return body;
}

async function runs(name = "check"): Promise<AutomationRun[]> {
  const { status, body } = await client.call("GET", `/automations/${name}/runs?limit=100`);
  expect([status, body]).toEqual([200, body]);
  return body.data;
}

/** The automation's runs, newest first, once all have ended, at least so many. */
async function ended(count = 1, name = "check"): Promise<AutomationRun[]> {
  const open = async () => {
    const found = await runs(name);
    const isOver = found.every(({ finishedAt }) => finishedAt !== null);
    return isOver ? found.length : `${found.length} runs, some open`;
  };
  await expect.poll(open, patient).toBe(count);
  return runs(name);
}

/** Lets the automation's time come, so long ago, as if the server had slept until now. */
async function comes(agoMs = 0, name = "check"): Promise<void> {
  const { id } = (await client.call("GET", "/account")).body;
  const then = sql`now() - ${agoMs}::float8 * interval '1 millisecond'`;
  await sql`
    update automations set next_run_at = ${then}, next_base_at = ${then}
    where name = ${name} and account_id = ${id}`.execute(database);
  await wake();
}

/** Any change of an automation wakes the scheduler. */
async function wake(): Promise<void> {
  expect((await service.client.call("POST", "/automations/waker/pause")).status).toBe(200);
}

/** The server stops, and another one continues. */
async function restart(): Promise<void> {
  await service.restart();
  client = new TestClient(service.server.url, client.key);
}

describe("the record", () => {
  test("has its defaults, its next time and its maker", async () => {
    const automation = await made();
    expect(automation).toMatchObject({
      ...asked,
      from: null,
      hook: null,
      conversation: "new",
      overlap: "skip",
      missed: "once",
      maxCredits: null,
      timeout: 60,
      keep: 0,
      paused: false,
      pausedReason: null,
      lastRun: null,
      createdBy: { kind: "key" },
    });
    expect(automation.nextRunAt).toMatch(/^\d{4}-01-01T00:00:00\.000Z$/);
    expect({ ...(await get()), secret: null }).toEqual(automation);
  });

  test("is listed by name in pages, also of one agent alone", async () => {
    await client.createAgent("bea");
    for (const name of ["c", "a", "b-2"]) await made({ name, agent: name === "a" ? "bea" : "ada" });
    const names: string[] = [];
    for (let cursor = ""; ; ) {
      const { body } = await client.call("GET", `/automations?limit=1${cursor}`);
      names.push(...body.data.map(({ name }: Automation) => name));
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    expect(names).toEqual(["a", "b-2", "c"]);
    expect((await client.call("GET", "/automations?agent=bea")).body.data).toMatchObject([{ name: "a" }]);
    expect((await client.call("GET", "/automations?cursor=e30")).status).toBe(400);
  });

  test("is refused with what is wrong", async () => {
    const refused: [object, string][] = [
      [{ name: "-a" }, "An automation's name has"],
      [{ name: "A" }, "An automation's name has"],
      [{ agent: undefined }, "Exactly one of agent, from is required."],
      [{ from: { agent: "ada" } }, "Exactly one of agent, from is required."],
      [{ message: "" }, "A message must not be empty."],
      [{ trigger: { type: "event" } }, "schedule and hook are allowed"],
      [{ trigger: { type: "schedule" } }, "Exactly one of cron, at is required."],
      [{ trigger: { ...yearly, at: "2100-01-01T00:00:00Z" } }, "Exactly one of cron, at is required."],
      [{ trigger: { type: "schedule", cron: "0 0 * * *" } }, "timeZone is required with cron"],
      [{ trigger: { ...yearly, cron: "0 0 0 * * *" } }, "has 6 fields"],
      [{ trigger: { ...yearly, cron: "0 0 30 2 *" } }, "never happens"],
      [{ trigger: { ...yearly, timeZone: "Mars/Olympus" } }, "IANA"],
      [{ trigger: { ...yearly, cron: "* * * * *", jitter: 60 } }, "less than the time between two runs"],
      [{ trigger: { type: "schedule", at: "2020-01-01T00:00:00Z" } }, "has passed"],
      [{ trigger: { type: "schedule", at: "tomorrow" } }, "ISO 8601"],
      [{ overlap: "all" }, "overlap"],
      [{ timeout: 0 }, "timeout"],
      [{ keep: 200 }, "keep"],
      [{ maxCredits: "0" }, "maxCredits must be more than 0."],
      [{ webhook: 1 }, "webhook"],
    ];
    for (const [fields, message] of refused) {
      const { status, body } = await create(fields);
      expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
    }
    expect(await create({ agent: "nobody" })).toMatchObject({ status: 404, body: { code: "agent_not_found" } });
    expect(await create({ agent: undefined, from: { agent: "ada", snapshot: "none" } })).toMatchObject({
      status: 404,
      body: { code: "snapshot_not_found" },
    });
    await made();
    expect(await create()).toMatchObject({ status: 409, body: { code: "automation_exists" } });
    expect(await client.call("GET", "/automations/other")).toMatchObject({
      status: 404,
      body: { code: "automation_not_found" },
    });
  });

  test("is changed from its next run on, and its next time with its trigger", async () => {
    await made();
    const change = (body: object) => client.call("PATCH", "/automations/check", body);
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const { body } = await change({ message: "other", trigger: { type: "schedule", at }, timeout: 5, keep: 1 });
    expect(body).toMatchObject({ message: "other", nextRunAt: at, timeout: 5, keep: 1, overlap: "skip" });
    expect((await change({})).status).toBe(400);
    expect((await change({ name: "new" })).status).toBe(400);
    expect((await change({ agent: "ada", from: { agent: "ada" } })).status).toBe(400);
    expect((await change({ from: { agent: "ada" } })).body).toMatchObject({
      agent: null,
      from: { agent: "ada", secrets: false },
    });
  });

  test("is one of few in an account", async () => {
    await using small = await ScriptedService.start({ maximumAutomationsPerAccount: 1 });
    await small.client.createAgent("ada");
    expect((await small.client.call("POST", "/automations", asked)).status).toBe(201);
    expect(await small.client.call("POST", "/automations", { ...asked, name: "more" })).toMatchObject({
      status: 409,
      body: { code: "too_many_automations" },
    });
    expect((await small.client.call("DELETE", "/automations/check")).status).toBe(204);
    expect((await small.client.call("POST", "/automations", { ...asked, name: "more" })).status).toBe(201);
  });

  test("is created once by a repeated request, and so is a run", async () => {
    const key = { "idempotency-key": "once" };
    const first = await client.call("POST", "/automations", asked, key);
    expect((await client.call("POST", "/automations", asked, key)).body).toEqual(first.body);
    const runOnce = () => client.call("POST", "/automations/check/run", undefined, { "idempotency-key": "run" });
    const [one, other] = [await runOnce(), await runOnce()];
    expect([one.status, other.body.id]).toEqual([201, one.body.id]);
    expect(await ended(1)).toHaveLength(1);
  });

  test("of another account does not exist, and external keys are refused", async () => {
    await made();
    const stranger = await newAccount(service);
    for (const [method, path] of [
      ["GET", ""],
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/run"],
      ["POST", "/pause"],
      ["POST", "/resume"],
      ["GET", "/runs"],
    ] as const) {
      const body = method === "PATCH" ? { message: "x" } : undefined;
      const answer = await stranger.call(method, `/automations/check${path}`, body);
      expect([method, path, answer.body.code]).toEqual([method, path, "automation_not_found"]);
    }
    expect((await stranger.call("GET", "/automations")).body.data).toEqual([]);
    const key = await newKey(client, { kind: "agent", agents: ["ada"] });
    expect((await key.call("GET", "/automations")).status).toBe(403);
  });
});

describe("a run", () => {
  test("sends the message in a conversation of its own, and keeps what came of it", async () => {
    await made({ message: "count 3" });
    const { status, body } = await run();
    expect([status, body]).toMatchObject([201, { trigger: "manual", message: "count 3" }]);
    const [done] = (await ended()) as [AutomationRun];
    expect(done).toMatchObject({
      id: body.id,
      status: "completed",
      reason: null,
      agent: "ada",
      turnId: body.id,
      reply: "1 2 3 ",
      replyTruncated: false,
      credits: "0",
      finishedAt: expect.any(String),
    });
    const turn = (await client.call("GET", `/agents/ada/turns/${done.turnId}`)).body;
    expect(turn).toMatchObject({ message: "count 3", status: "completed", conversation: done.conversation });
    expect(done.conversation).not.toBe((await client.call("GET", "/agents/ada")).body.conversation);
    const conversation = (await client.call("GET", `/agents/ada/conversations/${done.conversation}`)).body;
    expect(conversation.title).toMatch(/^check \d{4}-\d\d-\d\d \d\d:\d\d$/);
    expect((await get()).lastRun).toMatchObject({ id: done.id, status: "completed" });
    await client.call("DELETE", "/agents/ada");
    expect(await runs()).toEqual([done]);
  });

  test("continues the conversation of the runs before, and begins another if that is deleted", async () => {
    await made({ message: "recall", conversation: "continue" });
    for (let count = 1; count <= 2; count++) {
      await run();
      await ended(count);
    }
    const [second, first] = (await runs()) as [AutomationRun, AutomationRun];
    expect([second.conversation, second.reply]).toEqual([first.conversation, "recall\nrecall\n"]);
    expect((await client.call("DELETE", `/agents/ada/conversations/${first.conversation}`)).status).toBe(204);
    await run();
    const [third] = (await ended(3)) as [AutomationRun];
    expect(third.conversation).not.toBe(first.conversation);
    expect(third.reply).toBe("recall\n");
  });

  test("begins at its time, on an agent that was asleep", async () => {
    await client.call("POST", "/agents/ada/suspend");
    const at = new Date(Date.now() + 1_500).toISOString();
    await made({ trigger: { type: "schedule", at } });
    const [done] = (await ended()) as [AutomationRun];
    expect(done).toMatchObject({ trigger: "schedule", status: "completed", dueAt: at, reply: "hello" });
    expect(Date.parse(done.startedAt!)).toBeGreaterThanOrEqual(Date.parse(at));
    expect(await get()).toMatchObject({ nextRunAt: null, paused: false });
  });

  test("waits behind the agent's other turns", async () => {
    await made();
    const busy = await client.fetch("POST", "/agents/ada/chat", { message: "hang" });
    await run();
    await expect.poll(async () => (await client.call("GET", "/agents/ada/queue")).body.data.length).toBe(1);
    expect(await runs()).toMatchObject([{ status: "queued", startedAt: null, turnId: null }]);
    await client.call("POST", `/agents/ada/turns/${busy.headers.get("x-turn-id")}/cancel`);
    await busy.text();
    await client.call("POST", "/agents/ada/queue", { action: "resume" });
    expect(await ended()).toMatchObject([{ status: "completed", reply: "hello" }]);
  });

  test("of a busy agent, and one that takes too long, fail at their timeout", async () => {
    await client.createAgent("bea");
    await made({ timeout: 1 });
    await made({ name: "long", agent: "bea", message: "hang", timeout: 1 });
    const busy = await client.fetch("POST", "/agents/ada/chat", { message: "hang" });
    await run();
    await run("long");
    await expect.poll(async () => (await runs("long"))[0]!.status).toBe("running");
    await expect.poll(async () => (await client.call("GET", "/agents/ada/queue")).body.data.length).toBe(1);
    // As after a minute: the server reads it when it takes up the runs.
    await sql`update automation_runs set deadline_at = now() where finished_at is null`.execute(database);
    await restart();
    for (const name of ["check", "long"]) {
      expect(await ended(1, name)).toMatchObject([
        {
          status: "failed",
          reason: { code: "timeout", message: "The run had not ended within its timeout of 1 min." },
        },
      ]);
    }
    expect((await client.call("GET", "/agents/ada/queue")).body.data).toEqual([]);
    await busy.text().catch(() => {});
  });

  test("that its turn's canceller ends is cancelled and is no failure", async () => {
    await made({ message: "hang" });
    const { body } = await run();
    await expect.poll(async () => (await runs())[0]!.status, patient).toBe("running");
    await client.call("POST", `/agents/ada/turns/${body.id}/cancel`);
    expect(await ended()).toMatchObject([{ status: "cancelled", reason: { code: "cancelled" } }]);
  });

  test("fails without credits, and beyond the credits of one run", async () => {
    const account = (await client.call("GET", "/account")).body.id;
    await made({ maxCredits: "1.5" });
    await run();
    const [{ turnId }] = (await ended()) as [AutomationRun];
    const { rows } = await sql<{ limits: object }>`select limits from turns where id = ${turnId}`.execute(database);
    expect(rows[0]!.limits).toEqual({ maxCredits: "1.5" });
    await sql`update accounts set balance = -1 where id = ${account}`.execute(database);
    await run();
    expect(await ended(2)).toMatchObject([{ status: "failed", reason: { code: "insufficient_credits" } }, {}]);
  });

  test("denies tools that the agent would ask about", async () => {
    await client.call("PATCH", "/agents/ada", { permissions: { execute: "ask" } });
    await made({ message: "use execute make" });
    await run();
    expect(await ended()).toMatchObject([{ status: "completed", reply: "not used" }]);
  });
});

describe("three failed runs in a row", () => {
  test("pause the automation, which says why and can be resumed", async () => {
    await made({ message: "crash" });
    for (let count = 1; count <= 3; count++) {
      expect((await get()).paused).toBe(false);
      await run();
      await ended(count);
    }
    expect(await get()).toMatchObject({
      paused: true,
      pausedReason: { code: "failures", message: "3 runs in a row failed." },
      nextRunAt: null,
      lastRun: { status: "failed" },
    });
    const { body } = await client.call("POST", "/automations/check/resume");
    expect(body).toMatchObject({ paused: false, pausedReason: null, nextRunAt: expect.any(String) });
    await run();
    await ended(4);
    expect((await get()).paused).toBe(false);
  });

  test("count neither skipped nor completed ones", async () => {
    await made({ message: "crash" });
    for (const [count, message] of ["crash", "crash", "hello", "crash", "crash"].entries()) {
      await client.call("PATCH", "/automations/check", { message });
      await run();
      await ended(count + 1);
    }
    expect((await get()).paused).toBe(false);
  });
});

describe("a run that is due while another has not ended", () => {
  const hang = async (fields: object) => {
    await made({ message: "hang", ...fields });
    await run();
    await expect.poll(async () => (await runs())[0]!.status, patient).toBe("running");
    await client.call("PATCH", "/automations/check", { message: "hello" });
  };
  const cancel = async () => {
    const hanging = (await runs()).find(({ status }) => status === "running")!;
    await client.call("POST", `/agents/ada/turns/${hanging.turnId}/cancel`);
  };
  const statuses = async () => (await runs()).map(({ status }) => status);

  test("is skipped", async () => {
    await hang({});
    expect(await run()).toMatchObject({ status: 409, body: { code: "run_in_progress" } });
    await comes();
    await expect.poll(statuses, patient).toEqual(["skipped", "running"]);
    expect((await runs())[0]).toMatchObject({ reason: { code: "overlap" }, turnId: null, agent: null });
    await cancel();
    await ended(2);
  });

  test("waits with `queue`, up to ten of them, in order", async () => {
    await hang({ overlap: "queue" });
    for (let count = 0; count < 10; count++) expect((await run()).status).toBe(201);
    expect((await run()).body.code).toBe("run_in_progress");
    await comes();
    await expect
      .poll(async () => (await runs())[0])
      .toMatchObject({ status: "skipped", reason: { code: "queue_full" } });
    await cancel();
    const all = await ended(12);
    expect(all.map(({ status }) => status).toSpliced(0, 1)).toEqual([...Array(10).fill("completed"), "cancelled"]);
    const begun = all.slice(1).map(({ startedAt }) => startedAt!);
    expect(begun.toSorted().toReversed()).toEqual(begun);
  });

  test("cancels the earlier one with `cancel-previous`, which is no failure", async () => {
    await hang({ overlap: "cancel-previous" });
    await comes();
    expect(await ended(2)).toMatchObject([
      { status: "completed", reply: "hello" },
      { status: "replaced", reason: { code: "replaced" } },
    ]);
  });
});

describe("times that no server ran at", () => {
  test.each([
    ["once", 3_600_000, "completed"],
    ["once", 90_000_000, "skipped"],
    ["skip", 3_600_000, "skipped"],
    ["skip", 1_000, "completed"],
  ])("%s, %d ms ago: %s", async (missed, agoMs, status) => {
    await made({ missed });
    await comes(agoMs);
    const [done] = (await ended()) as [AutomationRun];
    expect(done.status).toBe(status);
    if (status === "skipped") expect(done.reason!.code).toBe("missed");
    expect((await get()).nextRunAt).toMatch(/-01-01T00:00:00\.000Z$/);
  });

  test("that began more than a day ago run once for those of the last day", async () => {
    await made({ trigger: { type: "schedule", cron: "0 * * * *", timeZone: "UTC" } });
    await comes(90_000_000);
    const done = (await ended(2)) as AutomationRun[];
    expect(done.map(({ status, reason }) => [status, reason?.code ?? null])).toEqual([
      ["completed", null],
      ["skipped", "missed"],
    ]);
  });

  test("in a time zone that does not exist any more run once, and keep no other from running", async () => {
    await made({ name: "gone" });
    await made();
    await sql`
      update automations set trigger = trigger || '{"timeZone": "Mars/Olympus"}' where name = 'gone'`.execute(database);
    await comes(1_000, "gone");
    await comes(500);
    for (const name of ["gone", "check"]) expect(await ended(1, name)).toMatchObject([{ status: "completed" }]);
    expect(await get("gone")).toMatchObject({ nextRunAt: null, paused: false });
  });

  test("computed with a clock that was wrong are computed again", async () => {
    await made();
    const { nextRunAt } = await get();
    await sql`
      update automations set scheduled_at = now() + interval '1 year', next_run_at = next_run_at + interval '1 year',
        next_base_at = next_base_at + interval '1 year' where next_run_at is not null`.execute(database);
    await restart();
    await expect.poll(async () => (await get()).nextRunAt, patient).toBe(nextRunAt);
    expect(await runs()).toEqual([]);
  });
});

describe("a pause", () => {
  test("leaves out all times until the automation is resumed, but runs on request", async () => {
    await made({ paused: true });
    expect(await get()).toMatchObject({ paused: true, nextRunAt: null, pausedReason: null });
    await run();
    expect(await ended()).toMatchObject([{ status: "completed" }]);
    const resumed = (await client.call("POST", "/automations/check/resume")).body;
    expect(resumed).toMatchObject({ paused: false, nextRunAt: expect.any(String) });
    expect((await client.call("POST", "/automations/check/pause")).body).toMatchObject({
      paused: true,
      nextRunAt: null,
    });
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const changed = await client.call("PATCH", "/automations/check", { trigger: { type: "schedule", at } });
    expect(changed.body).toMatchObject({ paused: true, nextRunAt: null });
    expect((await client.call("POST", "/automations/check/resume")).body.nextRunAt).toBe(at);
  });

  test("follows the deletion of the agent, until the automation has another", async () => {
    await made();
    await client.call("DELETE", "/agents/ada");
    expect(await get()).toMatchObject({
      agent: null,
      paused: true,
      pausedReason: { code: "agent_deleted", message: "The agent ada was deleted." },
    });
    expect((await client.call("POST", "/automations/check/resume")).body.message).toContain("agent was deleted");
    expect((await run()).body.message).toContain("agent was deleted");
    await client.createAgent("bea");
    await client.call("PATCH", "/automations/check", { agent: "bea" });
    expect((await client.call("POST", "/automations/check/resume")).body).toMatchObject({
      agent: "bea",
      paused: false,
    });
  });
});

describe("with `from`, a run", () => {
  const from = { agent: undefined, from: { agent: "ada" } };
  const agents = async () => (await client.call("GET", "/agents")).body.data.map(({ name }: { name: string }) => name);

  test("has an agent of its own, which knows what its source did, and is deleted", async () => {
    await client.ask("ada", "before");
    await made({ ...from, message: "recall", conversation: "continue" });
    await run();
    const [done] = (await ended()) as [AutomationRun];
    expect(done).toMatchObject({ status: "completed", reply: "before\nrecall\n" });
    expect(done.agent).toMatch(/^check-[0-9a-f]{8}$/);
    await expect.poll(agents, patient).toEqual(["ada"]);
    expect(await get()).toMatchObject({ agent: null, from: { agent: "ada" } });
  });

  test("begins with a snapshot and an empty conversation, and its agent is kept for hours", async () => {
    await client.ask("ada", "before");
    await client.call("POST", "/agents/ada/snapshots", { name: "first" });
    await client.ask("ada", "after");
    await made({ from: { agent: "ada", snapshot: "first" }, agent: undefined, message: "recall", keep: 2 });
    await run();
    const [done] = (await ended()) as [AutomationRun];
    expect(done).toMatchObject({ status: "completed", reply: "recall\n" });
    expect(await agents()).toEqual(["ada", done.agent]);
    await sql`update automation_runs set agent_until = now() where id = ${done.id}`.execute(database);
    await wake();
    await expect.poll(agents, patient).toEqual(["ada"]);
  });

  test("fails if its source cannot be forked, and leaves no agent behind", async () => {
    await client.call("POST", "/agents/ada/snapshots", { name: "first" });
    await made({ from: { agent: "ada", snapshot: "first" }, agent: undefined });
    await client.call("DELETE", "/agents/ada/snapshots/first");
    await run();
    expect(await ended()).toMatchObject([{ status: "failed", reason: { code: "snapshot_not_found" }, agent: null }]);
    expect(await agents()).toEqual(["ada"]);
  });

  test("and its automation are deleted with their agent while it runs", async () => {
    await made({ ...from, message: "hang" });
    await run();
    await expect.poll(async () => (await runs())[0]!.status, patient).toBe("running");
    expect((await client.call("DELETE", "/automations/check")).status).toBe(204);
    expect((await client.call("GET", "/automations/check")).status).toBe(404);
    await made();
    await expect.poll(agents, patient).toEqual(["ada"]);
    const left = () => sql`select from automations where deleted_at is not null`.execute(database);
    await expect.poll(async () => (await left()).rows.length, patient).toBe(0);
  });
});

describe("without a free slot, a run", () => {
  test("waits longer than a turn would, and begins when a slot is free", async () => {
    await using small = await ScriptedService.start({ maximumAwake: 1, waitMs: 100 });
    await small.client.createAgent("bea");
    expect((await small.client.call("POST", "/agents/bea/suspend")).status).toBe(200);
    await small.client.createAgent("ada");
    const busy = await small.client.fetch("POST", "/agents/ada/chat", { message: "hang" });
    expect(busy.status).toBe(200);
    const bea = { ...asked, agent: "bea" };
    for (const name of ["check", "late"]) await small.client.call("POST", "/automations", { ...bea, name });
    const started = await small.client.call("POST", "/automations/check/run");
    const list = async (name: string) => (await small.client.call("GET", `/automations/${name}/runs`)).body.data;
    await using rows = await databaseOf(small);
    await small.client.call("POST", "/automations/late/run");
    await sql`
      update automation_runs set deadline_at = clock_timestamp() + interval '2 seconds' where id <> ${started.body.id}`.execute(
      rows,
    );
    await small.restart();
    const late = {
      status: "failed",
      reason: { code: "timeout", message: expect.stringContaining("It waited: No machine slot") },
    };
    await expect.poll(() => list("late"), patient).toMatchObject([late]);
    expect(await list("check")).toMatchObject([{ status: "queued" }]);
    await small.client.call("POST", `/agents/ada/turns/${busy.headers.get("x-turn-id")}/cancel`);
    await expect.poll(() => list("check"), { ...patient, timeout: 20_000 }).toMatchObject([{ status: "completed" }]);
    await busy.text().catch(() => {});
  });
});

test("events say what came of runs", async () => {
  await made();
  const { body } = await run();
  await ended();
  await client.call("PATCH", "/automations/check", { message: "crash" });
  await run();
  const [second] = (await ended(2)) as [AutomationRun];
  await client.call("POST", "/automations/check/pause");
  const { rows } = await sql<{ event: { type: string } }>`
    select event from account_events where event ->> 'automation' is not null
      and account_id = ${(await client.call("GET", "/account")).body.id} order by id`.execute(database);
  const of = { automation: "check", agent: "ada" };
  expect(rows.map(({ event }) => event)).toEqual([
    { type: "run.completed", ...of, runId: body.id, turnId: body.id },
    { type: "run.failed", ...of, runId: second.id, turnId: second.id, reason: second.reason },
    { type: "automation.paused", ...of, reason: null },
  ]);
});
