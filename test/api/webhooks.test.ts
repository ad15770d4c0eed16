import { once } from "node:events";
import { request } from "node:http";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { webhookEvents } from "../../src/contract/webhook-events.ts";
import type { Webhook, WebhookDelivery } from "../../src/contract/webhooks.ts";
import type { Database } from "../../src/core/database/database.ts";
import { DeliveryStore } from "../../src/webhooks/delivery-store.ts";
import { databaseOf, newAccount } from "../support/accounts.ts";
import { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { signIn, useLink } from "../support/sign-in.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";

// Webhooks over HTTPS to a receiver that verifies with Standard Webhooks' own library.

let receiver: WebhookReceiver;
let service: ScriptedService;
let client: TestClient;
let database: Database;

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  service = await ScriptedService.start({ webhooksInside: [receiver.authorityText], maximumWebhooksPerAccount: 100 });
  client = service.client;
  database = await databaseOf(service);
  await client.createAgent("ada");
  await client.createAgent("bea");
});
afterAll(async () => {
  await database?.destroy();
  await service?.[Symbol.asyncDispose]();
  receiver?.[Symbol.dispose]();
});

const patient = { timeout: 20_000 };

async function create(path: string, fields: object = {}, by = client): Promise<Webhook & { secret: string }> {
  const { status, body } = await by.call("POST", "/webhooks", { url: receiver.url(path), ...fields });
  expect([status, body]).toEqual([201, body]);
  return body;
}

async function deliveriesOf({ id }: Webhook): Promise<WebhookDelivery[]> {
  return (await client.call("GET", `/webhooks/${id}/deliveries`)).body.data;
}

/** Makes the deliveries that wait due now. */
async function due({ id }: Webhook): Promise<void> {
  await sql`update webhook_deliveries set next_try_at = now() where webhook_id = ${id} and status = 'pending'`.execute(
    database,
  );
}

const typesAt = (path: string) => receiver.at(path).map(({ body }) => JSON.parse(body).type);

describe("a webhook", () => {
  test("is created, read, changed and deleted, and shows its secret once", async () => {
    const { secret, ...made } = await create("/crud", {
      events: ["turn.completed"],
      agent: "ada",
      include: ["content"],
    });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(made).toMatchObject({
      events: ["turn.completed"],
      agent: "ada",
      include: ["content"],
      disabled: false,
      disabledReason: null,
      dropped: 0,
      lastDelivery: null,
      createdBy: { kind: "key", name: "operator" },
    });
    expect((await client.call("GET", `/webhooks/${made.id}`)).body).toEqual(made);
    expect((await client.call("GET", "/webhooks?limit=1")).body).toMatchObject({ data: [made] });
    const change = { events: null, agent: null, include: [], disabled: true };
    expect((await client.call("PATCH", `/webhooks/${made.id}`, change)).body).toEqual({ ...made, ...change });
    expect((await client.call("POST", `/webhooks/${made.id}/test`)).body.code).toBe("webhook_disabled");
    expect((await client.call("DELETE", `/webhooks/${made.id}`)).status).toBe(204);
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/deliveries"],
      ["POST", "/rotate"],
      ["POST", "/test"],
      ["POST", "/deliveries/1/redeliver"],
    ] as const)
      expect((await client.call(method, `/webhooks/${made.id}${path}`)).body.code).toBe("webhook_not_found");
  });

  test.each([
    [{ url: "https://169.254.169.254/" }, /public internet/],
    [{ url: "https://[::ffff:127.0.0.1]/" }, /public internet/],
    [{ url: "https://2130706433/" }, /public internet/],
    [{ url: "http://example.com/" }, /Only https/],
    [{ url: "file:///etc/passwd" }, /An address is https/],
    [{ url: `https://example.com/${"a".repeat(2_048)}` }, /url/],
    [{ url: "https://example.com/", events: ["turn.exploded"] }, /events/],
    [{ url: "https://example.com/", events: [] }, /events/],
    [{ url: "https://example.com/", include: ["secrets"] }, /include/],
  ])("%j is refused", async (body, message) => {
    const answer = await client.call("POST", "/webhooks", body);
    expect([answer.status, answer.body.code]).toEqual([400, "request_invalid"]);
    expect(answer.body.message).toMatch(message);
  });

  test("of an unknown agent is refused", async () => {
    const url = receiver.url("/unknown");
    expect((await client.call("POST", "/webhooks", { url, agent: "nobody" })).body.code).toBe("agent_not_found");
  });

  test("is refused beyond the account's limit", async () => {
    await using small = await ScriptedService.start({ maximumWebhooksPerAccount: 1 });
    const url = "https://example.com/";
    expect((await small.client.call("POST", "/webhooks", { url })).status).toBe(201);
    expect((await small.client.call("POST", "/webhooks", { url })).body.code).toBe("too_many_webhooks");
  });

  test("of another account is not found", async () => {
    const webhook = await create("/foreign");
    const stranger = await newAccount(service);
    expect((await stranger.call("GET", `/webhooks/${webhook.id}`)).body.code).toBe("webhook_not_found");
    expect((await stranger.call("GET", "/webhooks")).body.data).toEqual([]);
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });
});

describe("an event", () => {
  test("of each kind is sent, signed, with ids alone", async () => {
    const { secret, ...webhook } = await create("/all");
    const { turnId } = await client.chat("ada", "hello");
    const { turnId: failedId } = await client.chat("ada", "crash");
    await client.call("POST", "/agents/ada/snapshots", { name: "then" });
    const { id: commandId } = (await client.call("POST", "/agents/ada/commands", { command: "exit 3", detach: true }))
      .body;
    await expect.poll(() => typesAt("/all"), patient).toContain("command.exited");
    await client.call("POST", "/agents/ada/suspend");
    await client.createAgent("cleo");
    await client.call("DELETE", "/agents/cleo");
    await expect.poll(() => typesAt("/all"), patient).toContain("agent.deleted");
    await expect.poll(() => typesAt("/all"), patient).toContain("agent.suspended");
    const events = receiver.events("/all", secret);
    for (const event of events) expect(webhookEvents[event.type].parse(event)).toEqual(event);
    expect(events).toContainEqual(expect.objectContaining({ type: "turn.completed", data: { agent: "ada", turnId } }));
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "turn.failed",
        data: { agent: "ada", turnId: failedId, reason: "runtime_failed" },
      }),
    );
    const ofAda = events.flatMap(({ type, data }) => ("agent" in data && data.agent === "ada" ? [type] : []));
    expect(ofAda).toEqual(["turn.completed", "turn.failed", "snapshot.created", "command.exited", "agent.suspended"]);
    const exit = { exitCode: 3, signal: null, timedOut: false, lost: false };
    expect(events).toContainEqual(
      expect.objectContaining({ type: "command.exited", data: { agent: "ada", commandId, ...exit } }),
    );
    const ids = receiver.at("/all").map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(ids.length);
    expect(receiver.at("/all")[0]!.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": expect.stringMatching(/^Berth\//),
    });
    await expect
      .poll(async () => (await client.call("GET", `/webhooks/${webhook.id}`)).body.lastDelivery?.status, patient)
      .toBe("delivered");
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });

  test("of a queue, an approval, an automation, a refused connection and credits is sent", async () => {
    const types = [
      ...(["turn.cancelled", "turn.waiting", "turn.held", "agent.ready", "network.refused"] as const),
      ...(["automation.paused", "run.completed", "run.failed", "credits.low", "credits.exhausted"] as const),
    ];
    const { secret, ...webhook } = await create("/others", { events: types, include: ["content"] });
    await client.createAgent("shy", { permissions: { execute: "ask" } });
    void client
      .fetch("POST", "/agents/shy/chat", { message: "use execute make", onAsk: "wait" })
      .then((reply) => reply.text().catch(() => {}));
    const open = async () => (await client.call("GET", "/approvals?agent=shy")).body.data;
    await expect.poll(async () => (await open()).length, patient).toBe(1);
    const [{ turnId }] = await open();
    void client.fetch("POST", "/agents/shy/chat", { message: "next", whenBusy: "queue" }).then((reply) =>
      // It waits until the service ends.
      reply.text().catch(() => {}),
    );
    await expect.poll(async () => (await client.call("GET", "/agents/shy/queue")).body.data.length, patient).toBe(1);
    await client.call("POST", `/agents/shy/turns/${turnId}/cancel`);
    const refused = request(service.driver.proxyOf(service.driver.running[0]!), {
      method: "CONNECT",
      path: "10.0.0.1:80",
    });
    await once(refused.end(), "connect");
    const trigger = { type: "schedule", cron: "0 0 1 1 *", timeZone: "UTC" };
    for (const [name, message] of [
      ["fine", "hello"],
      ["broken", "crash"],
    ]) {
      await client.call("POST", "/automations", { name, agent: "bea", message, trigger });
      await client.call("POST", `/automations/${name}/run`);
    }
    await client.call("POST", "/automations/fine/pause");
    await client.call("PATCH", "/billing", { lowCredits: "500" });
    const { accountId, balance } = (await client.call("GET", "/admin/credits")).body.data[0];
    for (const left of [400, 300, 0, 600, Number(balance)]) {
      await sql`update accounts set balance = ${Math.round(left * 1_000_000)} where id = ${accountId}`.execute(
        database,
      );
    }
    await expect.poll(() => new Set(typesAt("/others")), patient).toEqual(new Set(types));
    const events = receiver.events("/others", secret);
    for (const event of events) expect(webhookEvents[event.type].parse(event)).toEqual(event);
    const dataOf = (type: string) => events.filter((event) => event.type === type).map(({ data }) => data);
    expect(dataOf("turn.waiting")).toEqual([{ agent: "shy", turnId, approvalId: expect.any(String) }]);
    expect(dataOf("turn.held")).toMatchObject([{ agent: "shy", reason: "cancelled" }]);
    expect(dataOf("network.refused")).toMatchObject([{ host: "10.0.0.1", port: 80, reason: "inside", count: 1 }]);
    expect(dataOf("run.completed")).toMatchObject([{ automation: "fine", content: { reply: "hello" } }]);
    expect(dataOf("run.failed")).toMatchObject([{ automation: "broken", agent: "bea", reason: "runtime_failed" }]);
    expect(dataOf("automation.paused")).toEqual([{ automation: "fine", agent: "bea", reason: null }]);
    expect(dataOf("credits.low")).toEqual([{ balance: "400" }]);
    expect(dataOf("credits.exhausted")).toEqual([{ balance: "0" }]);
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });

  test("of a private agent is sent to no webhook", async () => {
    await useLink(service.server.firstSignIn!, "correct horse battery", "olga");
    const olga = new TestClient(client.url, (await signIn(client.url, "olga", "correct horse battery")).access_token);
    const { secret, ...webhook } = await create("/hidden", { events: ["turn.completed", "agent.deleted"] });
    await olga.createAgent("diary", { private: true });
    await olga.chat("diary", "secret");
    const ofDiary = { url: receiver.url("/hidden"), agent: "diary" };
    const refusal = { code: "request_invalid", message: expect.stringContaining("private") };
    expect((await olga.call("POST", "/webhooks", ofDiary)).body).toMatchObject(refusal);
    await olga.call("DELETE", "/agents/diary");
    const { turnId } = await client.chat("bea", "hello");
    await expect.poll(() => receiver.events("/hidden", secret), patient).toMatchObject([{ data: { turnId } }]);
    expect(await deliveriesOf(webhook)).toHaveLength(1);
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });

  test("is sent for the chosen types and agent only", async () => {
    const { secret, ...webhook } = await create("/chosen", { events: ["turn.completed"], agent: "bea" });
    await client.chat("ada", "hello");
    await client.chat("bea", "crash");
    const { turnId } = await client.chat("bea", "hello");
    await expect
      .poll(() => receiver.events("/chosen", secret), patient)
      .toMatchObject([{ data: { agent: "bea", turnId } }]);
    expect(await deliveriesOf(webhook)).toHaveLength(1);
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });

  test("has the reply if the webhook includes content", async () => {
    const { secret, ...webhook } = await create("/content", { events: ["turn.completed"], include: ["content"] });
    await client.chat("bea", "tell me");
    await expect
      .poll(() => receiver.events("/content", secret), patient)
      .toMatchObject([{ data: { content: { reply: "tell me", replyTruncated: false } } }]);
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });
});

describe("deliveries", () => {
  test("of an agent arrive in order", async () => {
    const { secret, ...webhook } = await create("/order", { events: ["turn.completed"] });
    const wanted: string[] = [];
    for (let index = 0; index < 12; index++) wanted.push((await client.chat("bea", `message ${index}`)).turnId);
    await expect.poll(() => receiver.at("/order").length, patient).toBe(12);
    const turns = receiver.events("/order", secret).map(({ data }) => ("turnId" in data ? data.turnId : null));
    expect(turns).toEqual(wanted);
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });

  test("that fail are tried again, with the same id and a signature of their own", async () => {
    const { secret, ...webhook } = await create("/again", { events: ["turn.completed"] });
    receiver.answer = (_, response) => response.writeHead(500).end();
    await client.chat("bea", "one");
    const failed = { status: "pending", attempts: 1, responseStatus: 500, error: "The receiver answered 500." };
    await expect.poll(() => deliveriesOf(webhook), patient).toMatchObject([failed]);
    // A later event does not wait for it.
    receiver.answer = (_, response) => response.writeHead(204).end();
    await client.chat("bea", "two");
    await expect.poll(() => receiver.at("/again").length, patient).toBe(2);
    await due(webhook);
    await expect.poll(() => receiver.at("/again").length, patient).toBe(3);
    const [first, , second] = receiver.at("/again");
    expect(second!.headers["webhook-id"]).toBe(first!.headers["webhook-id"]);
    expect(second!.body).toBe(first!.body);
    expect(receiver.events("/again", secret)).toHaveLength(3);
    await expect
      .poll(() => deliveriesOf(webhook), patient)
      .toMatchObject([
        { status: "delivered", attempts: 1 },
        { status: "delivered", attempts: 2, error: null, responseStatus: 204, nextAttemptAt: null },
      ]);
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });

  test("follow no redirect", async () => {
    const webhook = await create("/redirect", { events: ["turn.completed"] });
    receiver.answer = (_, response) => response.writeHead(307, { location: "http://169.254.169.254/latest" }).end();
    await client.chat("bea", "one");
    await expect.poll(() => deliveriesOf(webhook), patient).toMatchObject([{ attempts: 1, responseStatus: 307 }]);
    receiver.answer = (_, response) => response.writeHead(204).end();
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });

  test("wait as long as the receiver asks, up to an hour", async () => {
    const webhook = await create("/later", { events: ["turn.completed"] });
    for (const [header, seconds] of [
      ["120", 120],
      [new Date(Date.now() + 600_000).toUTCString(), 590],
      ["999999", 3_600],
    ] as const) {
      receiver.answer = (_, response) => response.writeHead(429, { "retry-after": header }).end();
      await client.chat("bea", "one");
      await expect.poll(async () => (await deliveriesOf(webhook))[0]?.responseStatus, patient).toBe(429);
      const { nextAttemptAt, lastAttemptAt } = (await deliveriesOf(webhook))[0]!;
      const wait = (Date.parse(nextAttemptAt!) - Date.parse(lastAttemptAt!)) / 1000;
      expect(wait).toBeGreaterThanOrEqual(seconds - 10);
      expect(wait).toBeLessThanOrEqual(seconds + 60);
    }
    receiver.answer = (_, response) => response.writeHead(204).end();
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });

  test("are ended after ten tries, and the webhook is disabled", async () => {
    const webhook = await create("/dead", { events: ["turn.completed"] });
    receiver.answer = (_, response) => response.writeHead(502).end();
    await client.chat("bea", "one");
    await client.chat("bea", "two");
    for (let attempt = 1; attempt <= 9; attempt++) {
      await expect.poll(async () => (await deliveriesOf(webhook)).at(-1)!.attempts, patient).toBe(attempt);
      await due(webhook);
    }
    const isDisabled = async () => (await client.call("GET", `/webhooks/${webhook.id}`)).body;
    await expect.poll(isDisabled, patient).toMatchObject({ disabled: true, disabledReason: { code: "failing" } });
    expect((await deliveriesOf(webhook)).map(({ status }) => status)).toEqual(["failed", "failed"]);
    await client.chat("bea", "three");
    expect(await deliveriesOf(webhook)).toHaveLength(2);
    const { rows } = await sql<{ event: object }>`
      select event from account_events where event ->> 'webhookId' = ${webhook.id}`.execute(database);
    expect(rows).toMatchObject([{ event: { type: "webhook.disabled", reason: { code: "failing" } } }]);
    receiver.answer = (_, response) => response.writeHead(204).end();
    const enabled = await client.call("PATCH", `/webhooks/${webhook.id}`, { disabled: false });
    expect(enabled.body).toMatchObject({ disabled: false, disabledReason: null });
    const [, last] = await deliveriesOf(webhook);
    const again = await client.call("POST", `/webhooks/${webhook.id}/deliveries/${last!.id}/redeliver`);
    expect(again.body).toMatchObject({ id: last!.id, attempts: 0 });
    await expect.poll(async () => (await deliveriesOf(webhook))[1]!.status, patient).toBe("delivered");
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });

  test("that fail for three days do not disable a webhook that gets others", async () => {
    const webhook = await create("/poison", { events: ["turn.completed"] });
    let isPoison = true;
    receiver.answer = (_, response) => response.writeHead(isPoison ? 500 : 204).end();
    await client.chat("bea", "one");
    await expect.poll(async () => (await deliveriesOf(webhook))[0]?.attempts, patient).toBe(1);
    isPoison = false;
    await client.chat("bea", "two");
    await expect.poll(async () => (await deliveriesOf(webhook))[0]?.status, patient).toBe("delivered");
    isPoison = true;
    await sql`update webhook_deliveries set attempts = 9, next_try_at = now() where webhook_id = ${webhook.id} and status = 'pending'`.execute(
      database,
    );
    await expect.poll(async () => (await deliveriesOf(webhook))[1]?.status, patient).toBe("failed");
    expect((await client.call("GET", `/webhooks/${webhook.id}`)).body).toMatchObject({ disabled: false });
    receiver.answer = (_, response) => response.writeHead(204).end();
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });

  test("end at once when the receiver answers 410", async () => {
    const webhook = await create("/gone", { events: ["turn.completed"] });
    receiver.answer = (_, response) => response.writeHead(410).end();
    await client.chat("bea", "one");
    const state = async () => (await client.call("GET", `/webhooks/${webhook.id}`)).body;
    await expect.poll(state, patient).toMatchObject({ disabled: true, disabledReason: { code: "gone" } });
    expect(await deliveriesOf(webhook)).toMatchObject([{ status: "failed", attempts: 1, responseStatus: 410 }]);
    receiver.answer = (_, response) => response.writeHead(204).end();
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });

  test("of a silent receiver do not delay those of another", async () => {
    const slow = await create("/slow", { events: ["turn.completed"] });
    const fast = await create("/fast", { events: ["turn.completed"] });
    receiver.answer = (request, response) => {
      if (request.url === "/fast") response.writeHead(204).end();
    };
    const { turnId } = await client.chat("bea", "one");
    await expect.poll(() => receiver.events("/fast", fast.secret), patient).toMatchObject([{ data: { turnId } }]);
    expect(await deliveriesOf(slow)).toMatchObject([{ status: "pending", attempts: 0 }]);
    await expect
      .poll(() => deliveriesOf(slow), patient)
      .toMatchObject([{ attempts: 1, responseStatus: null, error: "There was no answer within 10 s." }]);
    receiver.answer = (_, response) => response.writeHead(204).end();
    for (const { id } of [slow, fast]) await client.call("DELETE", `/webhooks/${id}`);
  });

  test("of a disabled webhook end, and its events are not sent later", async () => {
    const webhook = await create("/off", { events: ["turn.completed"] });
    receiver.answer = (_, response) => response.writeHead(500).end();
    await client.chat("bea", "one");
    await expect.poll(async () => (await deliveriesOf(webhook))[0]?.attempts, patient).toBe(1);
    await client.call("PATCH", `/webhooks/${webhook.id}`, { disabled: true });
    expect(await deliveriesOf(webhook)).toMatchObject([{ status: "failed" }]);
    await client.chat("bea", "two");
    await client.call("PATCH", `/webhooks/${webhook.id}`, { disabled: false });
    expect(await deliveriesOf(webhook)).toHaveLength(1);
    receiver.answer = (_, response) => response.writeHead(204).end();
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });

  test("are bounded: the last hundred that ended, and a thousand that wait", async () => {
    const webhook = await create("/many", { events: ["turn.completed"] });
    await sql`
      insert into webhook_deliveries (webhook_id, type, lane, data, status, finished_at)
      select ${webhook.id}, 'turn.completed', 'bea', '{}', 'delivered', now() from generate_series(1, 150)`.execute(
      database,
    );
    await sql`update webhooks set delivered_at = now() where id = ${webhook.id}`.execute(database);
    await sql`
      insert into webhook_deliveries (webhook_id, type, lane, data, next_try_at)
      select ${webhook.id}, 'turn.completed', n::text, jsonb_build_object('n', n), now() + interval '1 day'
      from generate_series(1, 1100) n`.execute(database);
    const deliveries = new DeliveryStore(database);
    expect(await deliveries.dropBeyond()).toBe(100);
    await deliveries.removeOld();
    const { rows } = await sql<{ status: string; count: number; first: string }>`
      select status, count(*)::integer as count, min((data ->> 'n')::integer) as first from webhook_deliveries
      where webhook_id = ${webhook.id} group by status order by status`.execute(database);
    expect(rows).toEqual([
      { status: "delivered", count: 100, first: null },
      { status: "pending", count: 1_000, first: 101 },
    ]);
    expect((await client.call("GET", `/webhooks/${webhook.id}`)).body.dropped).toBe(100);
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });
});

describe("a secret", () => {
  test("that was replaced signs as well for a day", async () => {
    const { secret: old, ...webhook } = await create("/rotate", { events: ["turn.completed"] });
    const { body } = await client.call("POST", `/webhooks/${webhook.id}/rotate`);
    expect(body.secret).not.toBe(old);
    expect(Date.parse(body.oldSecretUntil)).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    await client.call("POST", `/webhooks/${webhook.id}/test`);
    await expect.poll(() => receiver.at("/rotate").length, patient).toBe(1);
    for (const secret of [old, body.secret]) {
      expect(receiver.events("/rotate", secret)).toMatchObject([
        { type: "webhook.test", data: { webhookId: webhook.id } },
      ]);
    }
    await sql`update webhooks set old_secret_until = now() where id = ${webhook.id}`.execute(database);
    expect((await client.call("GET", `/webhooks/${webhook.id}`)).body.oldSecretUntil).toBeNull();
    receiver.received.length = 0;
    await client.call("POST", `/webhooks/${webhook.id}/test`);
    await expect.poll(() => receiver.at("/rotate").length, patient).toBe(1);
    expect(receiver.events("/rotate", body.secret)).toHaveLength(1);
    expect(() => receiver.events("/rotate", old)).toThrow("No matching signature");
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });

  test("that cannot be decrypted disables the webhook", async () => {
    const webhook = await create("/unreadable", { events: ["turn.completed"] });
    await sql`update webhooks set secret = '\\x0102' where id = ${webhook.id}`.execute(database);
    await client.chat("bea", "one");
    const state = async () => (await client.call("GET", `/webhooks/${webhook.id}`)).body;
    await expect.poll(state, patient).toMatchObject({ disabled: true, disabledReason: { code: "secret_unreadable" } });
    expect(receiver.at("/unreadable")).toEqual([]);
    await client.call("DELETE", `/webhooks/${webhook.id}`);
  });
});
