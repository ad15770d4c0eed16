import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
  dashboard = await Dashboard.of(service);
  ({ page } = await dashboard.signedIn());
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const goto = (path: string) => page.goto(`${dashboard.url}/-${path}`);
const focused = () => page.evaluate("document.activeElement.textContent || document.activeElement.tagName");
const heading = (name: string) => page.getByRole("heading", { level: 1, name });

test("a reply is said sentence by sentence, once, and whole at its end", async () => {
  await goto("/agents/ada");
  await page.getByLabel("Message to ada").fill("One. Two, with **stars**! And the rest");
  await page.keyboard.press("Enter");
  const said = page.locator("[aria-live=polite]");
  await expect
    .poll(() => said.getByRole("paragraph").allTextContents())
    .toEqual(expect.arrayContaining([expect.stringMatching(/And the rest$/)]));
  const sentences = await said.getByRole("paragraph").allTextContents();
  expect(sentences.join(" ")).toBe("One. Two, with stars! And the rest");
  expect(sentences.length).toBeGreaterThan(1);
  // A reply that is over is not said again.
  await page.reload();
  await page.getByRole("article").getByText("And the rest").first().waitFor();
  expect(await said.textContent()).toBe("");
});

test("going to a view moves the focus to its heading, and the first field of a form has it", {
  timeout: 180_000,
}, async () => {
  await goto("/agents");
  await heading("Agents").waitFor();
  for (const [key, name] of [
    ["t", "Automations"],
    ["m", "Credits"],
  ] as const) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await expect.poll(focused).toBe(name);
  }
  await page.goBack();
  await expect.poll(focused).toBe("Automations");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Go to" }).getByRole("combobox").fill("Audit");
  await page.keyboard.press("Enter");
  await expect.poll(focused).toBe("Audit");
  await page.keyboard.press("c");
  await page.getByLabel("Name").waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.labels?.[0]?.textContent")).toBe("Name");
});

test("an agent's tab keeps the focus when it is chosen", async () => {
  await goto("/agents/ada/files");
  await page.getByRole("link", { name: "Turns" }).press("Enter");
  // The turn above may be an unread item, which the title counts.
  await expect.poll(() => page.title()).toMatch(/ada: Turns · Berth$/);
  expect(await focused()).toBe("Turns");
});

test("an agent that works says so, with the time, in its header, in the list and in the palette", {
  timeout: 120_000,
}, async () => {
  await service.client.createAgent("bea");
  await goto("/agents");
  const row = page.getByRole("row").filter({ hasText: "bea" });
  await row.getByText("idle", { exact: true }).waitFor();
  const turn = service.client.chat("bea", "hang");
  await row.getByText(/^working (\d+ min )?\d+ s$/).waitFor();
  await row.getByText(/^working (\d+ min )?[1-9]\d* s$/).waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Go to" }).getByRole("combobox").fill("bea");
  await page.getByRole("option", { name: "bea working" }).waitFor();
  await page.keyboard.press("Enter");
  const header = page.getByRole("main");
  await header.getByText(/^working (\d+ min )?\d+ s$/).waitFor();
  await header.getByRole("button", { name: "Actions for bea" }).click();
  await page.getByRole("menuitem", { name: "Interrupt" }).click();
  await header.getByText("idle", { exact: true }).waitFor();
  await turn;
});
