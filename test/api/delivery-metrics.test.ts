import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { bearer, send } from "../support/hook-senders.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";

// The metrics of automations, hooks and webhooks.

let receiver: WebhookReceiver;
let service: ScriptedService;
let client: TestClient;
let database: Database;

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  service = await ScriptedService.start({ webhooksInside: [receiver.authorityText] });
  client = service.client;
  database = await databaseOf(service);
  await client.createAgent("ada");
});
afterAll(async () => {
  await database?.destroy();
  await service?.[Symbol.asyncDispose]();
  receiver?.[Symbol.dispose]();
});

/** The value of a series; null: it is not there. */
async function seriesOf(series: string): Promise<number | null> {
  const text = String((await client.call("GET", "/metrics")).body);
  const [name, labels = ""] = series.split(/[{}]/);
  const line = text.split("\n").find((each) => each.startsWith(`${name}{`) && each.includes(labels));
  return line === undefined ? null : Number(line.slice(line.lastIndexOf(" ") + 1));
}

const deliveries = (outcome: string) => seriesOf(`berth_webhook_deliveries_total{kind="webhook",outcome="${outcome}"}`);

test("deliveries to webhooks are counted by outcome, with those that wait", async () => {
  const { id } = (await client.call("POST", "/webhooks", { url: receiver.url("/hook"), events: ["credits.low"] })).body;
  expect(await seriesOf("berth_webhook_deliveries_waiting")).toBe(0);
  await client.call("POST", `/webhooks/${id}/test`);
  await expect.poll(() => deliveries("delivered")).toBe(1);
  receiver.answer = (_, response) => response.writeHead(500).end();
  await client.call("POST", `/webhooks/${id}/test`);
  await expect.poll(() => deliveries("failed")).toBe(1);
  expect(await seriesOf("berth_webhook_deliveries_waiting")).toBe(1);
  expect(await seriesOf("berth_webhook_overdue_seconds")).toBe(0);
  receiver.answer = (_, response) => response.writeHead(410).end();
  await sql`update webhook_deliveries set next_try_at = now() where status = 'pending'`.execute(database);
  await expect.poll(() => deliveries("given_up")).toBe(1);
  expect(await seriesOf("berth_webhook_deliveries_waiting")).toBe(0);
  // One that the deliverer leaves alone: its webhook is disabled.
  await sql`
    insert into webhook_deliveries (webhook_id, type, lane, data, next_try_at)
    values (${id}, 'webhook.test', '', '{}', now() - interval '1 hour')`.execute(database);
  expect(await seriesOf("berth_webhook_overdue_seconds")).toBeGreaterThanOrEqual(3_600);
  // Deliveries of a deleted workspace rest.
  await sql`update accounts set disabled_at = now() where id = (select account_id from webhooks where id = ${id})`.execute(
    database,
  );
  expect(await seriesOf("berth_webhook_overdue_seconds")).toBe(0);
  await sql`update accounts set disabled_at = null`.execute(database);
  await client.call("DELETE", `/webhooks/${id}`);
});

test("deliveries to hooks are counted by verdict, and runs by status with their lateness", async () => {
  const asked = { name: "hook", agent: "ada", message: "hello", trigger: { type: "hook", verify: "bearer" } };
  const { hook, secret } = (await client.call("POST", "/automations", asked)).body;
  expect((await send(hook.url, bearer("wrong", {}))).status).toBe(401);
  expect((await send(hook.url, bearer(secret, {}, "1"))).status).toBe(202);
  await expect.poll(() => seriesOf('berth_automation_runs_total{status="completed"}')).toBe(1);
  expect((await send(hook.url, bearer(secret, {}, "1"))).body.result).toBe("repeated");
  for (const verdict of ["refused", "run", "repeated"])
    expect(await seriesOf(`berth_hook_deliveries_total{verdict="${verdict}"}`)).toBe(1);
  expect(await seriesOf('berth_automation_lateness_seconds_count{trigger="hook"}')).toBe(1);
  const failing = {
    ...asked,
    name: "failing",
    message: "crash",
    trigger: { type: "schedule", at: "2100-01-01T00:00:00Z" },
  };
  expect((await client.call("POST", "/automations", failing)).status).toBe(201);
  await client.call("POST", "/automations/failing/run");
  await expect.poll(() => seriesOf('berth_automation_runs_total{status="failed"}')).toBe(1);
  await sql`update automations set next_run_at = now() - interval '2 days', next_base_at = next_run_at where name = 'failing'`.execute(
    database,
  );
  await client.call("POST", "/automations/hook/pause");
  await expect.poll(() => seriesOf('berth_automation_runs_total{status="skipped"}')).toBe(1);
});

test("gauges of the database are left out while it is gone", async () => {
  await sql`alter table webhook_deliveries rename to elsewhere`.execute(database);
  expect(await seriesOf("berth_webhook_deliveries_waiting")).toBeNull();
  expect(await seriesOf("berth_webhook_overdue_seconds")).toBeNull();
  await sql`alter table elsewhere rename to webhook_deliveries`.execute(database);
  expect(await seriesOf("berth_webhook_deliveries_waiting")).toBe(0);
});
