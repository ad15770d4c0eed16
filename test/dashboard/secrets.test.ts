import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";

// The workspace's secrets in the browser: set, changed, listed with an agent, and deleted.

let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  for (const name of ["ada", "bob"]) await dashboard.service.client.createAgent(name);
  ({ page } = await dashboard.signedIn());
  await page.goto(`${dashboard.url}/-/secrets`);
});
afterAll(async () => {
  await dashboard?.[Symbol.asyncDispose]();
});

const dialog = () => page.getByRole("dialog");
const row = (text: string) => page.getByRole("row").filter({ hasText: text });
const secret = async () => (await dashboard.service.client.call("GET", "/secrets/GITHUB_TOKEN")).body;

test("a secret is set for all agents, and shows the end of its value alone", async () => {
  await page.getByText("No secrets yet").waitFor();
  await page.getByRole("button", { name: "Set a secret" }).click();
  await dialog().getByLabel("Name").fill("GITHUB_TOKEN");
  await dialog().getByLabel("Value").fill("a-token-that-ends-with-wxyz");
  await dialog().getByRole("button", { name: "Set it" }).click();
  await dialog().getByRole("alert").filter({ hasText: "at least one host" }).waitFor();
  await dialog().getByLabel("Hosts").fill("api.github.com, github.com");
  await dialog().getByRole("button", { name: "Set it" }).click();
  await row("GITHUB_TOKEN").getByText("…wxyz").waitFor();
  await row("GITHUB_TOKEN").getByText("api.github.com, github.com").waitFor();
  expect(await secret()).toMatchObject({ agents: null, headers: ["authorization"] });
  expect(await page.content()).not.toContain("a-token-that-ends");
});

test("it is limited to some agents without its value, which another host needs", async () => {
  await row("GITHUB_TOKEN").getByRole("button", { name: "Edit" }).click();
  await dialog().getByLabel("Agents", { exact: true }).selectOption("Only some");
  await dialog().getByLabel("ada").check();
  await dialog().getByLabel("Hosts").fill("evil.example.com");
  await dialog().getByRole("button", { name: "Save" }).click();
  await dialog().getByRole("alert").filter({ hasText: "value is required" }).waitFor();
  await dialog().getByLabel("Hosts").fill("api.github.com");
  await dialog().getByRole("button", { name: "Save" }).click();
  await dialog().waitFor({ state: "detached" });
  await expect.poll(secret).toMatchObject({ agents: ["ada"], hosts: ["api.github.com"], lastFour: "wxyz" });
});

test("an agent that can use it lists it, and another does not", async () => {
  await page.goto(`${dashboard.url}/-/agents/ada/secrets`);
  await row("GITHUB_TOKEN").getByText("of the workspace").waitFor();
  expect(await row("GITHUB_TOKEN").getByRole("button", { name: "Remove" }).count()).toBe(0);
  await page.goto(`${dashboard.url}/-/agents/bob/secrets`);
  await page.getByText("No secrets yet").waitFor();
  // The page follows a change that another client makes.
  await dashboard.service.client.call("PUT", "/secrets/GITHUB_TOKEN", { agents: null });
  await row("GITHUB_TOKEN").getByText("of the workspace").waitFor();
});

test("it is deleted after a question", async () => {
  await page.goto(`${dashboard.url}/-/secrets`);
  await row("GITHUB_TOKEN").getByRole("button", { name: "Delete" }).click();
  await dialog().getByText("Requests of agents that use it fail").waitFor();
  await dialog().getByRole("button", { name: "Delete" }).click();
  await page.getByText("No secrets yet").waitFor();
  expect((await secret()).code).toBe("secret_not_found");
});
