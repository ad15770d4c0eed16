import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/core/database/database.ts";
import type { TestClient } from "../support/client.ts";
import { bearer, send, standard } from "../support/hook-senders.ts";
import { type Member, ServerGroup } from "../support/server-group.ts";

// Hooks of two servers on one database: any of them takes a delivery, and each delivery has one run.

let group: ServerGroup;
let database: Database;
let leader: Member;
let standby: Member;

beforeAll(async () => {
  const rateLimits = { requests: 0, account: 0, address: 0, agents: 0, keys: 0, hooks: 40 };
  group = await ServerGroup.start(2, { rateLimits });
  database = openDatabase({ connectionString: group.databaseUrl, max: 2 }, () => {});
  leader = await group.leader();
  [standby] = (await group.others()) as [Member];
  await leader.client.createAgent("ada");
});
afterAll(async () => {
  await database?.destroy();
  await group?.[Symbol.asyncDispose]();
});

const patient = { timeout: 30_000 };

async function made(by: TestClient, name: string, verify: string): Promise<{ path: string; secret: string }> {
  const trigger = { type: "hook", verify };
  const asked = { name, agent: "ada", message: `${name} {{delivery.id}}`, trigger, overlap: "queue" };
  const { body } = await by.call("POST", "/automations", asked);
  return { path: new URL(body.hook.url).pathname, secret: body.secret };
}

test("each delivery has one run, whichever servers get it", async () => {
  const { path, secret } = await made(standby.client, "shared", "standard-webhooks");
  const ids = Array.from({ length: 6 }, (_, index) => `msg_${index}`);
  const both = [leader, standby].map(({ client }) => client.url + path);
  const answers = await Promise.all(
    ids.flatMap((id) => both.map(async (url) => ({ id, ...(await send(url, standard(secret, id, { id }))) }))),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
  expect(new Set(answers.map(({ body }) => body.runId)).size).toBe(6);
  const runs = async () => (await standby.client.call("GET", "/automations/shared/runs")).body.data;
  const completed = async () =>
    (await runs()).filter(({ status }: { status: string }) => status === "completed").length;
  await expect.poll(completed, patient).toBe(6);
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from turns where message like '%shared %'`.execute(database);
  expect(rows[0]!.count).toBe(6);
});

test("a secret that one server rotates is that of the other, and a hook's limit is one for both", async () => {
  const { path, secret } = await made(leader.client, "limited", "bearer");
  await leader.client.call("POST", "/automations/limited/pause");
  const { body } = await standby.client.call("POST", "/automations/limited/rotate-secret", {});
  expect((await send(leader.client.url + path, bearer(body.secret, {}))).status).toBe(202);
  expect((await send(standby.client.url + path, bearer(secret, {}))).status).toBe(202);
  const statuses: number[] = [];
  for (let count = 0; count < 44; count++) {
    const { url } = count % 2 ? leader.client : standby.client;
    statuses.push((await send(url + path, bearer(body.secret, {}))).status);
  }
  expect(statuses.filter((status) => status === 202).length).toBeLessThanOrEqual(38);
  expect(statuses.at(-1)).toBe(429);
});
