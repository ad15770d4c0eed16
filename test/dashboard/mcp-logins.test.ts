import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { SignInServers } from "../support/mcp-oauth-servers.ts";

// Sign-ins to MCP servers in the browser: connected in another tab, refused, connected again, used and disconnected.

let servers: SignInServers;
let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  servers = await SignInServers.start();
  dashboard = await Dashboard.start({ egressInside: servers.inside });
  await dashboard.service.client.createAgent("ada");
  ({ page } = await dashboard.signedIn());
  await page.goto(`${dashboard.url}/-/secrets`);
});
afterAll(async () => {
  await dashboard?.[Symbol.asyncDispose]();
  servers?.[Symbol.dispose]();
});

const dialog = () => page.getByRole("dialog");
const row = () => page.getByRole("row").filter({ hasText: "LINEAR" });

/** Opens the authorization server's page in another tab, and returns the text of the last page there. */
async function signIn(): Promise<string> {
  const [tab] = await Promise.all([
    page.context().waitForEvent("page"),
    dialog().getByRole("link", { name: "Sign in at localhost" }).click(),
  ]);
  await tab.waitForURL(/\/mcp\/callback/);
  const text = (await tab.getByRole("main").textContent()) ?? "";
  await tab.close();
  return text;
}

test("a refused sign-in says why, and is begun again", async () => {
  await page.getByRole("button", { name: "Connect an MCP server" }).click();
  await dialog().getByLabel("Name").fill("LINEAR");
  await dialog().getByLabel("Address").fill("https://127.0.0.1/mcp");
  await dialog().getByRole("button", { name: "Continue" }).click();
  await dialog().getByRole("alert").filter({ hasText: "public internet" }).waitFor();
  await dialog().getByLabel("Address").fill(servers.url);
  await dialog().getByRole("button", { name: "Continue" }).click();
  servers.provider.consents = false;
  expect(await signIn()).toContain("refused the access");
  await dialog().getByText("not connected").waitFor();
  await dialog().getByText("refused the access").waitFor();
  servers.provider.consents = true;
  await dialog().getByRole("button", { name: "Begin again" }).click();
  expect(await signIn()).toContain("Agents can use the MCP server now.");
  await dialog()
    .getByText("Authorization: Bearer $" + "{LINEAR}")
    .waitFor();
  await dialog().getByRole("button", { name: "Close", exact: true }).last().click();
  await row().getByText("connected", { exact: true }).waitFor();
  await row().getByText(servers.url).waitFor();
});

test("an agent's MCP server takes its address and header from it", async () => {
  await page.goto(`${dashboard.url}/-/agents/ada/settings`);
  await page.getByRole("button", { name: "Add a server" }).click();
  await dialog().getByLabel("Name").fill("linear");
  await dialog().getByLabel("Sign-in").selectOption("LINEAR");
  await dialog().getByRole("button", { name: "Save" }).click();
  await dialog().waitFor({ state: "detached" });
  const servedBy = async () => (await dashboard.service.client.call("GET", "/agents/ada")).body.mcpServers;
  await expect
    .poll(servedBy)
    .toEqual({ linear: { url: servers.url, headers: { Authorization: "Bearer $" + "{LINEAR}" } } });
});

test("it is limited to some agents, fails, is connected again and disconnected", async () => {
  await page.goto(`${dashboard.url}/-/secrets`);
  await row().getByRole("button", { name: "Edit" }).click();
  expect(await dialog().getByLabel("Hosts").count()).toBe(0);
  await dialog().getByLabel("Agents", { exact: true }).selectOption("Only some");
  await dialog().getByLabel("ada").check();
  await dialog().getByRole("button", { name: "Save" }).click();
  await dialog().waitFor({ state: "detached" });
  const { driver } = dashboard.service;
  const [id] = driver.running as [string];
  const token = () => driver.provided.get(id)?.placeholders.LINEAR;
  servers.provider.endAll();
  servers.provider.refreshTokens.clear();
  expect((await servers.ask(driver.proxyOf(id), `Bearer ${token()}`)).status).toBe(401);
  await row().getByText("sign-in failed").waitFor();
  await row().getByText("invalid_grant").waitFor();
  await row().getByRole("button", { name: "Reconnect" }).click();
  await dialog().getByRole("button", { name: "Continue" }).click();
  await signIn();
  await dialog().getByText("connected", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await row().getByText("connected", { exact: true }).waitFor();
  await row().getByRole("button", { name: "Disconnect" }).click();
  await dialog().getByRole("button", { name: "Disconnect" }).click();
  await page.getByText("No secrets yet").waitFor();
});
