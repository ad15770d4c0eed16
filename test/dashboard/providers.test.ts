import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { KeyServer } from "../support/provider-servers.ts";

// Providers in the browser: added, tested, changed and deleted.

const apiKey = "sk-a-key-of-the-browser-7890";
let models: KeyServer;
let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  models = await KeyServer.start();
  models.key = ["authorization", `Bearer ${apiKey}`];
  models.models = ["llama"];
  dashboard = await Dashboard.start({ providersInside: [models.authority] });
  ({ page } = await dashboard.signedIn());
  await page.goto(`${dashboard.url}/-/providers`);
});
afterAll(async () => {
  await dashboard?.[Symbol.asyncDispose]();
  models?.[Symbol.dispose]();
});

const dialog = () => page.getByRole("dialog");
const row = (text: string) => page.getByRole("row").filter({ hasText: text });
const button = (name: string) => page.getByRole("button", { name, exact: true });

test("a provider is added, and an inner address is refused in place", async () => {
  await page.getByText("No providers yet").waitFor();
  await button("Add a provider").click();
  await dialog().getByLabel("Kind").selectOption("openai-compatible");
  await dialog().getByLabel("Name").fill("acme");
  await dialog().getByLabel("Address").fill("https://10.0.0.1/v1");
  await dialog().getByLabel("API key (optional)").fill(apiKey);
  await dialog().getByRole("button", { name: "Add it" }).click();
  await dialog().getByRole("alert").getByText("not on the public internet").waitFor();
  expect(await dialog().getByLabel("API key (optional)").inputValue()).toBe(apiKey);
  await dialog().getByLabel("Address").fill(`${models.url}/v1`);
  await dialog().getByRole("button", { name: "Add it" }).click();
  await row("acme").getByText("…7890").waitFor();
  expect(await page.content()).not.toContain(apiKey);
});

test("a test says whether a model answers, and why not", async () => {
  await row("acme").getByRole("button", { name: "Test" }).click();
  await row("acme")
    .getByText(/^llama answered in \d+ ms\.$/)
    .waitFor();
  models.key = ["authorization", "Bearer another"];
  await row("acme").getByRole("button", { name: "Edit" }).click();
  await dialog().getByLabel("Models").fill("llama\nmistral");
  await dialog().getByRole("button", { name: "Save" }).click();
  await row("acme").getByText("llama, mistral").waitFor();
  await row("acme").getByRole("button", { name: "Test" }).click();
  await row("acme").getByText("The model's provider does not accept the key (401).").waitFor();
});

test("a secret of the workspace takes the key's place", async () => {
  await dashboard.service.client.call("PUT", "/secrets/MODEL_KEY", {
    ...{ value: apiKey, hosts: [`http://${models.authority}`], agents: [] },
  });
  models.key = ["authorization", `Bearer ${apiKey}`];
  await page.reload();
  await row("acme").getByRole("button", { name: "Edit" }).click();
  await dialog().getByLabel("Key from").selectOption("MODEL_KEY");
  expect(await dialog().getByLabel("API key").count()).toBe(0);
  await dialog().getByRole("button", { name: "Save" }).click();
  await row("acme").getByText("MODEL_KEY").waitFor();
  await row("acme").getByRole("button", { name: "Test" }).click();
  await row("acme")
    .getByText(/^llama answered in \d+ ms\.$/)
    .waitFor();
});

test("its models are offered for a new agent", async () => {
  await page.goto(`${dashboard.url}/-/create-agent`);
  await page.getByText("acme/mistral").first().waitFor({ state: "attached" });
});

test("it is deleted after a question, also where another page shows it", async () => {
  await page.goto(`${dashboard.url}/-/providers`);
  const other = await page.context().newPage();
  await other.goto(`${dashboard.url}/-/providers`);
  await other.getByText("acme").first().waitFor();
  await row("acme").getByRole("button", { name: "Delete" }).click();
  await dialog().getByRole("button", { name: "Delete" }).click();
  await page.getByText("No providers yet").waitFor();
  await other.getByText("No providers yet").waitFor();
  await other.close();
});

test("one of the environment is shown without actions", async () => {
  await using another = await Dashboard.start({ anthropic: { baseUrl: models.url, apiKey } });
  const { page: view } = await another.signedIn();
  await view.goto(`${another.url}/-/providers`);
  await view.getByRole("row").filter({ hasText: "all workspaces" }).waitFor();
  expect(await view.getByRole("button", { name: "Delete" }).count()).toBe(0);
});
