import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestClient } from "../support/client.ts";
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
  await other.getByLabel("Confirm password").fill(password);
  await other.getByRole("button", { name: "Set password" }).click();
  await other.getByRole("heading", { level: 1, name: "Needs attention" }).waitFor();
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
  const file = { name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("from Simon") };
  await other.goto(`${dashboard.url}/-/agents/mine/files`);
  await other.getByLabel("Files to upload").setInputFiles(file);
  await other.getByRole("row").filter({ hasText: file.name }).getByText("· You").waitFor();
  await page.goto(`${dashboard.url}/-/agents/mine/files`);
  await page.getByRole("row").filter({ hasText: file.name }).getByText("· simon").waitFor();

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
  await other.goto(`${dashboard.url}/-/agents/mine/files?file=note.txt`);
  await other.getByText("Read-only").waitFor();
  const content = other.getByRole("textbox", { name: "Content of note.txt" });
  expect(await content.getAttribute("contenteditable")).toBe("false");
  expect(await other.getByRole("button", { name: "Save" }).count()).toBe(0);
  await dashboard.service.client.ask("mine", "write a.txt one");
  await other.goto(`${dashboard.url}/-/agents/mine/changes`);
  await other.getByRole("row").filter({ hasText: "one" }).waitFor();
  for (const name of [/Revert/, /Comment/]) expect(await other.getByRole("button", { name }).count()).toBe(0);
  await other.keyboard.press("n");
  expect(await other.evaluate("document.activeElement.textContent")).toBe("1");
  for (const path of ["/-/keys", "/-/audit", "/-/create-agent", "/-/agents/mine/secrets"]) {
    await other.goto(dashboard.url + path);
    await other.getByText("This view needs the role member").waitFor();
    await other.getByText(`Your role in ${own} is viewer.`).waitFor();
  }
  await other.getByRole("link", { name: "Members" }).last().click();
  await other.getByRole("row").filter({ hasText: "simon" }).getByRole("button", { name: "Leave" }).waitFor();
});

test("a person who was removed is led back to the personal workspace, and sees why", async () => {
  await page.getByRole("button", { name: "Remove simon" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("Nobody else is here").waitFor();
  await other.getByRole("button", { name: "Workspace simon" }).waitFor();
  await other.getByText(`You are no longer a member of ${own}, or it was deleted.`).waitFor();
  await other.getByRole("button", { name: "Dismiss" }).click();
  expect(await other.getByText("You are no longer a member").count()).toBe(0);
  await other.goto(`${dashboard.url}/-/agents`);
  await other.getByText("No agents yet").waitFor();
});

test("a workspace is renamed by its owner, and an invalid name is refused", async () => {
  await chooseWorkspace(page, own, "ops");
  await page.getByRole("button", { name: "Workspace ops" }).waitFor();
  await page.goto(`${dashboard.url}/-/members`);
  const settings = page.getByRole("region", { name: "Workspace", exact: true });
  const rename = async (name: string) => {
    await settings.getByLabel("Name").fill(name);
    await settings.getByRole("button", { name: "Rename" }).click();
  };
  await rename("the team");
  await page.getByRole("button", { name: "Workspace the team" }).waitFor();
  await rename("a\tb");
  await settings.getByRole("alert").waitFor();
  expect(await settings.getByRole("alert").textContent()).toContain("1 to 64 letters");
});

test("a key is made with a role, and a workspace is deleted with its agents and restored", async () => {
  await page.goto(`${dashboard.url}/-/keys`);
  await page.getByRole("button", { name: "Create API key" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.getByLabel("Role").locator("option").allTextContents()).toEqual([
    "owner",
    "admin",
    "member",
    "viewer",
  ]);
  await dialog.getByLabel("Name").fill("for a script");
  await dialog.getByLabel("Role").selectOption("member");
  await dialog.getByRole("button", { name: "Create key" }).click();
  const key = (await page.getByTestId("once").textContent())!;
  await dialog.getByRole("button", { name: "Done" }).click();
  await page
    .getByRole("row")
    .filter({ hasText: key.slice(0, 12) })
    .getByText("member")
    .waitFor();
  const inTeam = new TestClient(dashboard.url, key);
  const { workspace } = (await inTeam.call("GET", "/me")).body;
  expect(workspace).toMatchObject({ name: "the team", role: "member" });
  const grant = { account: workspace.id, credits: "10" };
  expect((await dashboard.service.client.call("POST", "/admin/credits/grants", grant)).status).toBe(201);
  expect((await inTeam.createAgent("hal")).body.status).toBe("ready");

  await page.goto(`${dashboard.url}/-/members`);
  await page.getByRole("button", { name: "Delete the workspace" }).click();
  await dialog.getByText("Its agent is suspended, and nobody can use it.").waitFor();
  await dialog.getByLabel("Type the team to continue").fill("the team");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: `Workspace ${own}` }).waitFor();
  expect(await page.getByText("This is your personal workspace").count()).toBe(0);
  expect((await inTeam.call("GET", "/me")).status).toBe(401);
  await page.goto(`${dashboard.url}/-/members`);
  await page.getByRole("region", { name: "Workspace", exact: true }).waitFor();
  expect(await page.getByRole("button", { name: "Delete the workspace" }).count()).toBe(0);

  await page.getByRole("button", { name: "Restore the team" }).click();
  await page.getByRole("button", { name: "Workspace the team" }).waitFor();
  expect((await inTeam.call("GET", "/agents/hal")).body.status).toBe("suspended");
  await page.goto(`${dashboard.url}/-/members`);
  await page.getByRole("region", { name: "Workspace", exact: true }).waitFor();
  expect(await page.getByRole("region", { name: "Deleted workspaces" }).count()).toBe(0);
});
