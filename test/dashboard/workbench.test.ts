import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";

// A conversation and another view of its agent, side by side.

let dashboard: Dashboard;
let page: Page;
const wide = { width: 1600, height: 900 };

beforeAll(async () => {
  dashboard = await Dashboard.start();
  await dashboard.service.client.createAgent("ada");
  await dashboard.service.client.ask("ada", "hello");
  await writeFile(join(await dashboard.service.home(), "notes.txt"), "text\n");
  ({ page } = await dashboard.signedIn({ viewport: wide }));
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const goto = (path = "") => page.goto(`${dashboard.url}/-/agents/ada${path}`);
const message = () => page.getByLabel("Message to ada");
const side = (name: string) => page.getByRole("region", { name: `${name} next to the conversation` });
const split = () => page.getByRole("button", { name: "Split view", exact: true });
const separator = () => page.getByRole("separator", { name: "Width of the conversation" });
const share = async () => Number(await separator().getAttribute("aria-valuenow"));

test("a file is edited next to the conversation, and a reload keeps both", async () => {
  await goto("/files?file=notes.txt");
  await page.getByRole("textbox", { name: "Content of notes.txt" }).waitFor();
  await split().click();
  await message().waitFor();
  const content = side("Files").getByRole("textbox", { name: "Content of notes.txt" });
  await content.waitFor();
  expect(new URL(page.url()).search).toBe("?file=notes.txt&beside=files");
  await page.reload();
  await content.waitFor();
  await message().fill("write notes.txt by-the-agent");
  await page.keyboard.press("Enter");
  await content.getByText("by-the-agent").waitFor();
  await side("Files").getByRole("link", { name: "home" }).first().click();
  await side("Files").getByRole("link", { name: "notes.txt" }).waitFor();
  await message().waitFor();
});

test("it is resized by the keyboard and the pointer, and remembered", async () => {
  expect(await share()).toBe(50);
  await separator().focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  expect(await share()).toBe(46);
  await page.keyboard.press("End");
  expect(await share()).toBe(75);
  const { x, y } = (await separator().boundingBox())!;
  await page.mouse.move(x, y + 200);
  await page.mouse.down();
  await page.mouse.move(x - 500, y + 200, { steps: 4 });
  await page.mouse.up();
  const moved = await share();
  expect(moved).toBeGreaterThan(25);
  expect(moved).toBeLessThan(60);
  await page.mouse.move(0, 0);
  await goto("?beside=files");
  await expect.poll(share).toBe(moved);
  await separator().dblclick();
  await expect.poll(share).toBe(50);
});

test("the view is chosen, remembered and closed", async () => {
  await side("Files").getByRole("link", { name: "Ports" }).click();
  await side("Ports").getByRole("button", { name: "Refresh" }).waitFor();
  await goto();
  await side("Ports").waitFor();
  await side("Ports").getByRole("link", { name: "Terminal" }).click();
  await side("Terminal").getByRole("textbox", { name: "Terminal input" }).waitFor();
  await page.getByRole("link", { name: "Turns", exact: true }).click();
  await page.getByRole("link", { name: "Conversation", exact: true }).click();
  await side("Terminal").waitFor();
  await page.getByRole("button", { name: "Close split view" }).click();
  await side("Terminal").waitFor({ state: "detached" });
  await goto();
  await message().waitFor();
  expect(await separator().count()).toBe(0);
});

test("Esc in the side view does not interrupt the turn, and in the conversation it does", async () => {
  await goto("?beside=files&file=notes.txt");
  await message().fill("hang");
  await page.keyboard.press("Enter");
  const interrupt = page.getByRole("button", { name: "Interrupt", exact: true });
  await interrupt.waitFor();
  await side("Files").getByRole("textbox", { name: "Content of notes.txt" }).focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  const { body } = await dashboard.service.client.call("GET", "/agents/ada/turns?limit=1");
  expect(body.data[0].status).toBe("running");
  await message().focus();
  await page.keyboard.press("Escape");
  await page.getByRole("article").last().getByText("Interrupted.").waitFor();
});

test("unsaved edits survive a narrow window, and closing the view asks", async () => {
  await goto("?beside=files&file=notes.txt");
  const content = side("Files").getByRole("textbox", { name: "Content of notes.txt" });
  await content.click();
  await page.keyboard.type("precious ");
  await page.setViewportSize({ width: 1000, height: 800 });
  await content.waitFor({ state: "hidden" });
  await message().waitFor();
  expect(await separator().count()).toBe(0);
  expect(await split().count()).toBe(0);
  await page.setViewportSize(wide);
  await content.getByText("precious").waitFor();
  await page.getByRole("button", { name: "Close split view" }).click();
  const asks = page.getByRole("dialog", { name: "Leave without saving?" });
  await asks.getByRole("button", { name: "Stay" }).click();
  await content.getByText("precious").waitFor();
  await side("Files").getByRole("link", { name: "Ports" }).click();
  await asks.getByRole("button", { name: "Leave" }).click();
  await side("Ports").waitFor();
});

test("changes are reviewed next to the conversation, and comments on them are sent there", async () => {
  await goto("?beside=files");
  await message().fill("write plan.txt first-line");
  await page.keyboard.press("Enter");
  const turn = page.getByRole("article", { name: "Turn: write plan.txt first-line" });
  await turn.getByRole("link", { name: "Review" }).click();
  const review = side("Changes");
  const file = review.getByRole("region", { name: "plan.txt", exact: true });
  await file.getByRole("button", { name: "Comment on line 1", exact: true }).click();
  await file.getByRole("textbox", { name: "Comment on line 1" }).fill("name the steps");
  await review.getByRole("button", { name: "Send to ada" }).click();
  await page.getByRole("article", { name: /Turn: Comments on changes in files/ }).waitFor();
  await review.getByRole("button", { name: "Send to ada" }).waitFor({ state: "detached" });
  await review.waitFor();
});

test("a narrow window has the conversation alone", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await goto("?beside=files&file=notes.txt");
  await message().waitFor();
  expect(await page.getByRole("region", { name: "Files of the agent" }).count()).toBe(0);
  await page.setViewportSize(wide);
});

test("axe finds nothing serious, and an unknown view is ignored", { timeout: 90_000 }, async () => {
  await page.evaluate("localStorage.clear()");
  await goto("?beside=<script>&file=notes.txt");
  await message().waitFor();
  expect(await separator().count()).toBe(0);
  const { context, page: bypassing } = await dashboard.signedIn({ bypassCSP: true, viewport: wide });
  const found: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await bypassing.emulateMedia({ colorScheme });
    await bypassing.goto(`${dashboard.url}/-/agents/ada?beside=files&file=notes.txt`);
    await bypassing.getByRole("textbox", { name: "Content of notes.txt" }).waitFor();
    await bypassing.evaluate(axe.source);
    const { violations } = (await bypassing.evaluate("axe.run(document)")) as axe.AxeResults;
    for (const { impact, id } of violations) if (impact === "serious" || impact === "critical") found.push(id);
  }
  expect(found).toEqual([]);
  await context.close();
});
