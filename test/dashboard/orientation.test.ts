import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// How a person finds their way: titles, headings, what does not exist.

let service: ScriptedService;
let dashboard: Dashboard;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  service = await ScriptedService.start();
  dashboard = await Dashboard.of(service);
  ({ context, page } = await dashboard.signedIn());
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const goto = (path: string) => page.goto(`${dashboard.url}/-${path}`);
const heading = (name: string) => page.getByRole("heading", { level: 1, name });

/** Shows or hides the page, as a change of the browser's tab does. */
async function setVisible(on: Page, isVisible: boolean): Promise<void> {
  const state = isVisible ? "visible" : "hidden";
  await on.evaluate(`Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));`);
}

test("a tab's title says the agent and the view", async () => {
  await service.client.createAgent("ada");
  await service.client.ask("ada", "hello");
  const turnId = (await service.client.call("GET", "/agents/ada/turns")).body.data[0].id;
  for (const [path, title] of Object.entries({
    "": "ada: Conversation · Berth",
    "/files": "ada: Files · Berth",
    "/settings": "ada: Settings · Berth",
    [`/turns/${turnId}`]: "ada: Turn · Berth",
  })) {
    await goto(`/agents/ada${path}`);
    await expect.poll(() => page.title()).toBe(title);
  }
  await page.getByRole("link", { name: "Ports" }).click();
  await expect.poll(() => page.title()).toBe("ada: Ports · Berth");
  await goto("/signed-out?code=request_invalid");
  await expect.poll(() => page.title()).toBe("You are not signed in · Berth");
});

test("the title counts the inbox's unread items on all views, until one of the tabs shows them", {
  timeout: 180_000,
}, async () => {
  for (const name of ["bea", "carl"]) await service.client.createAgent(name, { permissions: { execute: "ask" } });
  await goto("/agents/bea");
  const other = await context.newPage();
  await other.goto(`${dashboard.url}/-/agents`);
  for (const [on, title] of [
    [page, "bea: Conversation · Berth"],
    [other, "Agents · Berth"],
  ] as const) {
    await expect.poll(() => on.title()).toBe(title);
    await setVisible(on, false);
  }
  const asked = ["bea", "carl"].map((name) => service.client.ask(name, "use execute rm -rf build").catch(() => {}));
  await expect.poll(() => other.title()).toBe("(2) Agents · Berth");
  await expect.poll(() => page.title()).toBe("(2) bea: Conversation · Berth");
  await setVisible(page, true);
  await expect.poll(() => page.title()).toBe("(1) bea: Conversation · Berth");
  await expect.poll(() => other.title()).toBe("(1) Agents · Berth");
  await service.client.call("DELETE", "/agents/carl");
  await expect.poll(() => other.title()).toBe("Agents · Berth");
  await page.getByRole("article").last().getByRole("button", { name: "Deny" }).click();
  await Promise.all(asked);
  await other.close();
});

test.each([
  ["/agents/nobody", "There is no agent nobody", "All agents"],
  ["/agents/nobody/settings", "There is no agent nobody", "All agents"],
  ["/automations/none", "There is no automation none", "All automations"],
  ["/webhooks/none", "There is no such webhook", "All webhooks"],
  ["/nowhere", "Page not found", "Home"],
])("%s does not exist: it has a heading, a title and one way back", { timeout: 120_000 }, async (path, title, back) => {
  await goto(path);
  await heading(title).waitFor();
  await expect.poll(() => page.title()).toBe(`${title} · Berth`);
  const main = page.getByRole("main");
  expect(await main.getByRole("link").allTextContents()).toEqual([back]);
  expect(await main.getByRole("button").count()).toBe(0);
  await main.getByRole("link").click();
  await heading(
    back === "Home" ? "Needs attention" : back.replace(/All (.)/, (_, first) => first.toUpperCase()),
  ).waitFor();
});

test("an agent that is deleted elsewhere is no longer shown; nor is a turn that is missing", {
  timeout: 120_000,
}, async () => {
  await service.client.createAgent("dora");
  await goto("/agents/dora/turns/00000000-0000-4000-8000-000000000000");
  await page.getByText("There is no such turn").waitFor();
  await goto("/agents/dora");
  await page.getByLabel("Message to dora").waitFor();
  await service.client.call("DELETE", "/agents/dora");
  await heading("There is no agent dora").waitFor();
  expect(await page.getByRole("link", { name: "Files" }).count()).toBe(0);
});

const palette = () => page.getByRole("dialog", { name: "Go to" });

async function openPalette(typed: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await palette().getByRole("combobox").fill(typed);
}

test.each([
  ["emmain", "emma-in"],
  ["settings", "emma-in: Settings"],
  ["delete", "emma-in: Delete…"],
  ["clone", "emma-in: Fork…"],
  ["log out", "Sign out"],
  ["usage", "Credits"],
  ["shortcuts", "Keyboard shortcuts"],
])("the palette finds, for “%s”, %s", async (typed, label) => {
  await service.client.createAgent("emma-in");
  await goto("/agents");
  await page.getByRole("link", { name: "emma-in" }).waitFor();
  await openPalette(typed);
  await palette().getByRole("option", { name: label }).first().waitFor();
  await page.keyboard.press("Escape");
});

test("the palette suspends, resumes and restarts an agent, interrupts its turn, and starts a conversation", {
  timeout: 180_000,
}, async () => {
  await service.client.createAgent("finn");
  const status = async () => (await service.client.call("GET", "/agents/finn")).body.status;
  const turns = async () =>
    (await service.client.call("GET", "/agents/finn/turns")).body.data.map((turn: { status: string }) => turn.status);
  await goto("/agents");
  await page.getByRole("link", { name: "finn" }).waitFor();
  const run = async (typed: string, label: string) => {
    await openPalette(typed);
    await palette().getByRole("option", { name: label }).first().click();
  };
  await run("finn suspend", "finn: Suspend");
  await expect.poll(status).toBe("suspended");
  await run("finn wake", "finn: Resume");
  await expect.poll(status).toBe("ready");
  await run("finn restart", "finn: Restart…");
  await page.getByRole("dialog", { name: "Restart finn?" }).getByRole("button", { name: "Restart" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await expect.poll(status).toBe("ready");
  const turn = service.client.chat("finn", "hang");
  await expect.poll(turns).toEqual(["running"]);
  await run("finn stop", "finn: Interrupt");
  await expect.poll(turns).toEqual(["cancelled"]);
  await turn;
  await run("finn new", "finn: New conversation");
  await page.getByRole("button", { name: "Conversation: Conversation 2" }).waitFor();
});

test("? lists the keys, which the palette does too", async () => {
  await goto("/agents");
  await heading("Agents").waitFor();
  await page.keyboard.press("?");
  const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await list.getByRole("region", { name: "Go to" }).getByText("Credits").waitFor();
  await list.getByText("Interrupt the turn").waitFor();
  await page.keyboard.press("Escape");
  await list.waitFor({ state: "detached" });
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  await heading("Credits").waitFor();
});

test("the menus of the header and of a row have an agent's actions", { timeout: 180_000 }, async () => {
  await service.client.createAgent("gus");
  await goto("/agents");
  const menu = () => page.getByRole("button", { name: "Actions for gus" });
  const choose = async (label: string) => {
    await menu().click();
    await page.getByRole("menuitem", { name: label }).click();
  };
  await choose("Suspend");
  await page.getByRole("row").filter({ hasText: "gus" }).getByText("suspended", { exact: true }).waitFor();
  await menu().click();
  expect(await page.getByRole("menuitem").allTextContents()).toEqual([
    "New conversation",
    "Resume",
    "Restart…",
    "Fork…",
    "Delete…",
  ]);
  await page.keyboard.press("Escape");
  await goto("/agents/gus/turns"); // Files would wake it.
  await choose("Resume");
  await page.getByText("idle", { exact: true }).waitFor();
  await choose("New conversation");
  await page.getByRole("button", { name: "Conversation: Conversation 2" }).waitFor();
  await choose("Fork…");
  await page.getByRole("dialog").getByLabel("Name of the new agent").fill("gus-two");
  await page.getByRole("dialog").getByRole("button", { name: "Create fork" }).click();
  await heading("gus-two").waitFor();
  await goto("/agents/gus");
  await choose("Delete…");
  await page.getByRole("dialog").getByRole("textbox").fill("gus");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await heading("Agents").waitFor();
  expect((await service.client.call("GET", "/agents/gus")).status).toBe(404);
});
