import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BerthError } from "../../src/contract/errors.ts";
import { TestClient } from "../support/client.ts";
import { Dashboard, password } from "../support/dashboard.ts";
import { signIn, useLink } from "../support/sign-in.ts";

let dashboard: Dashboard;
/** The workspace's owner. */
let page: Page;
/** A member of it. */
let member: TestClient;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  ({ page } = await dashboard.signedIn());
  const { client } = dashboard.service;
  await useLink((await client.call("POST", "/admin/users", { name: "mia" })).body.link, password);
  const { access_token: token } = await signIn(client.url, "mia", password);
  const { id } = (await client.call("GET", "/account")).body;
  const { body } = await client.call("POST", `/workspaces/${id}/invitations`, { role: "member" });
  await new TestClient(client.url, token).call("POST", `/invitations/${body.token}/accept`);
  member = new TestClient(client.url, token, id);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

test("an agent is created private, marked in the list, and shared by its maker", async () => {
  await page.goto(`${dashboard.url}/-/create-agent`);
  await page.getByLabel("Name").fill("diary");
  await page.getByLabel("Private").check();
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByRole("heading", { level: 1, name: "diary" }).waitFor();
  expect((await member.call("GET", "/agents/diary")).status).toBe(404);
  await page.goto(`${dashboard.url}/-/agents`);
  await page.getByRole("row", { name: /diary private/ }).waitFor();
  await page.goto(`${dashboard.url}/-/agents/diary/settings`);
  await page.getByRole("button", { name: "Share with the workspace" }).click();
  await page.getByRole("button", { name: "Make private" }).waitFor();
  expect((await member.call("GET", "/agents/diary")).status).toBe(200);
});

test("another person's private agent can be suspended and deleted, and shows nothing else", async () => {
  await member.createAgent("hers", { private: true });
  await page.goto(`${dashboard.url}/-/agents/hers`);
  await page.getByText("Only mia sees its conversation, files and settings.").waitFor();
  expect(await page.getByRole("link", { name: "Files" }).count()).toBe(0);
  await page.getByRole("button", { name: "Suspend" }).click();
  await page.getByText("suspended", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("hers");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
  expect((await member.call("GET", "/agents/hers")).status).toBe(404);
});

test("another person's private agent is offered for nothing that its maker alone may do", async () => {
  const { failures } = dashboard.service.driver;
  for (const [name, fields] of Object.entries({ hidden: { private: true }, shared: {} })) {
    failures.push(new BerthError("disk_full", "The disk is full."));
    expect((await member.createAgent(name, fields)).body.status).toBe("failed");
  }
  await page.goto(`${dashboard.url}/-/`);
  const needs = page.getByRole("list", { name: "Needs attention" });
  await needs.getByText("shared has failed").waitFor();
  expect(await needs.getByText("hidden").count()).toBe(0);

  await page.goto(`${dashboard.url}/-/keys`);
  await page.getByRole("button", { name: "Create API key" }).click();
  await page.getByLabel("Kind").selectOption({ label: "Only chats with some agents" });
  await page.getByRole("checkbox", { name: "shared" }).waitFor();
  expect(await page.getByRole("checkbox", { name: "hidden" }).count()).toBe(0);

  for (const [name, isOffered] of Object.entries({ shared: true, hidden: false })) {
    await page.goto(`${dashboard.url}/-/agents/${name}`);
    await page.getByText(isOffered ? "The disk is full." : "Only mia sees").waitFor();
    expect(await page.getByRole("button", { name: "Try again" }).isVisible()).toBe(isOffered);
    await page.keyboard.press("Control+k");
    await page.getByRole("option", { name: new RegExp(`^${name} failed`) }).waitFor();
    expect(await page.getByRole("option", { name: `${name}: Files` }).count()).toBe(isOffered ? 1 : 0);
  }
});
