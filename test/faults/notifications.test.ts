import type { IncomingMessage, ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/core/database/database.ts";
import { freePort } from "../../src/core/ports.ts";
import { InboxStore } from "../../src/inbox/store.ts";
import { databaseOf } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { Program } from "../support/http-program.ts";
import { KillableService } from "../support/killable-service.ts";
import { killEachStep } from "../support/killed-steps.ts";
import { addNotifiedPeople } from "../support/notified-people.ts";

// A server that is killed between any two steps of a notification. The next one sends it: at least once.

let service: KillableService;
let client: TestClient;
let database: Database;
let receiver: Program;

const patient = { timeout: 30_000 };

beforeAll(async () => {
  const port = await freePort();
  receiver = await Program.start(port);
  receiver.answer = take;
  service = await KillableService.start({ webhooksInside: [`127.0.0.1:${port}`] });
  client = service.client;
  database = await databaseOf(service);
  await client.createAgent("ada");
  const { id: accountId } = (await client.call("GET", "/account")).body;
  const ntfyUrl = `http://127.0.0.1:${port}`;
  const [person] = await addNotifiedPeople(database, accountId, { count: 1, ntfyUrl });
  // The turns of the test's key are the person's.
  await sql`update api_keys set person_id = ${person!.id} where account_id = ${accountId}`.execute(database);
});
afterAll(async () => {
  await database?.destroy();
  await service?.[Symbol.asyncDispose]();
  receiver?.[Symbol.dispose]();
});

/** The pages of the notifications that the receiver got. */
const received: string[] = [];

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { click } = (await json(request)) as { click: string };
  received.push(new URL(click).pathname);
  response.writeHead(200).end();
}

async function waiting(): Promise<number> {
  await new InboxStore(database).collect();
  const { rows } = await sql`select from notifications union all select from notification_sends`.execute(database);
  return rows.length;
}

/** Has new events sent now. */
async function due(): Promise<void> {
  await new InboxStore(database).collect();
  await sql`update notifications set due_at = now()`.execute(database);
}

/** Sends what a dead server had taken, and waits for it. */
async function arrives(): Promise<void> {
  await sql`update notification_sends set next_try_at = now()`.execute(database);
  await due();
  await expect.poll(waiting, patient).toBe(0);
}

test("the notification and the inbox item of a failed turn", { timeout: 600_000 }, async () => {
  const turnOf = async (message: string) => {
    const { rows } = await sql<{ id: string; status: string }>`
      select id, status from turns where message = ${message}`.execute(database);
    return rows[0];
  };
  const steps = await killEachStep(service, database, "crash turn", {
    act: async (name, headers) => {
      const response = await client.fetch("POST", "/agents/ada/chat", { message: name, whenBusy: "queue" }, headers);
      void response.text().catch(() => {});
      await expect.poll(async () => (await turnOf(name))?.status, patient).toBe("failed");
      await arrives();
      return { status: response.status, headers: response.headers, body: null };
    },
    found: async (name) => {
      // A failed turn has its notification: it waits, or it has arrived.
      if ((await turnOf(name))?.status !== "failed") return;
      expect((await waiting()) + received.length).toBeGreaterThan(0);
    },
    done: async (name) => {
      await arrives();
      const turn = await turnOf(name);
      expect(new Set(received)).toEqual(new Set([`/-/agents/ada/turns/${turn!.id}`]));
      expect(received.length).toBeLessThanOrEqual(2);
      const items = await sql<{ count: string }>`
        select count from inbox_items where event ->> 'turnId' = ${turn!.id}`.execute(database);
      expect(items.rows).toEqual([{ count: "1" }]);
    },
    remove: async () => {
      received.length = 0;
    },
  });
  expect(steps).toBeGreaterThan(6);
});

test("a result is stored once the database is back", async () => {
  const answers: (() => void)[] = [];
  receiver.answer = (_, response) => answers.push(() => response.writeHead(200).end());
  await client.chat("ada", "crash");
  await due();
  await expect.poll(() => answers.length, patient).toBe(1);
  await service.killDatabase();
  answers[0]!();
  await expect.poll(async () => (await client.call("GET", "/webhooks")).status, patient).toBe(200);
  await expect.poll(waiting, patient).toBe(0);
  expect(answers).toHaveLength(1);
});
