import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard, password } from "../support/dashboard.ts";

// Two people in one workspace: one invites, the other joins, works there, and is made a viewer.

let dashboard: Dashboard;
/** The owner's page, and that of the person who joins. */
let page: Page;
let other: Page;
/** The name of the owner's personal workspace. */
let own: string;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  ({ page } = await dashboard.signedIn());
  own = (await dashboard.service.client.call("GET", "/me")).body.workspace.name;
  other = await (await dashboard.browser.newContext({ reducedMotion: "reduce" })).newPage();
  await other.goto(await userLink("simon"));
  await other.getByLabel("Password", { exact: true }).fill(password);
  await other.getByLabel("Once more").fill(password);
  await other.getByRole("button", { name: "Set the password" }).click();
  await other.getByRole("heading", { level: 1, name: "What needs you" }).waitFor();
  await other.getByRole("button", { name: /^Account of/ }).click();
  await other.getByRole("menuitem", { name: "Sign out", exact: true }).click();
  await other.getByRole("heading", { name: "You are signed out" }).waitFor();
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Adds a user. Returns the link that sets the password. */
async function userLink(name: string): Promise<string> {
  await page.goto(`${dashboard.url}/-/operator`);
  await page.getByRole("button", { name: "Add a user" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill(name);
  await page.getByRole("dialog").getByRole("button", { name: /^Add/ }).click();
  return (await page.getByTestId("once").textContent())!;
}

/** Makes an invitation on the owner's page, and returns its link. */
async function invite(role: string): Promise<string> {
  await page.goto(`${dashboard.url}/-/members`);
  await page.getByRole("button", { name: "Invite" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Role").selectOption(role);
  await dialog.getByRole("button", { name: "Make a link" }).click();
  const link = (await page.getByTestId("once").textContent())!;
  await dialog.getByRole("button", { name: "Done" }).click();
  return link;
}

/** As the service has it. */
async function roleOfSimon(): Promise<string> {
  const { body } = await dashboard.service.client.call("GET", `/workspaces/${own}/members`);
  return body.data.find(({ name }: { name: string }) => name === "simon").role;
}

async function chooseWorkspace(on: Page, from: string, to: string): Promise<void> {
  await on.getByRole("button", { name: `Workspace ${from}` }).click();
  await on.getByRole("menuitemradio", { name: new RegExp(`^${to}`) }).click();
}

test("a workspace is created in the menu, and is another one than the personal", async () => {
  await dashboard.service.client.createAgent("mine");
  await page.goto(`${dashboard.url}/-/agents`);
  await page.getByRole("link", { name: "mine" }).waitFor();
  await page.getByRole("button", { name: `Workspace ${own}` }).click();
  await page.getByRole("menuitem", { name: "Create a workspace" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("ops");
  await page.getByRole("dialog").getByRole("button", { name: "Create" }).click();
  await page.getByRole("button", { name: "Workspace ops" }).waitFor();
  await page.goto(`${dashboard.url}/-/agents`);
  await page.getByText("No agents yet").waitFor();
  await chooseWorkspace(page, "ops", own);
  await page.getByRole("button", { name: `Workspace ${own}` }).waitFor();
  await page.goto(`${dashboard.url}/-/agents`);
  await page.getByRole("link", { name: "mine" }).waitFor();
});

test("a person who follows an invitation joins after the sign-in, by a click", async () => {
  await page.goto(`${dashboard.url}/-/agents/mine`);
  await page.getByLabel("Message to mine").fill("a word of Ulla's");
  await page.keyboard.press("Enter");
  await page.getByRole("article").getByRole("button", { name: "Copy the answer" }).waitFor();
  const link = await invite("member");
  const token = new URL(link).hash.slice(1);
  const asked: string[] = [];
  other.on("request", (request) => asked.push(request.url(), request.headers().referer ?? ""));
  await other.goto(link);
  await other.getByLabel("Name").fill("simon");
  await other.getByLabel("Password").fill(password);
  await other.getByRole("button", { name: "Sign in" }).click();
  await other.getByRole("heading", { name: "Join a workspace" }).waitFor();
  expect(other.url()).toBe(`${dashboard.url}/-/join`);
  expect(asked.filter((each) => each.includes(token) && !each.startsWith(link))).toEqual([]);
  await other.getByRole("button", { name: "Join" }).click();
  await other.getByRole("button", { name: `Workspace ${own}` }).waitFor();
  // The owner has the page of members open.
  await page.getByRole("row").filter({ hasText: "simon" }).waitFor();
  await page.getByText("There are no open invitations").waitFor();
  await other.goto(`${dashboard.url}/-/agents/mine`);
  await other.getByRole("article", { name: /a word of Ulla's/ }).waitFor();
  const said = (on: Page, words: string) => on.getByRole("article", { name: new RegExp(words) });
  await said(other, "a word of Ulla's").getByText("Ulla", { exact: true }).waitFor();
  await page.goto(`${dashboard.url}/-/agents/mine`);
  await said(page, "a word of Ulla's").getByText("You", { exact: true }).waitFor();
  // Both have the conversation open.
  await other.getByLabel("Message to mine").fill("a word of Simon's");
  await other.keyboard.press("Enter");
  await said(page, "a word of Simon's").getByText("simon", { exact: true }).waitFor();
  await said(page, "a word of Simon's").getByRole("button", { name: "Copy the answer" }).waitFor();
  await page.getByLabel("Message to mine").fill("an answer to Simon");
  await page.keyboard.press("Enter");
  await said(other, "an answer to Simon").getByText("Ulla", { exact: true }).waitFor();
  await said(other, "an answer to Simon").getByRole("button", { name: "Copy the answer" }).waitFor();
  await page.goto(`${dashboard.url}/-/audit`);
  await page.getByRole("row").filter({ hasText: "simon" }).getByText("POST /agents/{name}/chat").waitFor();

  await other.goto(link);
  await other.getByRole("button", { name: "Join" }).click();
  await other.getByRole("alert").waitFor();
  expect(await other.getByRole("alert").textContent()).toContain("was used or revoked");
});

test("a member who becomes a viewer can read, and neither send nor change anything", async () => {
  await other.goto(`${dashboard.url}/-/agents/mine`);
  await other.getByLabel("Message to mine").waitFor();
  await page.goto(`${dashboard.url}/-/members`);
  await page.getByLabel("Role of simon").selectOption("viewer");
  await expect.poll(roleOfSimon).toBe("viewer");
  await other.getByText("You can read, but not send").waitFor();
  await other.getByRole("article", { name: /a word of Ulla's/ }).waitFor();
  expect(await other.getByLabel("Message to mine").count()).toBe(0);
  expect(await other.getByRole("link", { name: "Terminal" }).count()).toBe(0);
  for (const path of ["/-/agents", "/-/agents/mine/files", "/-/agents/mine/snapshots", "/-/members"]) {
    await other.goto(dashboard.url + path);
    await other.getByRole("heading", { level: 1 }).waitFor();
    await expect.poll(() => other.getByRole("status", { name: "Loading" }).count()).toBe(0);
    for (const name of ["Create agent", "Upload", "Take a snapshot", "Invite", "Keys", "Credits", "Audit"]) {
      const shown = other.getByRole("button", { name }).or(other.getByRole("link", { name }));
      expect(await shown.count(), `${name} in ${path}`).toBe(0);
    }
  }
  await other.getByRole("row").filter({ hasText: "simon" }).getByRole("button", { name: "Leave" }).waitFor();
});

test("a person who was removed is led back to the personal workspace", async () => {
  await page.getByRole("button", { name: "Remove simon" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("Nobody else is here").waitFor();
  await other.getByRole("button", { name: "Workspace simon" }).waitFor();
  await other.goto(`${dashboard.url}/-/agents`);
  await other.getByText("No agents yet").waitFor();
});
