import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { KeyServer } from "../support/provider-servers.ts";

// The first steps of a person: a model, an agent, a task.

let models: KeyServer;
let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  models = await KeyServer.start();
  models.key = ["authorization", "Bearer sk-first"];
  models.models = ["llama"];
  dashboard = await Dashboard.start({ providersInside: [models.authority] });
  ({ page } = await dashboard.signedIn());
});
afterAll(async () => {
  await dashboard?.[Symbol.asyncDispose]();
  models?.[Symbol.dispose]();
});

const steps = () => page.getByRole("region", { name: "Getting started" });
const step = (title: string) => steps().getByRole("listitem").filter({ hasText: title });

test("demo mode is said, and an agent suggests what the demonstration model can do", async () => {
  await step("Connect a model").getByText("Demo mode").waitFor();
  await step("Create an agent").getByRole("link", { name: "Create an agent" }).click();
  await page.getByLabel("Name").fill("ada");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByText("ada is ready").waitFor();
  await page.getByText("Demo mode: it does not think.").waitFor();
  await page.getByRole("list", { name: "Suggestions" }).getByRole("button", { name: "run: uname -a" }).click();
  const message = page.getByRole("textbox", { name: "Message to ada" });
  expect(await message.inputValue()).toBe("run: uname -a");
  await message.fill("hello");
  await message.press("Enter");
  await page.getByRole("article", { name: "Turn: hello" }).waitFor();
});

test("a provider is added from the first step, and tested on the spot", async () => {
  await page.getByRole("link", { name: "Connect a model" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Kind").selectOption("openai-compatible");
  await dialog.getByLabel("Name").fill("acme");
  await dialog.getByLabel("Address").fill(`${models.url}/v1`);
  await dialog.getByLabel("API key (optional)").fill("sk-wrong");
  await dialog.getByRole("button", { name: "Add it" }).click();
  await page.getByText("The model's provider does not accept the key (401).").waitFor();
  await page.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("API key").fill("sk-first");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByText(/^llama answered in/).waitFor();
});

test("steps that are done are marked, and all of them go once every step is done", async () => {
  await page.getByRole("link", { name: "Home", exact: true }).click();
  await page.getByRole("region", { name: "Recent" }).waitFor();
  await expect.poll(() => steps().count()).toBe(0);
});

test("the steps can be hidden for good", async () => {
  await dashboard.service.client.call("DELETE", "/providers/acme");
  await page.reload();
  await step("Create an agent").getByText("(done)").waitFor();
  await steps().getByRole("button", { name: "Hide" }).click();
  await expect.poll(() => steps().count()).toBe(0);
  await page.reload();
  await page.getByRole("region", { name: "Recent" }).waitFor();
  expect(await steps().count()).toBe(0);
});
