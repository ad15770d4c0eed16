import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestClient } from "../support/client.ts";
import { Dashboard } from "../support/dashboard.ts";

// Hooks of automations in the browser: created, called, changed, and their deliveries.

let dashboard: Dashboard;
let client: TestClient;
let page: Page;
let address = "";
let secret = "";

beforeAll(async () => {
  dashboard = await Dashboard.start();
  client = dashboard.service.client;
  await client.createAgent("ada");
  ({ page } = await dashboard.signedIn());
  await page.goto(`${dashboard.url}/-/automations`);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const dialog = () => page.getByRole("dialog");
const section = (name: string) => page.getByRole("region", { name, exact: true });
const delivery = (text: string) => section("Deliveries").getByRole("row").filter({ hasText: text });

async function deliver(body: object, by = secret): Promise<number> {
  const headers = { authorization: `Bearer ${by}`, "content-type": "application/json" };
  return (await fetch(address, { method: "POST", headers, body: JSON.stringify(body) })).status;
}

test("a hook is created with a filter, and its address and secret are shown once", async () => {
  await page.getByRole("button", { name: "Create an automation" }).click();
  await dialog().getByLabel("Name").fill("alerts");
  await dialog().getByLabel("Agent").selectOption("ada");
  await dialog().getByLabel("Starts").selectOption("when another service calls its address");
  await dialog().getByLabel("Sender").selectOption("Slack");
  await dialog().getByLabel("Secret").waitFor();
  await dialog().getByLabel("Sender").selectOption("curl and scripts");
  await dialog().getByLabel("Message").fill("Look at {{body.host}}.");
  await dialog().getByRole("button", { name: "Add a filter" }).click();
  await dialog().getByLabel("Header or path of filter 1").fill("severity");
  await dialog().getByLabel("Value of filter 1").fill("high");
  await dialog().getByRole("button", { name: "Add a filter" }).click();
  await dialog().getByLabel("Header or path of filter 2").fill("$.[");
  await dialog().getByLabel("Value of filter 2").fill("x");
  await dialog().getByRole("button", { name: "Create it" }).click();
  await dialog().getByText("a path begins with $").waitFor();
  await dialog().getByRole("button", { name: "Remove filter 2" }).click();
  await dialog().getByLabel("Header or path of filter 1").fill("$.severity");
  await dialog().getByRole("button", { name: "Create it" }).click();
  await dialog().getByText("Copy the secret now").waitFor();
  [address, secret] = (await dialog().getByTestId("once").allTextContents()) as [string, string];
  await dialog().getByText(`Bearer ${secret}`).waitFor();
  await dialog().getByRole("button", { name: "Done" }).click();
  await section("Hook").getByText(address, { exact: true }).waitFor();
  await section("Hook")
    .getByText(`ends with ${secret.slice(-4)}`)
    .waitFor();
  await section("Hook").getByText("Only if $.severity is high").waitFor();
  await section("Deliveries").getByText("No deliveries yet").waitFor();
});

test("deliveries are listed with their verdicts and bodies, and sent again", async () => {
  expect(await deliver({ host: "db1", severity: "high" })).toBe(202);
  expect(await deliver({ host: "db2", severity: "low" })).toBe(202);
  expect(await deliver({ host: "db3" }, "wrong-wrong-wrong-wrong")).toBe(401);
  await delivery("refused").waitFor();
  await section("Runs").getByRole("row").filter({ hasText: "completed" }).getByRole("button").click();
  await dialog().getByText("db1").first().waitFor();
  await page.keyboard.press("Escape");
  await delivery("filtered").getByRole("button").click();
  await dialog().getByText('"host":"db2"').waitFor();
  await dialog().getByRole("button", { name: "Send again" }).click();
  await dialog().waitFor({ state: "detached" });
  await expect.poll(async () => (await client.call("GET", "/automations/alerts/runs")).body.data.length).toBe(2);
});

test("its filters are changed and its secret is replaced, while the one before stays valid", async () => {
  await page.getByRole("button", { name: "Edit" }).click();
  await dialog().getByLabel("Comparison of filter 1").selectOption("exists");
  await dialog().getByRole("button", { name: "Save" }).click();
  await section("Hook").getByText("Only if $.severity exists").waitFor();
  await section("Hook").getByRole("button", { name: "Replace the secret" }).click();
  await dialog().getByRole("button", { name: "Replace it" }).click();
  const replaced = (await dialog().getByTestId("once").last().textContent())!;
  expect(replaced).not.toBe(secret);
  await dialog().getByRole("button", { name: "Done" }).click();
  await section("Hook").getByText("The secret before it is valid until").waitFor();
  for (const each of [secret, replaced]) expect(await deliver({ host: "db4", severity: "low" }, each)).toBe(202);
});
