import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Database, openDatabase } from "../../src/core/database/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { freePort } from "../../src/core/ports.ts";
import { newFolder } from "../support/config.ts";
import { newDatabase } from "../support/new-database.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";

// Two servers that lead a host each, on one database: both send what waits.

const secretKey = Buffer.alloc(32, 1).toString("base64");

let receiver: WebhookReceiver;
let databaseFolder: string;
let postgres: EmbeddedPostgres;
let databaseUrl: string;
let database: Database;
let one: ScriptedService;
let accountId: string;
let webhook: { id: string; secret: string };

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  databaseFolder = await newFolder();
  postgres = await startEmbeddedPostgres(databaseFolder);
  ({ databaseUrl } = await newDatabase(postgres, databaseFolder, "webhooks"));
  database = openDatabase({ connectionString: databaseUrl, max: 4 }, () => {});
  one = await start();
  accountId = (await one.client.call("GET", "/account")).body.id;
  const asked = { url: receiver.url("/shared"), events: ["turn.completed"] };
  webhook = (await one.client.call("POST", "/webhooks", asked)).body;
});
afterAll(async () => {
  await one?.[Symbol.asyncDispose]();
  await database?.destroy();
  await postgres?.stop();
  await rm(databaseFolder, { recursive: true });
  receiver?.[Symbol.dispose]();
});
beforeEach(() => {
  receiver.received.length = 0;
});

async function start(): Promise<ScriptedService> {
  const port = await freePort();
  const internalUrl = `http://127.0.0.1:${port}`;
  return ScriptedService.start({ databaseUrl, secretKey, port, internalUrl, webhooksInside: [receiver.authorityText] });
}

/** Events of several agents at once, each agent's in order. Returns each agent's turns. */
async function happen(agents: number, each: number): Promise<Map<string, string[]>> {
  const turns = new Map<string, string[]>();
  for (let index = 0; index < each; index++) {
    for (let agent = 0; agent < agents; agent++) {
      const [name, turnId] = [`agent-${agent}`, randomUUID()];
      turns.set(name, [...(turns.get(name) ?? []), turnId]);
      const event = JSON.stringify({ type: "turn.ended", status: "completed", agent: name, turnId, error: null });
      await sql`select add_account_event(${accountId}::uuid, ${event}::jsonb)`.execute(database);
    }
  }
  return turns;
}

function receivedTurns(): Map<string, string[]> {
  const turns = new Map<string, string[]>();
  for (const event of receiver.events("/shared", webhook.secret)) {
    const { agent, turnId } = event.data as { agent: string; turnId: string };
    turns.set(agent, [...(turns.get(agent) ?? []), turnId]);
  }
  return turns;
}

const sorted = (turns: Map<string, string[]>) => [...turns].toSorted(([a], [b]) => a.localeCompare(b));
const isSettled = async () => {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from webhook_deliveries where status = 'pending'`.execute(database);
  return rows[0]!.count === 0;
};

test("each delivery is sent once, in the order of its agent", async () => {
  await using _ = await start();
  const turns = await happen(10, 12);
  await expect.poll(isSettled, { timeout: 40_000 }).toBe(true);
  expect(sorted(receivedTurns())).toEqual(sorted(turns));
});

test("a server that stops leaves its deliveries to the other", async () => {
  const other = await start();
  let isHeld = true;
  receiver.answer = (_, response) => {
    if (!isHeld) response.writeHead(204).end();
  };
  const turns = await happen(8, 1);
  await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBeGreaterThan(0);
  isHeld = false;
  receiver.received.length = 0;
  await other[Symbol.asyncDispose]();
  await sql`update webhook_deliveries set next_try_at = now() where status = 'pending'`.execute(database);
  await expect.poll(isSettled, { timeout: 40_000 }).toBe(true);
  const { rows } = await sql<{ status: string }>`
    select status from webhook_deliveries where data ->> 'turnId' = any(${[...turns.values()].flat()})`.execute(
    database,
  );
  expect(rows).toEqual(Array(8).fill({ status: "delivered" }));
});
