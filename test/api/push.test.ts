import { afterAll, beforeAll, expect, test } from "vitest";
import { maximumPushSubscriptions, type PushSubscription } from "../../src/contract/push.ts";
import type { TestClient } from "../support/client.ts";
import { PeoplesService } from "../support/people.ts";
import { type BrowserSubscription, PushService } from "../support/push-service.ts";

// Browsers that show a person's notifications, at a push service that verifies and decrypts as real ones and browsers do.

let pushService: PushService;
let people: PeoplesService;
let olga: TestClient;
let publicKey: string;

beforeAll(async () => {
  pushService = await PushService.start();
  people = await PeoplesService.start({ webhooksInside: [pushService.authorityText] });
  olga = await people.person();
  publicKey = (await olga.call("GET", "/me/push-subscriptions")).body.publicKey;
});
afterAll(async () => {
  await people?.[Symbol.asyncDispose]();
  pushService?.[Symbol.dispose]();
});

async function subscribe(browser: BrowserSubscription, fields: object = {}, by = olga): Promise<PushSubscription> {
  const { status, body } = await by.call("POST", "/me/push-subscriptions", { ...browser, ...fields });
  expect([status, body]).toEqual([201, body]);
  return body;
}

const list = async (by = olga): Promise<PushSubscription[]> =>
  (await by.call("GET", "/me/push-subscriptions")).body.data;

test("a browser is added, listed and removed, and its address is not shown", async () => {
  expect(Buffer.from(publicKey, "base64url")).toHaveLength(65);
  expect(await list()).toEqual([]);
  const browser = pushService.subscribe(publicKey);
  const made = await subscribe(browser, { name: "Firefox on Linux", expirationTime: null });
  expect(made).toEqual({
    id: made.id,
    name: "Firefox on Linux",
    service: pushService.authorityText,
    createdAt: made.createdAt,
    sentAt: null,
    error: null,
  });
  expect(await list()).toEqual([made]);
  const again = await subscribe(browser, { name: "Firefox" });
  expect(again).toEqual({ ...made, name: "Firefox" });
  expect((await olga.call("DELETE", `/me/push-subscriptions/${made.id}`)).status).toBe(204);
  expect(await list()).toEqual([]);
  expect((await olga.call("DELETE", `/me/push-subscriptions/${made.id}`)).body.code).toBe(
    "push_subscription_not_found",
  );
  expect((await olga.call("DELETE", "/me/push-subscriptions/none")).body.code).toBe("push_subscription_not_found");
});

test.each([
  ["an http address", { endpoint: "http://example.com/push" }, "endpoint"],
  ["an inner address", { endpoint: "https://169.254.169.254/latest" }, "endpoint"],
  ["an address with a password", { endpoint: "https://a:b@example.com/" }, "endpoint"],
  ["no address", { endpoint: "push" }, "endpoint"],
  ["a long address", { endpoint: `https://example.com/${"a".repeat(2_000)}` }, "endpoint"],
  ["a short key", { keys: { p256dh: "BA", auth: "A".repeat(22) } }, "p256dh"],
  ["bytes that are no point of the curve", { keys: { p256dh: "B".repeat(87), auth: "A".repeat(22) } }, "p256dh"],
  ["a short secret", { keys: { p256dh: "B".repeat(87), auth: "AAAA" } }, "auth"],
  ["an unknown field", { more: true }, "more"],
])("%s is refused", async (_, fields, named) => {
  const { status, body } = await olga.call("POST", "/me/push-subscriptions", {
    ...pushService.subscribe(publicKey),
    ...fields,
  });
  expect([status, body.code, body.message]).toEqual([400, "request_invalid", expect.stringContaining(named)]);
});

test("a new browser replaces the oldest of too many", async () => {
  const made: string[] = [];
  for (let count = 0; count <= maximumPushSubscriptions; count++) {
    made.push((await subscribe(pushService.subscribe(publicKey))).id);
  }
  expect((await list()).map(({ id }) => id)).toEqual(made.slice(1).toReversed());
  for (const id of made) await olga.call("DELETE", `/me/push-subscriptions/${id}`);
});

test("browsers are a person's own", async () => {
  const browser = pushService.subscribe(publicKey);
  const { id } = await subscribe(browser);
  const bea = await people.person();
  expect(await list(bea)).toEqual([]);
  expect((await bea.call("DELETE", `/me/push-subscriptions/${id}`)).status).toBe(404);
  // The address alone takes nothing from her.
  const { keys } = pushService.subscribe(publicKey);
  await subscribe({ ...browser, keys }, {}, bea);
  expect(await list()).toHaveLength(1);
  // In the same browser, the person who signed in last is notified.
  await subscribe(browser, {}, bea);
  expect([await list(), (await list(bea)).length]).toEqual([[], 1]);
});
