import { LLMock } from "@copilotkit/aimock";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard, password } from "../support/dashboard.ts";

// A new user's first day, by role and label.

const mock = new LLMock({ port: 0 });
let dashboard: Dashboard;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  mock.onMessage(/.*/, { content: "Hello from the mock model.", usage: { input_tokens: 1000, output_tokens: 200 } });
  dashboard = await Dashboard.start({ anthropic: { baseUrl: await mock.start(), apiKey: "the-key" } });
});
afterAll(async () => {
  await dashboard[Symbol.asyncDispose]();
  await mock.stop();
});

const heading = (name: string) => page.getByRole("heading", { level: 1, name });

/** Goes to a view by the navigation. */
async function goTo(name: string): Promise<void> {
  await page.getByRole("navigation", { name: "Views", exact: true }).getByRole("link", { name }).click();
}

test("the printed link makes a user, who is signed in", async () => {
  ({ context, page } = await dashboard.signedIn());
  expect(new URL(page.url()).pathname).toBe("/-/");
  await page.getByRole("button", { name: /^Account of/ }).waitFor();
  await page.getByText("Welcome. There are no agents yet.").waitFor();
});

test("the sign-in is a cookie that only the service sees, and outlives a reload", async () => {
  // No call of the API and no file is sent it.
  for (const path of ["/", "/agents", "/assets/x.js"]) {
    const sent = (await context.cookies(dashboard.url + path)).map(({ name }) => name);
    expect(sent, path).not.toContain("berth_dashboard");
  }
  const [cookie] = await context.cookies(`${dashboard.url}/dashboard/session`);
  expect(cookie).toMatchObject({
    name: "berth_dashboard",
    path: "/dashboard/session",
    httpOnly: true,
    sameSite: "Strict",
  });
  expect(
    await page.evaluate("document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)"),
  ).not.toMatch(/berth_dashboard|eyJ/);
  await page.reload();
  await heading("Needs attention").waitFor();
});

test("an agent is created, shows its steps, is asked and answers; the cost is shown", async () => {
  await goTo("Agents");
  await page.getByRole("link", { name: "Create agent" }).first().click();
  await page.getByLabel("Name").fill("Ada!");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page
    .getByRole("alert")
    .getByText(/lowercase letters/)
    .waitFor();
  await page.getByLabel("Name").fill("ada");
  await page.getByRole("radio", { name: /opencode/ }).check();
  await page.getByLabel("Model", { exact: true }).selectOption("anthropic/claude-3-5-sonnet-20241022");
  await page.getByLabel("Instructions", { exact: true }).fill("You are kind.");
  await page.getByText("Machine size").click();
  await page.getByLabel("Disk").selectOption({ label: "up to 20 GiB" });
  await page.getByText("MCP servers", { exact: true }).click();
  await page.getByRole("button", { name: "Add a server" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("files");
  await dialog.getByLabel("Where it is").selectOption({ label: "In the agent's machine" });
  await dialog.getByLabel("Command").fill("npx");
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("MCP servers (1)").waitFor();
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByLabel("Message to ada").fill("ask");
  await page.keyboard.press("Enter");
  const turn = page.getByRole("article");
  await turn.getByText("Hello from the mock model.").waitFor();
  await turn.getByText("0.6 credits").waitFor();
  const { resources, mcpServers } = (await dashboard.service.client.call("GET", "/agents/ada")).body;
  expect(mcpServers).toEqual({ files: { command: "npx" } });
  expect(resources).toEqual({ cpus: 2, memoryMiB: 1536, diskGiB: 20 });
});

test("a turn has a page of its own, with what it took", async () => {
  await page.getByRole("navigation", { name: "Views of ada" }).getByRole("link", { name: "Turns" }).click();
  await page.getByRole("link", { name: "ask", exact: true }).click();
  expect(new URL(page.url()).pathname).toMatch(/^\/-\/agents\/ada\/turns\/[0-9a-f-]{36}$/);
  await page.reload();
  await page.getByText("Hello from the mock model.").waitFor();
  await page.getByText("1,000, 0 of them cached").waitFor();
});

test("a key is made, and its secret shown once", async () => {
  await goTo("Keys");
  await page.getByRole("button", { name: "Create API key" }).click();
  await page.getByLabel("Name").fill("for a script");
  await page.getByLabel("Kind").selectOption({ label: "Only chats with some agents" });
  await page.getByRole("checkbox", { name: "ada" }).check();
  await page.getByLabel("Expires").selectOption({ label: "In a week" });
  await page.getByRole("button", { name: "Create key" }).click();
  const key = (await page.getByTestId("once").textContent())!;
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("cell", { name: "for a script" }).waitFor();
  expect(await page.content()).not.toContain(key);
  const answer = await fetch(`${dashboard.url}/agents/ada`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);
});

test("a file is made in the machine, looked at and deleted", async () => {
  await dashboard.service.client.fetch("PUT", "/agents/ada/files/notes.md", "remember the milk", {
    "content-type": "application/octet-stream",
  });
  await goTo("Agents");
  await page.getByRole("link", { name: "ada" }).click();
  await page.getByRole("navigation", { name: "Views of ada" }).getByRole("link", { name: "Files" }).click();
  await page.getByRole("link", { name: "notes.md", exact: true }).click();
  await page.getByRole("textbox", { name: "Content of notes.md" }).getByText("remember the milk").waitFor();
  await page.goBack();
  await page.getByRole("button", { name: "Actions for notes.md" }).click();
  await page.getByRole("menuitem", { name: "Delete…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("link", { name: "notes.md", exact: true }).waitFor({ state: "detached" });
});

test("a terminal runs a command, and is found again", async () => {
  await page.getByRole("navigation", { name: "Views of ada" }).getByRole("link", { name: "Terminal" }).click();
  await page.getByRole("textbox", { name: "Terminal input" }).focus();
  await page.keyboard.type("echo $((6*7))-is-it\n");
  await page.getByText("42-is-it").first().waitFor();
  const views = page.getByRole("navigation", { name: "Views of ada" });
  await views.getByRole("link", { name: "Files" }).click();
  await views.getByRole("link", { name: "Terminal" }).click();
  await page.getByText("42-is-it").first().waitFor();
  await page.reload();
  await page.getByText("42-is-it").first().waitFor();
});

test("the palette goes anywhere by the keyboard", async () => {
  await goTo("Home");
  await heading("Needs attention").waitFor();
  await page.getByRole("link", { name: "ada" }).first().waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").fill("ada");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "ada" }).waitFor();
  await page.getByRole("heading", { level: 1, name: "ada" }).click();
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await heading("Credits").waitFor();
});

test("credits are not for sale where the service takes no payments", async () => {
  await heading("Credits").waitFor();
  await page.getByText("Balance", { exact: true }).first().waitFor();
  expect(await page.getByRole("button", { name: "Top up" }).count()).toBe(0);
});

test("the credits tell what was spent, and the operator gives more", async () => {
  await page.getByRole("cell", { name: "-0.6" }).first().waitFor();
  await goTo("Operator");
  await page.getByRole("meter", { name: "Machines awake" }).getByText("1 of 1000").waitFor();
  await page.getByText(/^Your phone can reach this: no, because .* only to the computer/).waitFor();
  await page.getByText(/^Passkeys and push work here: no, because browsers need HTTPS/).waitFor();
  await page.getByRole("button", { name: "Adjust credits" }).first().click();
  await page.getByRole("textbox", { name: "Credits" }).fill("25");
  await page.getByLabel("Note").fill("a gift");
  await page.getByRole("button", { name: "Adjust", exact: true }).click();
  await goTo("Credits");
  await page.getByRole("cell", { name: "a gift" }).waitFor();
});

test("the audit log is searched, and shows what was refused", async () => {
  await dashboard.service.client.call("POST", "/agents", { name: "ada" });
  await goTo("Audit");
  const log = page.getByRole("table");
  await page.getByLabel("Outcome").selectOption("Refused");
  await log.getByText("agent_exists").waitFor();
  await page.getByLabel("Search the log").fill("nothing like it");
  await page.getByText("No matching entries").waitFor();
  await page.getByLabel("Outcome").selectOption("Any outcome");
  await page.getByLabel("Search the log").fill("admin/credits");
  await log.getByText("POST /admin/credits/grants").waitFor();
  expect(await log.getByText("agent_exists").count()).toBe(0);
});

test("the agent is deleted when its name is typed", async () => {
  await goTo("Agents");
  await page.getByRole("link", { name: "ada" }).click();
  await page.getByRole("navigation", { name: "Views of ada" }).getByRole("link", { name: "Settings" }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  const confirm = page.getByRole("dialog").getByRole("button", { name: "Delete" });
  expect(await confirm.isDisabled()).toBe(true);
  await page.getByLabel("Type ada to continue").fill("ada");
  await confirm.click();
  await page.getByText("No agents yet").waitFor();
});

test("signing out ends the sign-in, and the next one asks for the password", async () => {
  await page.getByRole("button", { name: /^Account of/ }).click();
  await page.getByRole("menuitem", { name: "Sign out", exact: true }).click();
  await page.getByRole("heading", { name: "You are signed out" }).waitFor();
  expect(await context.cookies(`${dashboard.url}/dashboard/session`)).toEqual([]);
  await page.goto(`${dashboard.url}/-/keys`);
  await page.getByLabel("Name").fill("Ulla");
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await heading("Keys").waitFor();
});
