import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { ChatGptServer } from "../support/subscription-servers.ts";

// Logins of subscriptions in the browser: begun, finished, failed and begun again.

let vendor: ChatGptServer;
let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  vendor = await ChatGptServer.start();
  dashboard = await Dashboard.start({ subscriptions: { claude: "http://127.0.0.1:9", ...vendor.urls } });
  ({ page } = await dashboard.signedIn());
  await page.goto(`${dashboard.url}/-/providers`);
});
afterAll(async () => {
  await dashboard?.[Symbol.asyncDispose]();
  vendor?.[Symbol.dispose]();
});

const dialog = () => page.getByRole("dialog");
const codeShown = async () =>
  (await row("chatgpt")
    .getByText(/^CODE-/)
    .textContent()) ?? "";
const row = (text: string) => page.getByRole("row").filter({ hasText: text });

test("a login shows its page and code, and disappears when a person has finished it", async () => {
  await page.getByRole("button", { name: "Add a provider" }).click();
  await dialog().getByLabel("Kind").selectOption("chatgpt");
  await dialog().getByText("OpenAI's terms").waitFor();
  await dialog().getByRole("button", { name: "Add it" }).click();
  const login = row("chatgpt");
  await login.getByText("waiting for the login").waitFor();
  expect(await login.getByRole("link").getAttribute("href")).toBe(`${vendor.url}/codex/device`);
  const code = await codeShown();
  vendor.codes.set(code, true);
  await login.getByText(vendor.email).waitFor();
  await login.getByText("waiting for the login").waitFor({ state: "detached" });
});

test("a subscription for one person is added, and says so", async () => {
  await page.getByRole("button", { name: "Add a provider" }).click();
  await dialog().getByLabel("Kind").selectOption("claude");
  await dialog().getByLabel("For").selectOption("person");
  await dialog().getByLabel("Token of claude setup-token").fill("sk-ant-oat01-a-token-7890");
  await dialog().getByRole("button", { name: "Add it" }).click();
  await row("claude").getByText("you alone").waitFor();
  await row("claude").getByText("…7890").waitFor();
  await row("claude").getByRole("button", { name: "Delete" }).click();
  await dialog().getByRole("button", { name: "Delete" }).click();
  await row("claude").waitFor({ state: "detached" });
});

test("a login that has failed says why, and is begun again", async () => {
  await row("chatgpt").getByRole("button", { name: "Delete" }).click();
  await dialog().getByRole("button", { name: "Delete" }).click();
  await page.getByText("No providers yet").waitFor();
  await page.getByRole("button", { name: "Add a provider" }).click();
  await dialog().getByLabel("Kind").selectOption("chatgpt");
  await dialog().getByRole("button", { name: "Add it" }).click();
  const code = await codeShown();
  vendor.codes.delete(code);
  await row("chatgpt").getByText("OpenAI did not accept the login (400).").waitFor();
  await row("chatgpt").getByRole("button", { name: "Reconnect" }).click();
  const next = await codeShown();
  expect(next).not.toBe(code);
  vendor.codes.set(next, true);
  await row("chatgpt").getByText(vendor.email).waitFor();
});
