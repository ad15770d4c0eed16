import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { MailServer, partsOf } from "../support/mail-server.ts";

// The address for mail in the browser: changed, confirmed by the link of a mail, and tested.

let mail: MailServer;
let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  mail = await MailServer.start();
  dashboard = await Dashboard.start({ mail: mail.config() });
  ({ page } = await dashboard.signedIn());
  await page.goto(`${dashboard.url}/-/notifications`);
});
afterAll(async () => {
  await dashboard?.[Symbol.asyncDispose]();
  await mail?.[Symbol.asyncDispose]();
});

const address = "ulla@example.com";
const section = () => page.getByRole("region", { name: "E-mail" });

test("an address waits for its link", async () => {
  await section().getByText("There is no e-mail address.").waitFor();
  await section().getByLabel("Address").fill(address);
  await section().getByRole("button", { name: "Change the address" }).click();
  await section().getByText(`${address} is used once you have opened the link`).waitFor();
  await section().getByRole("button", { name: "Send the link again" }).waitFor();
});

test("a link does nothing before the person confirms it, and works once", async () => {
  const [link] = /http\S+\/verify-email#\S+/.exec(partsOf(mail.to(address).at(-1)!.raw).text)!;
  await page.goto(link);
  await page.getByRole("button", { name: "Confirm it" }).waitFor();
  expect(new URL(page.url()).hash).toBe("");
  await page.getByRole("button", { name: "Confirm it" }).click();
  await page.getByText(`Notifications go to ${address}.`).waitFor();
  await page.goto(`${dashboard.url}/-/`);
  await page.goto(link);
  await page.getByRole("button", { name: "Confirm it" }).click();
  await page.getByRole("alert").getByText("The link was used").waitFor();
});

test("a test arrives at the address", async () => {
  await page.getByRole("link", { name: "Notifications" }).click();
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("E-mail: sent").waitFor();
  expect(mail.to(address).at(-1)!.raw).toContain("Subject: Test of Berth");
});

test("a refused address says so, and mail is turned off", async () => {
  mail.refusal = () => 550;
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("E-mail: The mail server refused the address (550).").waitFor();
  await page.reload();
  await section().getByText("The last notification did not arrive").waitFor();
  await section().getByRole("checkbox").uncheck();
  await section().getByText("Notifications by mail are off.").waitFor();
});
