import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Automation } from "../../src/contract/automations.ts";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import { importArchive } from "../support/archives.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// An agent that schedules messages to itself, as a tool of its turn.

let service: ScriptedService;
let database: Database;
let client: TestClient;

beforeAll(async () => {
  service = await ScriptedService.start();
  database = await databaseOf(service);
});
/** Each test has an account of its own, with an agent `ada` that may have two schedules. */
beforeEach(async () => {
  client = await newAccount(service);
  await client.createAgent("ada", { schedules: { max: 2, everyMinutes: 30 } });
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

const own = (tool: string, asked: object = {}) => client.ask("ada", `own ${tool} ${JSON.stringify(asked)}`);
const schedule = (asked: object = {}) => own("schedule", { message: "hello later", inMinutes: 60, ...asked });
const daily = { inMinutes: undefined, cron: "0 9 * * *", timeZone: "Europe/Berlin" };

async function automations(): Promise<Automation[]> {
  return (await client.call("GET", "/automations")).body.data;
}

/** Lets the time of all automations of the account come. */
async function comes(): Promise<void> {
  const { id } = (await client.call("GET", "/account")).body;
  await sql`update automations set next_run_at = now(), next_base_at = now() where account_id = ${id}`.execute(
    database,
  );
  const [first] = await automations();
  await client.call("PATCH", `/automations/${first!.name}`, { timeout: 61 });
}

test("it is off by default, and has its limits", async () => {
  const { body: usual } = await client.createAgent("bob");
  expect(usual.schedules).toBeNull();
  const { body: agent } = await client.call("GET", "/agents/ada");
  expect(agent.schedules).toEqual({ max: 2, everyMinutes: 30, maxCredits: "10" });
  const { status, body } = await client.call("PATCH", "/agents/ada", { schedules: { max: 21 } });
  expect([status, body.code]).toEqual([400, "request_invalid"]);
  await client.call("PATCH", "/agents/ada", { schedules: null });
  expect((await client.call("POST", "/agents/ada/chat", { message: "own schedule {}" })).body).toBeDefined();
  expect(await automations()).toEqual([]);
});

test("a reminder continues the conversation in which it was made, and is shown as made by the agent", async () => {
  const { name, nextRunAt } = JSON.parse(await schedule({ message: "recall" }));
  const [made] = await automations();
  expect(made).toMatchObject({
    ...{ name, nextRunAt, agent: "ada", message: "recall", conversation: "continue" },
    ...{ byAgent: true, maxCredits: "10", createdBy: { kind: "key" } },
  });
  const minutes = (Date.parse(nextRunAt) - Date.now()) / 60_000;
  expect(minutes).toBeGreaterThan(59);
  expect(minutes).toBeLessThan(61);
  await comes();
  const runs = async () => (await client.call("GET", `/automations/${name}/runs`)).body.data;
  await expect.poll(runs).toMatchObject([{ status: "completed", conversation: 1 }]);
  expect((await runs())[0].reply).toContain("own schedule");
  expect(JSON.parse(await own("list_schedules")).schedules).toMatchObject([{ name, nextRunAt: null }]);
});

test("a repeated one is listed with its line, and cancelled", async () => {
  const { name } = JSON.parse(await schedule(daily));
  const { now, schedules } = JSON.parse(await own("list_schedules"));
  expect(Date.parse(now)).toBeGreaterThan(Date.now() - 60_000);
  expect(schedules).toMatchObject([{ name, cron: "0 9 * * *", timeZone: "Europe/Berlin", message: "hello later" }]);
  expect(await own("cancel_schedule", { name: "ada-nothing" })).toMatch(
    `automation_not_found: There is no schedule ada-nothing of this agent. There are: ${name}.`,
  );
  expect(await own("cancel_schedule", { name })).toBe(`Cancelled ${name}.`);
  expect(await automations()).toEqual([]);
});

test("it cancels no automation that a person made", async () => {
  const trigger = { type: "schedule", cron: "0 3 * * *", timeZone: "UTC" };
  const asked = { name: "nightly", agent: "ada", message: "hello", trigger };
  expect((await client.call("POST", "/automations", asked)).status).toBe(201);
  expect(await own("cancel_schedule", { name: "nightly" })).toMatch(/^automation_not_found/);
  expect(JSON.parse(await own("list_schedules")).schedules).toEqual([]);
  expect(await automations()).toHaveLength(1);
});

test("their number is limited; ended ones make room", async () => {
  await schedule();
  await schedule();
  expect(await schedule()).toBe(
    "scheduling_refused: This agent can have up to 2 schedules at a time. Cancel one first.",
  );
  await comes();
  await expect
    .poll(async () => (await automations()).map(({ lastRun }) => lastRun?.status))
    .toEqual(["completed", "completed"]);
  expect(JSON.parse(await schedule()).name).toMatch(/^ada-/);
});

test("times that are too close, have passed or never come are refused, with the reason", async () => {
  expect(await schedule({ ...daily, cron: "*/15 * * * *" })).toMatch(/less than 30 minutes apart/);
  expect(await schedule({ ...daily, cron: "0 0 30 2 *" })).toMatch(/never happens/);
  expect(await schedule({ ...daily, timeZone: undefined })).toMatch(/timeZone is required with cron/);
  expect(await schedule({ inMinutes: undefined, at: "2020-01-31T12:00:00Z" })).toMatch(/this time has passed/);
  expect(await schedule({ at: "2040-01-31T12:00:00Z" })).toMatch(/Exactly one of inMinutes, at, cron/);
  expect(await automations()).toEqual([]);
});

test("a scheduled turn makes no chain that is faster than the limit, and may cancel itself", async () => {
  const again = (inMinutes: number) => `own schedule {"message":"hello","inMinutes":${inMinutes}}`;
  const { name } = JSON.parse(await schedule({ ...daily, message: again(1) }));
  await comes();
  const reply = async () => (await client.call("GET", `/automations/${name}/runs`)).body.data[0]?.reply;
  await expect.poll(reply).toMatch("A scheduled turn can schedule another one 30 minutes later at the earliest.");
  await client.call("PATCH", `/automations/${name}`, { message: `own cancel_schedule {"name":"${name}"}` });
  await comes();
  await expect.poll(reply).toBe(`Cancelled ${name}.`);
  expect(await automations()).toMatchObject([{ name, nextRunAt: null, lastRun: { status: "completed" } }]);
});

test("a message of an external agent key causes no schedule", async () => {
  const key = await newKey(client, { kind: "agent", agents: ["ada"], creditLimit: "1" });
  const reply = await key.ask("ada", 'own schedule {"message":"hello","inMinutes":60}');
  expect(reply).toBe("scheduling_refused: A message of an external agent key cannot cause schedules.");
  expect(await automations()).toEqual([]);
});

test("its schedules go with it, and those that people made for it do not", async () => {
  await schedule();
  const trigger = { type: "schedule", cron: "0 3 * * *", timeZone: "UTC" };
  await client.call("POST", "/automations", { name: "nightly", agent: "ada", message: "hello", trigger });
  expect((await client.call("DELETE", "/agents/ada")).status).toBe(204);
  expect(await automations()).toMatchObject([{ name: "nightly", pausedReason: { code: "agent_deleted" } }]);
});

test("forks and archives keep the setting, and not the schedules", async () => {
  await schedule();
  const { body } = await client.createAgent("eve", { from: { agent: "ada" } });
  expect(body.schedules).toEqual({ max: 2, everyMinutes: 30, maxCredits: "10" });
  expect(JSON.parse(await client.ask("eve", "own list_schedules")).schedules).toEqual([]);
  const archive = Buffer.from(await (await client.fetch("GET", "/agents/ada/export")).arrayBuffer());
  const imported = await importArchive(client, archive, { query: "?name=ian" });
  expect([imported.status, imported.body.agent.schedules]).toEqual([
    201,
    { max: 2, everyMinutes: 30, maxCredits: "10" },
  ]);
});
