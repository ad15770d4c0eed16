import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { WebhookDelivery } from "../../src/contract/webhooks.ts";
import type { Database } from "../../src/core/database/database.ts";
import { freePort } from "../../src/core/ports.ts";
import { databaseOf } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { Program } from "../support/http-program.ts";
import { KillableService } from "../support/killable-service.ts";
import { killEachStep } from "../support/killed-steps.ts";

// A server that is killed between any two steps of a delivery. The next one sends it: at least once, with one id.

let service: KillableService;
let client: TestClient;
let database: Database;
let receiver: Program;
let webhook: string;
let port: number;

const patient = { timeout: 30_000 };

beforeAll(async () => {
  port = await freePort();
  receiver = await Program.start(port);
  receiver.answer = (_, response) => response.writeHead(204).end();
  service = await KillableService.start({ webhooksInside: [`127.0.0.1:${port}`] });
  client = service.client;
  database = await databaseOf(service);
  await client.createAgent("ada");
  const asked = { url: `http://127.0.0.1:${port}/`, events: ["turn.completed"] };
  webhook = (await client.call("POST", "/webhooks", asked)).body.id;
});
afterAll(async () => {
  await database?.destroy();
  await service?.[Symbol.asyncDispose]();
  receiver?.[Symbol.dispose]();
});

async function deliveries(): Promise<WebhookDelivery[]> {
  const { status, body } = await client.call("GET", `/webhooks/${webhook}/deliveries`);
  expect([status, body]).toEqual([200, body]);
  return body.data;
}

/** The deliveries that the receiver got, by id. */
const received = () => receiver.asked.map(({ headers }) => headers["webhook-id"]);

/** Has a delivery that a dead server had taken sent now, and waits for it. */
async function arrives(): Promise<void> {
  await sql`update webhook_deliveries set next_try_at = now() where status = 'pending'`.execute(database);
  await expect.poll(async () => (await deliveries()).map(({ status }) => status), patient).toEqual(["delivered"]);
}

async function remove(): Promise<void> {
  await sql`delete from webhook_deliveries`.execute(database);
  receiver.asked.length = 0;
}

test("a delivery", { timeout: 600_000 }, async () => {
  const steps = await killEachStep(service, database, "test", {
    act: async (_, headers) => {
      const answer = await client.call("POST", `/webhooks/${webhook}/test`, undefined, headers);
      // Steps follow until it has arrived.
      await expect.poll(async () => (await deliveries())[0]?.status, patient).toBe("delivered");
      return answer;
    },
    found: async () => {
      expect((await deliveries()).length).toBeLessThanOrEqual(1);
      await sql`update webhook_deliveries set next_try_at = now() where status = 'pending'`.execute(database);
    },
    done: async (_, { status, body }) => {
      expect([status, body.type]).toEqual([201, "webhook.test"]);
      await arrives();
      expect(new Set(received())).toEqual(new Set([body.id]));
    },
    remove,
  });
  expect(steps).toBeGreaterThan(4);
});

test("the event of a turn", { timeout: 600_000 }, async () => {
  const turnOf = async (message: string) => {
    const { rows } = await sql<{ id: string; status: string }>`
      select id, status from turns where message = ${message}`.execute(database);
    return rows[0];
  };
  const steps = await killEachStep(service, database, "turn", {
    act: async (name, headers) => {
      const response = await client.fetch("POST", "/agents/ada/chat", { message: name, whenBusy: "queue" }, headers);
      void response.text().catch(() => {});
      await expect.poll(async () => (await turnOf(name))?.status, patient).toBe("completed");
      await expect.poll(async () => (await deliveries())[0]?.status, patient).toBe("delivered");
      return { status: response.status, headers: response.headers, body: null };
    },
    found: async (name) => {
      // A completed turn has its event.
      const turn = await turnOf(name);
      const found = await deliveries();
      if (turn?.status === "completed") expect(found).toHaveLength(1);
      await sql`update webhook_deliveries set next_try_at = now() where status = 'pending'`.execute(database);
    },
    done: async () => {
      await arrives();
      const [{ id }] = (await deliveries()) as [WebhookDelivery];
      expect(new Set(received())).toEqual(new Set([id]));
    },
    remove,
  });
  expect(steps).toBeGreaterThan(6);
});

test("the notification of a task", { timeout: 600_000 }, async () => {
  const { turnId: taskId } = await client.chat("ada", "of a task");
  await remove();
  const url = `http://127.0.0.1:${port}/task`;
  const notifications = async () => {
    const { rows } = await sql<{ id: string; status: string }>`
      select webhook_deliveries.id, webhook_deliveries.status from webhook_deliveries
        join webhooks on webhooks.id = webhook_id where turn_id is not null`.execute(database);
    return rows;
  };
  const steps = await killEachStep(service, database, "task", {
    act: async (id, headers) => {
      const call = { jsonrpc: "2.0", id: 1, method: "CreateTaskPushNotificationConfig", params: { taskId, id, url } };
      const answer = await client.call("POST", "/agents/ada/a2a", call, { ...headers, "a2a-version": "1.0" });
      await expect.poll(async () => (await notifications())[0]?.status, patient).toBe("delivered");
      return answer;
    },
    found: async () => {
      // A configuration of a task that has ended has its notification.
      const { rows } = await sql`select from webhooks where turn_id is not null`.execute(database);
      expect(await notifications()).toHaveLength(rows.length);
      await sql`update webhook_deliveries set next_try_at = now() where status = 'pending'`.execute(database);
    },
    done: async (id, { status, body }) => {
      expect([status, body.result]).toEqual([200, expect.objectContaining({ id, taskId })]);
      await sql`update webhook_deliveries set next_try_at = now() where status = 'pending'`.execute(database);
      await expect.poll(async () => (await notifications()).map((each) => each.status), patient).toEqual(["delivered"]);
      const [{ id: delivery }] = (await notifications()) as [{ id: string; status: string }];
      expect(new Set(received())).toEqual(new Set([delivery]));
    },
    remove: async () => {
      await sql`delete from webhooks where turn_id is not null`.execute(database);
      await remove();
    },
  });
  expect(steps).toBeGreaterThan(4);
});

test("a result is stored once the database is back", async () => {
  await remove();
  const answers: (() => void)[] = [];
  receiver.answer = (_, response) => answers.push(() => response.writeHead(204).end());
  await client.call("POST", `/webhooks/${webhook}/test`);
  await expect.poll(() => answers.length, patient).toBe(1);
  await service.killDatabase();
  answers[0]!();
  const stored = async () => (await client.call("GET", `/webhooks/${webhook}/deliveries`)).body.data?.[0];
  await expect.poll(stored, patient).toMatchObject({ status: "delivered", attempts: 1 });
  expect(receiver.asked).toHaveLength(1);
  await remove();
});

test("deliveries continue after the database was killed", async () => {
  receiver.answer = (_, response) => response.writeHead(500).end();
  await client.call("POST", `/webhooks/${webhook}/test`);
  await expect.poll(async () => (await deliveries())[0]?.attempts, patient).toBe(1);
  await service.killDatabase();
  receiver.answer = (_, response) => response.writeHead(204).end();
  await expect.poll(async () => (await client.call("GET", "/webhooks")).status, patient).toBe(200);
  await sql`update webhook_deliveries set next_try_at = now() where status = 'pending'`.execute(database);
  await expect.poll(async () => (await deliveries())[0]?.status, patient).toBe("delivered");
});
