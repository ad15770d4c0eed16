import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";

let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  for (const name of ["ada", "bob"]) await dashboard.service.client.createAgent(name);
  ({ page } = await dashboard.signedIn());
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const goto = (path: string) => page.goto(`${dashboard.url}/-${path}`);
const badge = (count: number) => page.getByRole("link", { name: `Inbox ${count} unread` });
const group = (agent: string) => page.getByRole("region", { name: agent, exact: true });

/** Sends a message and leaves before the turn ends. */
async function leave(agent: string, message: string): Promise<void> {
  await goto(`/agents/${agent}`);
  await page.getByLabel(`Message to ${agent}`).fill(message);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Interrupt", exact: true }).waitFor();
  await goto("/inbox");
}

test("it is empty at first", async () => {
  await goto("/inbox");
  await page.getByText("You're all caught up").waitFor();
  await page.getByRole("link", { name: "Inbox", exact: true }).waitFor();
});

test("a turn that ended elsewhere is an unread item, and opening its conversation removes it on all pages", async () => {
  await leave("ada", "count 3 400");
  await badge(1).waitFor();
  await group("ada").getByText("count 3 400").waitFor();
  const other = await dashboard.signedIn();
  await other.page.goto(`${dashboard.url}/-/agents/ada`);
  await page.getByText("You're all caught up").waitFor();
  await page.getByRole("link", { name: "Inbox", exact: true }).waitFor();
  await other.context.close();
});

test("a turn that was watched to its end is no item, also if the tab is closed at once", async () => {
  const watched = await dashboard.signedIn();
  await watched.page.goto(`${dashboard.url}/-/agents/ada`);
  await watched.page.getByLabel("Message to ada").fill("count 3 400");
  const reported = watched.page.waitForResponse((response) => response.url().endsWith("/inbox/read"));
  await watched.page.keyboard.press("Enter");
  await reported;
  await watched.context.close();
  await leave("bob", "count 3 400");
  await badge(1).waitFor();
  expect(await group("ada").count()).toBe(0);
  await page.getByRole("button", { name: "Dismiss: Answered" }).click();
  await page.getByText("You're all caught up").waitFor();
});

test("what an agent asks leads to the conversation, and is gone once it is answered", async () => {
  await dashboard.service.client.call("PATCH", "/agents/bob", { permissions: { execute: "ask" } });
  await leave("bob", "use execute rm -rf build");
  await group("bob").getByRole("link", { name: "Asks for your approval" }).click();
  await page.getByRole("article").last().getByRole("button", { name: "Deny" }).click();
  await page.getByText("Denied: execute").waitFor();
  await page.getByRole("article").last().getByRole("button", { name: "Copy the answer" }).waitFor();
  // The page has seen the turn's end, though its item may come later.
  await page.getByRole("link", { name: /^Inbox/ }).click();
  await page.getByText("You're all caught up").waitFor();
});

test("items are read, filtered and dismissed, one by one, by agent, by keys and all at once", async () => {
  await leave("ada", "count 3 300");
  await leave("bob", "count 3 300");
  await badge(2).waitFor();
  await page.getByRole("button", { name: "Mark as read: ada" }).click();
  await badge(1).waitFor();
  await page.getByLabel("Unread only").check();
  await group("ada").waitFor({ state: "detached" });
  await page.reload();
  await group("bob").waitFor();
  await page.getByLabel("Kind").selectOption("Failed");
  await page.getByText("No matching items").waitFor();
  await page.getByLabel("Kind").selectOption("All kinds");
  await page.getByLabel("Unread only").uncheck();
  await group("ada").waitFor();
  await page.getByRole("heading", { name: "Inbox" }).click();
  await page.keyboard.press("j");
  await page.keyboard.press("e");
  await group("bob").waitFor({ state: "detached" });
  await group("ada").getByRole("button", { name: "Dismiss: Answered" }).click();
  await page.getByText("You're all caught up").waitFor();
  await leave("ada", "count 3 300");
  await group("ada").waitFor();
  await page.getByRole("button", { name: "Mark all as read" }).click();
  await page.getByRole("link", { name: "Inbox", exact: true }).waitFor();
  await page.getByRole("button", { name: "Dismiss all" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Dismiss all" }).click();
  await page.getByText("You're all caught up").waitFor();
});

test("on a phone nothing is wider than the screen, and axe finds nothing in both themes", {
  timeout: 90_000,
}, async () => {
  await leave("ada", "count 3 300");
  await group("ada").waitFor();
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    const phone = await dashboard.signedIn({ bypassCSP: true, colorScheme, viewport: { width: 390, height: 844 } });
    await phone.page.goto(`${dashboard.url}/-/inbox`);
    await phone.page.getByRole("link", { name: "Answered" }).waitFor();
    expect(await phone.page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await phone.page.evaluate(axe.source);
    const { violations } = await phone.page.evaluate<axe.AxeResults>("axe.run()");
    found.push(...violations.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes[0]?.html}`));
    await phone.context.close();
  }
  expect(found).toEqual([]);
});
