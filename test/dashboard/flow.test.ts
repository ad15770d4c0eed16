import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";

// What a new user does on the first day, by role and label.

let dashboard: Dashboard;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  dashboard = await Dashboard.start();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

test("the printed link makes a user, who is signed in", async () => {
  ({ context, page } = await dashboard.signedIn());
  page.on("console", (message) => console.log(message.text()));
  expect(new URL(page.url()).pathname).toBe("/-/");
  await page.getByRole("button", { name: "Account of Ulla" }).first().waitFor();
});

test("an agent is created, asked, and answers; the cost is told", async () => {
  await page.getByRole("link", { name: "Agents" }).first().click();
  await page.getByRole("link", { name: "Create agent" }).first().click();
  await page.getByLabel("Name").fill("ada");
  await page.getByRole("radio", { name: /opencode/ }).check();
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByLabel("Message to ada").fill("hello **there**");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("article").getByText("there", { exact: true }).waitFor();
  expect(await page.getByRole("article").locator("strong, [data-streamdown=strong]").count()).toBe(1);
});
