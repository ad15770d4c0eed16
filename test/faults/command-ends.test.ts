import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf } from "../support/accounts.ts";
import { KillableService } from "../support/killable-service.ts";
import { killEachStep } from "../support/killed-steps.ts";

// A server that is killed between any two steps of a command. Its end is reported once.

let service: KillableService;
let database: Database;

beforeAll(async () => {
  service = await KillableService.start();
  database = await databaseOf(service);
  await service.client.createAgent("ada");
});
afterAll(async () => {
  await database?.destroy();
  await service?.[Symbol.asyncDispose]();
});

async function ends(): Promise<{ commandId: string; exitCode: number | null; lost: boolean }[]> {
  const { rows } = await sql<{ event: { commandId: string; exitCode: number | null; lost: boolean } }>`
    select event from account_events where event ->> 'type' = 'command.exited'`.execute(database);
  return rows.map(({ event }) => event);
}

async function allReported(): Promise<void> {
  const open = async () => (await sql`select from machine_authors where open`.execute(database)).rows.length;
  await expect.poll(open, { timeout: 60_000 }).toBe(0);
}

test("the end of a command", { timeout: 600_000 }, async () => {
  const steps = await killEachStep(service, database, "command", {
    act: async (_, headers) => {
      const body = { command: "exit 5", detach: true };
      const answer = await service.client.call("POST", "/agents/ada/commands", body, headers);
      // Steps follow until it was reported.
      if (answer.status === 201) await expect.poll(async () => (await ends()).length, { timeout: 30_000 }).toBe(1);
      return answer;
    },
    found: async () => {
      expect((await ends()).length).toBeLessThanOrEqual(1);
    },
    done: async (_, answer) => {
      expect(answer.status).toBe(201);
      await allReported();
      expect(await ends()).toMatchObject([{ commandId: answer.body.id, exitCode: 5, lost: false }]);
    },
    remove: async () => {
      await sql`delete from account_events`.execute(database);
    },
  });
  expect(steps).toBeGreaterThan(3);
});
