import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HookDelivery } from "../../src/contract/automation-hooks.ts";
import type { AutomationRun } from "../../src/contract/automations.ts";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf } from "../support/accounts.ts";
import { github, send } from "../support/hook-senders.ts";
import { KillableService } from "../support/killable-service.ts";

// A server that is killed between any two steps of a delivery. The sender repeats it, and it has exactly one run.

let service: KillableService;
let database: Database;

beforeAll(async () => {
  service = await KillableService.start();
  database = await databaseOf(service);
  await service.client.createAgent("ada");
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

const patient = { timeout: 30_000 };

async function list<Row>(name: string, path: string): Promise<Row[]> {
  return (await service.client.call("GET", `/automations/${name}/${path}`)).body.data;
}

test("a delivery", { timeout: 1_200_000 }, async () => {
  for (let step = 1; ; step++) {
    const name = `hook-${step}`;
    const trigger = { type: "hook", verify: "github" };
    const asked = { name, agent: "ada", message: `message of ${name}.`, trigger };
    const { status, body } = await service.client.call("POST", "/automations", asked);
    expect([status, body]).toEqual([201, body]);
    const deliver = async () => {
      const url = service.client.url + new URL(body.hook.url).pathname;
      return send(url, github(body.secret, "push", "the-delivery", { ref: "main" }));
    };
    const isOver = async () => (await list<AutomationRun>(name, "runs"))[0]?.finishedAt != null;
    const outcome = await service.untilStep(step, async () => {
      expect((await deliver()).status).toBe(202);
      await expect.poll(isOver, patient).toBe(true);
    });
    if (outcome === "died") await service.startServer();
    const { runId } = (await deliver()).body;
    await expect.poll(isOver, patient).toBe(true);
    const runs = await list<AutomationRun>(name, "runs");
    expect(runs).toMatchObject([{ id: runId, status: "completed", reply: `message of ${name}.`, trigger: "hook" }]);
    expect(await list<HookDelivery>(name, "deliveries")).toMatchObject([{ verdict: "run", runId }]);
    const { rows } = await sql`select from turns where message = ${`message of ${name}.`}`.execute(database);
    expect(rows).toHaveLength(1);
    expect((await service.client.call("DELETE", `/automations/${name}`)).status).toBe(204);
    if (outcome !== "died") return expect(step).toBeGreaterThan(5);
  }
});
