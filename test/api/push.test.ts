import { afterAll, beforeAll, expect, test } from "vitest";
import { maximumPushSubscriptions, type PushSubscription } from "../../src/contract/push.ts";
import { TestClient } from "../support/client.ts";
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

async function sendTest(by: TestClient): Promise<{ sent: boolean; error: string | null }> {
  const { status, body } = await by.call("POST", "/me/profile/test");
  expect([status, body]).toEqual([200, body]);
  return body.channels.find(({ channel }: { channel: string }) => channel === "push");
}

test("a message arrives at all of a person's browsers, and at no other", async () => {
  const person = await people.person();
  const browsers = Array.from({ length: 10 }, () => pushService.subscribe(publicKey));
  for (const browser of browsers) await subscribe(browser, {}, person);
  const other = pushService.subscribe(publicKey);
  await subscribe(other);
  expect(await sendTest(person)).toMatchObject({ sent: true, error: null });
  const message = {
    title: "Test of Berth",
    body: expect.any(String),
    url: "/-/",
    tag: "test",
    workspaceId: "",
    items: [],
  };
  for (const browser of browsers) expect(pushService.to(browser)).toEqual([message]);
  expect([pushService.to(other), pushService.refusals]).toEqual([[], []]);
  expect((await list(person)).every(({ sentAt, error }) => sentAt !== null && error === null)).toBe(true);
});

test("a browser that has unsubscribed is removed, and the others are notified", async () => {
  const person = await people.person();
  const [gone, kept] = [pushService.subscribe(publicKey), pushService.subscribe(publicKey)];
  await subscribe(gone, { name: "gone" }, person);
  await subscribe(kept, { name: "kept" }, person);
  pushService.unsubscribe(gone);
  expect(await sendTest(person)).toMatchObject({ sent: true });
  expect((await list(person)).map(({ name }) => name)).toEqual(["kept"]);
  pushService.unsubscribe(kept);
  expect(await sendTest(person)).toMatchObject({ sent: false, error: expect.stringContaining("unsubscribed") });
  expect(await sendTest(person)).toMatchObject({ sent: false, error: expect.stringContaining("No browser") });
});

test.each([
  [413, "413"],
  [429, "429"],
  [500, "500"],
  [302, "302"],
])("an answer %i of the push service is the browser's error", async (status, named) => {
  const person = await people.person();
  await subscribe(pushService.subscribe(publicKey), {}, person);
  pushService.status = status;
  const failed = await sendTest(person).finally(() => {
    pushService.status = 201;
  });
  expect(failed).toMatchObject({ sent: false, error: expect.stringContaining(named) });
  expect(await list(person)).toMatchObject([{ sentAt: null, error: expect.stringContaining(named) }]);
  expect(await sendTest(person)).toMatchObject({ sent: true });
  expect(await list(person)).toMatchObject([{ sentAt: expect.any(String), error: null }]);
});

test("a push service that cannot be reached is the browser's error", async () => {
  const person = await people.person();
  const { keys } = pushService.subscribe(publicKey);
  await subscribe({ endpoint: "https://push.invalid/1", keys }, {}, person);
  expect(await sendTest(person)).toMatchObject({ sent: false, error: expect.stringContaining("name has no address") });
});

test("the server's key stays after a restart", async () => {
  await people.service.restart();
  const again = new TestClient(people.service.server.url, olga.key);
  expect((await again.call("GET", "/me/push-subscriptions")).body.publicKey).toBe(publicKey);
});
