import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";

// Webhooks in the browser: created, tested, changed, disabled by their receiver, and deleted.

let receiver: WebhookReceiver;
let dashboard: Dashboard;
let page: Page;
let secret = "";

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  dashboard = await Dashboard.start({ webhooksInside: [receiver.authorityText] });
  await dashboard.service.client.createAgent("ada");
  ({ page } = await dashboard.signedIn());
  await page.goto(`${dashboard.url}/-/webhooks`);
});
afterAll(async () => {
  await dashboard?.[Symbol.asyncDispose]();
  receiver?.[Symbol.dispose]();
});

const dialog = () => page.getByRole("dialog");
const row = (text: string) => page.getByRole("row").filter({ hasText: text });
const button = (name: string) => page.getByRole("button", { name, exact: true });

test("a webhook is created, and an address that may not be called is refused in place", async () => {
  await page.getByText("No webhooks yet").waitFor();
  await button("Create a webhook").click();
  await dialog().getByLabel("Address").fill("https://169.254.169.254/latest");
  await dialog().getByLabel("Events").selectOption("Some");
  await dialog().getByLabel("A run of an automation completed").check();
  await dialog().getByLabel("A turn failed").uncheck();
  await dialog().getByRole("button", { name: "Create it" }).click();
  await dialog().getByRole("alert").waitFor();
  await dialog().getByLabel("Address").fill(receiver.url("/first"));
  await dialog().getByRole("button", { name: "Create it" }).click();
  await dialog().getByText("Copy the secret now").waitFor();
  secret = (await dialog().getByTestId("once").textContent())!;
  expect(secret).toMatch(/^whsec_/);
  await dialog().getByRole("button", { name: "Done" }).click();
  await page.getByRole("link", { name: receiver.url("/first") }).click();
  await page.getByText("Events: A turn completed, A run of an automation completed, of all agents").waitFor();
  await page.getByText("No deliveries yet").waitFor();
});

test("a test is sent, and so is the event of a turn; a delivery is sent again", async () => {
  await button("Send a test").click();
  await row("webhook.test").getByText("delivered").waitFor();
  await dashboard.service.client.chat("ada", "hello");
  await row("turn.completed").getByText("delivered").waitFor();
  await row("turn.completed").getByRole("button", { name: "Redeliver" }).click();
  await expect
    .poll(() => receiver.events("/first", secret).map(({ type }) => type))
    .toEqual(["webhook.test", "turn.completed", "turn.completed"]);
});

test("it is changed, disabled and enabled, and its secret is replaced", async () => {
  await button("Edit").click();
  await dialog().getByLabel("Events").selectOption("All, also those of later versions");
  await dialog().getByLabel("Agents").selectOption("ada");
  await dialog().getByLabel("Send the texts of replies").check();
  await dialog().getByRole("button", { name: "Save" }).click();
  await page.getByText("All events, of ada, with the texts of replies.").waitFor();
  await button("Disable").click();
  await page.getByText("It is disabled.").waitFor();
  await button("Enable").click();
  await button("Disable").waitFor();
  await button("Replace the secret").click();
  await dialog().getByRole("button", { name: "Replace" }).click();
  const replaced = (await dialog().getByTestId("once").textContent())!;
  expect(replaced).not.toBe(secret);
  await dialog().getByRole("button", { name: "Done" }).click();
  await page.getByText("The secret before it signs as well until").waitFor();
});

test("one that its receiver has given up is on the home page, with the reason", async () => {
  receiver.answer = (_, response) => void response.writeHead(410).end();
  await button("Send a test").click();
  await page.getByRole("alert").filter({ hasText: "It is disabled" }).waitFor();
  await page.getByRole("link", { name: "Home" }).first().click();
  await page.getByRole("link", { name: "A webhook was disabled" }).click();
  await page.getByRole("heading", { level: 1, name: "Webhook" }).waitFor();
});

test("it is deleted", async () => {
  await button("Delete").click();
  await dialog().getByRole("button", { name: "Delete" }).click();
  await page.getByText("No webhooks yet").waitFor();
});
