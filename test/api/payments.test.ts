import Stripe from "stripe";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { databaseOf, newAccount, newKey } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { StripeServer } from "../support/stripe-server.ts";

const webhookSecret = "whsec_of_this_test";
let provider: StripeServer;
let service: ScriptedService;
let client: TestClient;
let accountId: string;

beforeAll(async () => {
  provider = await StripeServer.start();
  service = await ScriptedService.start({
    stripe: { secretKey: "sk_test_of_this_test", webhookSecret, apiUrl: provider.url },
    startingCredits: "1",
    publicUrl: "https://berth.example",
  });
  client = service.client;
  accountId = (await client.call("GET", "/account")).body.id;
});
beforeEach(() => {
  provider.asked.length = 0;
  provider.status = 200;
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

/** An event as Stripe sends it, signed by its own package. */
async function send(
  type: string,
  object: object,
  changes: { secret?: string; timestamp?: number; body?: string } = {},
) {
  const payload = JSON.stringify({ id: "evt_1", object: "event", type, data: { object } });
  const signed = { payload, secret: changes.secret ?? webhookSecret };
  const timestamp = changes.timestamp === undefined ? {} : { timestamp: changes.timestamp };
  const header = new Stripe("sk_unused").webhooks.generateTestHeaderString({ ...signed, ...timestamp });
  return fetch(`${client.url}/webhooks/stripe`, {
    method: "POST",
    body: changes.body ?? payload,
    headers: { "content-type": "application/json; charset=utf-8", "stripe-signature": header },
  });
}

function paid(payment: string, cents: number, changes: object = {}) {
  return {
    id: `cs_${payment}`,
    object: "checkout.session",
    payment_intent: payment,
    payment_status: "paid",
    amount_subtotal: cents,
    currency: "usd",
    metadata: { berth_account: accountId },
    ...changes,
  };
}

const refund = (id: string, payment: string, cents: number, state = "succeeded") => ({
  id,
  object: "refund",
  payment_intent: payment,
  amount: cents,
  status: state,
});

/** The account's balance in cents, and its entries of payments. */
async function ledger(): Promise<{ cents: number; entries: { kind: string; cents: number; reference: string }[] }> {
  const database = await databaseOf(service);
  const entries = await database
    .selectFrom("credit_entries")
    .select(["kind", "amount", "reference"])
    .where("account_id", "=", accountId)
    .where("kind", "in", ["top_up", "refund"])
    .orderBy("number")
    .execute();
  const account = database.selectFrom("accounts").select("balance").where("id", "=", accountId);
  const { balance } = await account.executeTakeFirstOrThrow();
  await database.destroy();
  const inCents = (micro: string | number) => Number(micro) / 1_000_000;
  return {
    cents: inCents(balance),
    entries: entries.map(({ kind, amount, reference }) => ({ kind, cents: inCents(amount), reference: reference! })),
  };
}

test("a page on which to pay is asked for, once for a request that is sent again", async () => {
  const key = { "idempotency-key": "pay" };
  const first = await client.call("POST", "/billing/top-ups", { credits: "1000" }, key);
  expect(first).toMatchObject({
    status: 201,
    body: { id: "cs_1", url: "https://pay.example/cs_1", credits: "1000", expiresAt: "2030-03-17T17:46:40.000Z" },
  });
  expect((await client.call("POST", "/billing/top-ups", { credits: "1000" }, key)).body).toEqual(first.body);
  expect(provider.asked).toHaveLength(1);
  const { path, authorization, idempotencyKey, form } = provider.asked[0]!;
  expect(path).toBe("/v1/checkout/sessions");
  expect(authorization).toBe("Bearer sk_test_of_this_test");
  expect(idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
  expect(Object.fromEntries(form)).toMatchObject({
    mode: "payment",
    success_url: "https://berth.example",
    cancel_url: "https://berth.example",
    "line_items[0][quantity]": "1",
    "line_items[0][price_data][unit_amount]": "1000",
    "line_items[0][price_data][currency]": "usd",
    "metadata[berth_account]": accountId,
  });
});

test.each([
  [{}, "credits"],
  [{ credits: "49" }, "50"],
  [{ credits: "1000001" }, "1000000"],
  [{ credits: "10.5" }, "whole numbers"],
  [{ credits: "-100" }, "whole numbers"],
  [{ credits: 100 }, "credits"],
  [{ credits: "100", returnUrl: "javascript:alert(1)" }, "returnUrl"],
])("%j is refused with what is allowed, and nobody is asked", async (body, said) => {
  const answer = await client.call("POST", "/billing/top-ups", body);
  expect(answer.status).toBe(400);
  expect(answer.body.message).toContain(said);
  expect(provider.asked).toEqual([]);
});

test("a provider that refuses or is away is a 503, which repeats nothing of its key", async () => {
  provider.status = 401;
  const refused = await client.call("POST", "/billing/top-ups", { credits: "100" });
  expect(refused).toMatchObject({ status: 503, body: { code: "payments_unavailable" } });
  expect(JSON.stringify(refused.body)).not.toContain("sk_test");
});

test("payments that are not allowed or not configured are refused", async () => {
  await client.createAgent("ada");
  const narrow = await newKey(client, { kind: "agent", agents: ["ada"] });
  expect((await narrow.call("POST", "/billing/top-ups", { credits: "100" })).status).toBe(403);
  await using without = await ScriptedService.start();
  const answer = await without.client.call("POST", "/billing/top-ups", { credits: "100" });
  expect(answer).toMatchObject({ status: 409, body: { code: "payments_not_configured" } });
  const event = await fetch(`${without.client.url}/webhooks/stripe`, {
    method: "POST",
    body: "{}",
    headers: { "stripe-signature": "t=1,v1=00" },
  });
  expect(event.status).toBe(409);
});

test("a payment is credited once, however often it is reported", async () => {
  const before = (await ledger()).cents;
  expect((await send("checkout.session.completed", paid("pi_1", 1_000))).status).toBe(204);
  const again = Array.from({ length: 10 }, () => send("checkout.session.completed", paid("pi_1", 1_000)));
  expect((await Promise.all(again)).map((each) => each.status)).toEqual(Array(10).fill(204));
  await send("checkout.session.async_payment_succeeded", paid("pi_1", 1_000));
  expect((await ledger()).cents - before).toBe(1_000);
});

test("unpaid, foreign and unknown payments change nothing", async () => {
  const before = await ledger();
  const events = [
    paid("pi_2", 500, { payment_status: "unpaid" }),
    paid("pi_3", 500, { metadata: {} }),
    paid("pi_4", 500, { metadata: { berth_account: "00000000-0000-4000-8000-000000000000" } }),
    paid("pi_5", 500, { metadata: { berth_account: "nobody" } }),
    paid("pi_6", 500, { currency: "eur" }),
  ];
  for (const event of events) expect((await send("checkout.session.completed", event)).status).toBe(204);
  expect((await send("refund.created", refund("re_0", "pi_of_another", 500))).status).toBe(204);
  expect((await send("customer.created", { id: "cus_1" })).status).toBe(204);
  expect(await ledger()).toEqual(before);
  await send("checkout.session.async_payment_succeeded", paid("pi_2", 500));
  expect((await ledger()).cents - before.cents).toBe(500);
});

test("refunds, whole or in parts, are taken off once; one that failed is given back", async () => {
  await send("checkout.session.completed", paid("pi_7", 2_000));
  const before = (await ledger()).cents;
  for (const type of ["refund.created", "refund.updated", "refund.updated"]) {
    await send(type, refund("re_1", "pi_7", 500));
  }
  await send("refund.created", refund("re_2", "pi_7", 300, "pending"));
  expect((await ledger()).cents - before).toBe(-800);
  await send("refund.failed", refund("re_2", "pi_7", 300, "failed"));
  await send("refund.updated", refund("re_2", "pi_7", 300, "failed"));
  // A failure that comes before the refund itself.
  await send("refund.failed", refund("re_3", "pi_7", 200, "failed"));
  await send("refund.created", refund("re_3", "pi_7", 200, "pending"));
  expect((await ledger()).cents - before).toBe(-500);
  const dispute = { id: "dp_1", object: "dispute", payment_intent: "pi_7", amount: 2_000 };
  await send("charge.dispute.funds_withdrawn", dispute);
  await send("charge.dispute.funds_withdrawn", dispute);
  expect((await ledger()).cents - before).toBe(-2_500);
  await send("charge.dispute.funds_reinstated", dispute);
  expect((await ledger()).cents - before).toBe(-500);
});

test("an event that is not signed with the secret, was changed, or is old is refused and changes nothing", async () => {
  const before = await ledger();
  const event = paid("pi_8", 1_000_000);
  const anHourAgo = Math.floor(Date.now() / 1000) - 3_600;
  const answers = [
    await send("checkout.session.completed", event, { secret: "whsec_of_another" }),
    await send("checkout.session.completed", event, { timestamp: anHourAgo }),
    await send("checkout.session.completed", event, { body: JSON.stringify({ type: "x", data: { object: event } }) }),
    await fetch(`${client.url}/webhooks/stripe`, { method: "POST", body: JSON.stringify(event) }),
  ];
  expect(answers.map((answer) => answer.status)).toEqual([400, 400, 400, 400]);
  expect(await ledger()).toEqual(before);
});

test("a refund reported before its payment is rejected and retried", async () => {
  provider.payments.set("pi_10", { berth_account: accountId });
  const before = (await ledger()).cents;
  expect((await send("refund.created", refund("re_10", "pi_10", 100))).status).toBe(503);
  await send("checkout.session.completed", paid("pi_10", 1_000));
  expect((await send("refund.created", refund("re_10", "pi_10", 100))).status).toBe(204);
  expect((await ledger()).cents - before).toBe(900);
});

test("another account's payments are its own", async () => {
  const other = await newAccount(service);
  const otherId = (await other.call("GET", "/account")).body.id as string;
  const before = (await ledger()).cents;
  await send("checkout.session.completed", paid("pi_9", 700, { metadata: { berth_account: otherId } }));
  await send("refund.created", refund("re_9", "pi_9", 100));
  expect((await ledger()).cents).toBe(before);
});
