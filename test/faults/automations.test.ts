import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AutomationRun } from "../../src/contract/automations.ts";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { KillableService } from "../support/killable-service.ts";

// A server that is killed between any two steps of an automation's run. The next one finishes it: the agent has got the
// message exactly once.

let service: KillableService;
let client: TestClient;
let database: Database;

beforeAll(async () => {
  service = await KillableService.start();
  client = service.client;
  database = await databaseOf(service);
  await client.createAgent("ada");
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

const trigger = { type: "schedule", cron: "0 0 1 1 *", timeZone: "UTC" };
const patient = { timeout: 30_000 };

async function runsOf(name: string): Promise<AutomationRun[]> {
  const { status, body } = await client.call("GET", `/automations/${name}/runs`);
  expect([status, body]).toEqual([200, body]);
  return body.data;
}

const turnsOf = async (message: string) => {
  const { rows } = await sql<{ id: string }>`select id from turns where message = ${message}`.execute(database);
  return rows.map(({ id }) => id);
};

/** Lets the automation's time come, and has the server look. */
async function comes(name: string): Promise<void> {
  await sql`update automations set next_run_at = now(), next_base_at = now() where name = ${name}`.execute(database);
  await client.call("PATCH", `/automations/${name}`, { overlap: "skip" });
}

/** Kills the server at each step of the run, one after the other. Returns the number of steps. */
async function killAtEachStep(prefix: string, fields: object, done: (name: string) => Promise<void>): Promise<number> {
  for (let step = 1; ; step++) {
    const name = `${prefix}-${step}`;
    const asked = { name, message: `message of ${name}`, trigger, ...fields };
    expect((await client.call("POST", "/automations", asked)).status).toBe(201);
    const isOver = async () => (await runsOf(name))[0]?.finishedAt != null;
    const outcome = await service.untilStep(step, async () => {
      await comes(name);
      await expect.poll(isOver, patient).toBe(true);
    });
    if (outcome === "died") {
      await service.startServer();
      await expect.poll(isOver, patient).toBe(true);
    }
    await done(name);
    expect((await client.call("DELETE", `/automations/${name}`)).status).toBe(204);
    if (outcome !== "died") return step;
  }
}

test("a run continues while the database is killed", async () => {
  const name = "away";
  await client.call("POST", "/automations", { name, agent: "ada", message: "count 40 50", trigger });
  expect((await client.call("POST", `/automations/${name}/run`)).status).toBe(201);
  await expect.poll(async () => (await runsOf(name))[0]!.status, patient).toBe("running");
  await service.killDatabase();
  const isOver = async () => (await client.call("GET", `/automations/${name}/runs`)).body.data?.[0]?.status;
  await expect.poll(isOver, patient).toBe("completed");
  expect((await runsOf(name))[0]!.reply.trim().split(" ")).toHaveLength(40);
  expect((await client.call("DELETE", `/automations/${name}`)).status).toBe(204);
});

test("a run on an agent", { timeout: 1_200_000 }, async () => {
  const steps = await killAtEachStep("own", { agent: "ada" }, async (name) => {
    const runs = await runsOf(name);
    expect(runs).toMatchObject([{ status: "completed", reply: `message of ${name}`, turnId: runs[0]!.id }]);
    expect(await turnsOf(`message of ${name}`)).toEqual([runs[0]!.id]);
  });
  expect(steps).toBeGreaterThan(5);
});

test("a run on an agent of its own, which is deleted", { timeout: 1_200_000 }, async () => {
  const steps = await killAtEachStep("fresh", { from: { agent: "ada" } }, async (name) => {
    const agents = async () =>
      (await client.call("GET", "/agents")).body.data.map((agent: { name: string }) => agent.name);
    const runs = await runsOf(name);
    expect(runs).toMatchObject([{ status: "completed", reply: `message of ${name}` }]);
    await expect.poll(agents, patient).toEqual(["ada"]);
  });
  expect(steps).toBeGreaterThan(8);
});
