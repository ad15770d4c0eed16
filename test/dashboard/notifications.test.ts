import type { BrowserContext, CDPSession, Page, Worker } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callAs, Dashboard } from "../support/dashboard.ts";
import { type BrowserSubscription, PushService } from "../support/push-service.ts";

// Notifications in the browser: what a person hears of, and a browser that shows them. The browser's own push service is
// not there, so that the subscription comes from the test's; what it delivers is put into the browser as it was decrypted.

let pushService: PushService;
let dashboard: Dashboard;
let context: BrowserContext;
let page: Page;
let browser: BrowserSubscription;

beforeAll(async () => {
  pushService = await PushService.start();
  dashboard = await Dashboard.start({ webhooksInside: [pushService.authorityText] });
  await dashboard.service.client.createAgent("ada");
  ({ context, page } = await dashboard.signedIn());
  await page.exposeFunction("subscribeAt", (key: string) => {
    browser = pushService.subscribe(key);
    return browser;
  });
  await page.getByRole("button", { name: "Account of Ulla" }).click();
  await page.getByRole("menuitem", { name: "Notifications" }).click();
  await page.getByRole("heading", { level: 1, name: "Notifications" }).waitFor();
});
afterAll(async () => {
  await dashboard?.[Symbol.asyncDispose]();
  pushService?.[Symbol.dispose]();
});

const section = (name: string) => page.getByRole("region", { name, exact: true });
const button = (name: string) => page.getByRole("button", { name, exact: true });

/** Has the browser subscribe at the test's push service. */
async function havePushService(): Promise<void> {
  await page.evaluate(`PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
    const made = await subscribeAt(applicationServerKey);
    return { toJSON: () => made };
  }`);
}

test("a channel that is not there says what is missing", async () => {
  await section("E-mail").getByText("BERTH_SMTP_URL").waitFor();
});

test("what the person hears of is changed, for all agents and for one", async () => {
  await section("What you hear of").getByLabel("All agents").selectOption("Nothing");
  await section("What you hear of").getByLabel("Of this agent").selectOption("Also what completes");
  await button("Add").click();
  await page.getByRole("row").filter({ hasText: "ada" }).getByText("Also what completes").waitFor();
  await page.reload();
  await expect.poll(() => section("What you hear of").getByLabel("All agents").inputValue()).toBe("none");
  await button("Remove the choice for ada").click();
  await section("What you hear of").getByLabel("Agent", { exact: true }).waitFor();
});

test("quiet hours are set in a time zone, and an unknown zone is refused in place", async () => {
  const quiet = section("Quiet hours");
  await quiet.getByRole("checkbox").check();
  await quiet.getByLabel("From").fill("21:30");
  await quiet.getByLabel("Time zone").fill("Europe/Nowhere");
  await button("Save the quiet hours").click();
  await quiet.getByRole("alert").getByText("IANA").waitFor();
  await quiet.getByLabel("Time zone").fill("Europe/Berlin");
  await button("Save the quiet hours").click();
  await quiet.getByRole("alert").waitFor({ state: "detached" });
  await page.reload();
  await expect.poll(() => quiet.getByLabel("From").inputValue()).toBe("21:30");
  expect(await quiet.getByLabel("Time zone").inputValue()).toBe("Europe/Berlin");
  await quiet.getByRole("checkbox").uncheck();
  await button("Save the quiet hours").click();
  await quiet.getByLabel("From").waitFor({ state: "detached" });
});

test("a browser whose push service does not answer says so", async () => {
  await context.grantPermissions(["notifications"], { origin: new URL(page.url()).origin });
  await page.reload();
  await button("Notify in this browser").click();
  await section("Browsers").getByRole("alert").getByText("push service did not answer").waitFor();
});

test("a browser subscribes, and a test arrives", async () => {
  await havePushService();
  await button("Notify in this browser").click();
  await button("Stop in this browser").waitFor();
  await page.getByRole("row").filter({ hasText: "(this one)" }).waitFor();
  await button("Send a test").click();
  await page.getByText("Browsers: sent").waitFor();
  expect(pushService.to(browser)).toMatchObject([{ title: "Test of Berth", url: expect.stringMatching(/^\/-\//) }]);
  expect(pushService.refusals).toEqual([]);
});

test("the service worker shows a message, and opens what it is about", async () => {
  const [worker] = context.serviceWorkers() as [Worker];
  const cdp = await context.newCDPSession(page);
  const registrationId = await registrationOf(cdp);
  const message = { title: "ada waits for an approval", body: "Open it.", url: "/-/agents/ada/files", tag: "ada" };
  const origin = new URL(page.url()).origin;
  const shown = () =>
    page.evaluate(`navigator.serviceWorker.ready
      .then((registration) => registration.getNotifications())
      .then((all) => all.map(({ title, body, tag }) => ({ title, body, tag })))`);
  // Chromium removes a notification that is not on the screen yet when the list of them is read.
  await worker.evaluate(`(() => {
    const show = registration.showNotification.bind(registration);
    globalThis.onScreen = new Promise((resolve, reject) => {
      registration.showNotification = (...message) => {
        const shown = show(...message);
        shown.then(resolve, reject);
        return shown;
      };
    });
  })()`);
  await cdp.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data: JSON.stringify(message) });
  await worker.evaluate("onScreen");
  expect(await shown()).toEqual([{ title: message.title, body: "Open it.", tag: "ada" }]);
  // Browsers open windows only after a person's click, which no test can make.
  const address = await worker.evaluate(`new Promise((resolve) => {
    clients.openWindow = async (href) => resolve(href);
    registration.getNotifications().then(([notification]) =>
      dispatchEvent(new NotificationEvent("notificationclick", { notification })));
  })`);
  expect(address).toBe(`${origin}/-/agents/ada/files`);
  expect(await shown()).toEqual([]);
});

test("a page closes a notification once its items are read, and no other", async () => {
  const { client } = dashboard.service;
  await page.evaluate("navigator.serviceWorker.ready");
  const { id } = (await client.call("GET", "/account")).body;
  const show = (tag: string, items: string[]) =>
    page.evaluate(`navigator.serviceWorker.ready.then((registration) =>
      registration.showNotification("${tag}", { tag: "${tag}", data: ${JSON.stringify({ url: "/-/", workspaceId: id, items })} }))`);
  const shown = () =>
    page.evaluate(`navigator.serviceWorker.ready
      .then((registration) => registration.getNotifications())
      .then((all) => all.map(({ tag }) => tag).sort())`);
  await callAs(page, "POST", "/agents/ada/chat", { message: "crash" });
  const inbox = async () => (await callAs(page, "GET", "/inbox?unread=true")).data as { id: string }[];
  await expect.poll(async () => (await inbox()).length).toBeGreaterThan(0);
  const [item] = await inbox();
  await show("unread", [item!.id]);
  await show("read", ["11111111-58a4-4ec5-b3d1-6e1f0a1f2f30"]);
  await show("other", []);
  await page.reload();
  await expect.poll(shown).toEqual(["other", "unread"]);
  await callAs(page, "POST", "/inbox/read", { ids: [item!.id] });
  await expect.poll(shown).toEqual(["other"]);
});

test("a browser that has unsubscribed is removed at the next message", async () => {
  pushService.unsubscribe(browser);
  await button("Send a test").click();
  await page.getByText("Browsers: sent").waitFor({ state: "detached" });
  await page.reload();
  await button("Notify in this browser").waitFor();
});

test("a browser that is signed out shows no more notifications", async () => {
  await havePushService();
  await button("Notify in this browser").click();
  await button("Stop in this browser").waitFor();
  await page.getByRole("button", { name: "Account of Ulla" }).click();
  await page.getByRole("menuitem", { name: "Sign out", exact: true }).click();
  await page.getByRole("heading", { name: "You are signed out" }).waitFor();
  const other = await dashboard.signedIn();
  await other.page.goto(`${dashboard.url}/-/notifications`);
  await other.page.getByRole("button", { name: "Notify in this browser" }).waitFor();
  expect(await other.page.getByRole("table", { name: "Browsers" }).count()).toBe(0);
  await other.context.close();
});

test("a link chooses its workspace, and the personal one", async () => {
  const { page: other, context: own } = await dashboard.signedIn();
  const [personal] = (await dashboard.service.client.call("GET", "/workspaces")).body.data;
  await other.goto(`${dashboard.url}/-/agents?workspace=${personal.id}`);
  await other.getByRole("link", { name: "ada" }).first().waitFor();
  expect(new URL(other.url()).search).toBe("");
  await other.goto(`${dashboard.url}/-/agents?workspace=personal`);
  await other.getByRole("link", { name: "ada" }).first().waitFor();
  await other.goto(`${dashboard.url}/-/agents?workspace=00000000-0000-0000-0000-000000000000`);
  await other.getByText("You are no longer a member of the workspace that was open").waitFor();
  await own.close();
});

async function registrationOf(cdp: CDPSession): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => resolve(registrations[0]!.registrationId));
  await cdp.send("ServiceWorker.enable");
  return promise;
}
