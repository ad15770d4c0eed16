import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";

// Finding things in a long conversation.

let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  for (const name of ["ada", "bob"]) await dashboard.service.client.createAgent(name);
  ({ page } = await dashboard.signedIn());
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const open = (path: string) => page.goto(`${dashboard.url}/-/agents/${path}`);
const turn = (name: string) => page.getByRole("article", { name: `Turn: ${name}` });
const send = async (agent: string, message: string) => {
  await page.getByLabel(`Message to ${agent}`).fill(message);
  await page.keyboard.press("Enter");
};

test("the plan of the running turn is above the message field, and in the turn once it is over", async () => {
  await open("ada");
  await send("ada", 'plan [["Read","completed"],["Run the tests","in_progress"],["Write","pending"]] hang');
  const pinned = page.getByRole("region", { name: "Plan of the running turn" });
  await pinned.getByText("Plan: 1 of 3 done. Run the tests").click();
  const steps = await pinned.getByRole("list", { name: "Steps" }).getByRole("listitem").allTextContents();
  expect(steps).toEqual(["Read", "Run the tests", "Write"]);
  expect(await turn("plan").getByText("Plan: 1 of 3 done").count()).toBe(0);
  await page.reload();
  await pinned.getByText("Plan: 1 of 3 done").waitFor();
  await page.getByRole("button", { name: "Interrupt", exact: true }).click();
  await turn("plan").getByText("Plan: 1 of 3 done. Run the tests").waitFor();
  await pinned.waitFor({ state: "detached" });
});

test("a call that runs shows the end of its output, and all of it once it is opened", async () => {
  await dashboard.service.client.createAgent("cleo");
  await open("cleo");
  const lines = Array.from({ length: 20 }, (_, at) => `step ${at + 1}`);
  const updates = [3, 20].map((count) => `${lines.slice(0, count).join("\n")}\n`);
  await send("cleo", `tools ${JSON.stringify([{ name: "Bash", title: "make", updates }])}`);
  const running = page.getByRole("article");
  await running.locator("pre:visible", { hasText: "step 20" }).waitFor();
  const shown = async () => (await running.locator("pre:visible").last().textContent())?.trimEnd().split("\n");
  expect(await shown()).toEqual(lines.slice(-5));
  // Each has a line of its own.
  expect((await running.locator("pre:visible").last().boundingBox())?.height).toBeGreaterThan(5 * 13);
  await running.locator("summary", { hasText: "make" }).click();
  expect(await shown()).toEqual(lines);
  await page.getByRole("button", { name: "Interrupt", exact: true }).click();
  await running.getByLabel("stopped").waitFor();
  expect(await shown()).toEqual(lines);
});

test("calls have their durations after a reload, too", async () => {
  await open("ada");
  await send("ada", "tool");
  const call = turn("tool").locator("summary", { hasText: "Bash" });
  await call.getByText(/^\d+\.\d s$/).waitFor();
  await page.reload();
  await call.getByText(/^\d+\.\d s$/).waitFor();
});

test("a turn has a page of its own, whose link is copied; its message is edited in its conversation", async () => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await open("ada");
  await turn("tool")
    .getByRole("link", { name: /now|ago/ })
    .click();
  await page.getByRole("link", { name: "All turns" }).waitFor();
  await page.getByRole("button", { name: "Copy link" }).click();
  const link = String(await page.evaluate("navigator.clipboard.readText()"));
  expect(link).toBe(`${page.url()}?workspace=personal`);
  await page.goto(link);
  await turn("tool").getByRole("button", { name: "Edit and send again" }).click();
  await expect.poll(() => page.getByLabel("Message to ada").inputValue()).toBe("tool");
});

test("a reply of two megabytes is shown in pages, the last one first", async () => {
  const { client } = dashboard.service;
  await client.createAgent("eve");
  await client.chat("eve", "bulk 100 20000 0");
  await open("eve");
  const long = turn("bulk");
  await long.getByText("Page 50 of 50 of this reply").last().waitFor();
  expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThan(5_000);
  expect(await long.getByRole("button", { name: "Next page" }).last().isDisabled()).toBe(true);
  await long.getByRole("button", { name: "Previous page" }).last().click();
  await long.getByText("Page 49 of 50 of this reply").first().waitFor();
  await long.getByRole("button", { name: "First page" }).first().click();
  await long.getByText("Page 1 of 50 of this reply").first().waitFor();
  expect(await page.evaluate("document.querySelectorAll('*').length")).toBeLessThan(5_000);
});

test("maths is drawn by the browser, and prices and shells stay text", async () => {
  const { client } = dashboard.service;
  await client.createAgent("max");
  const lines = [
    "Inline $$x^2$$, \\(\\frac{a}{b}\\) and \\\\(no maths\\\\).",
    "$$\nE = mc^2\n$$",
    "\\[ \\sum_{i=1}^n i\n = \\frac{n(n+1)}{2} \\]",
    "```math\na \\ne b\n```",
    "It costs $5 or $10, and `\\(code\\)` $HOME/$USER stays.",
    "\\(\\notacommand{x}\\)",
    "\\(\\href{javascript:alert(1)}{x} \\htmlStyle{color:red}{y} \\includegraphics{https://evil.example/x.png}\\)",
  ];
  await client.chat("max", lines.join("\n\n"));
  await open("max");
  const reply = turn("Inline");
  await reply.locator("math").first().waitFor();
  expect(await reply.locator("math").count()).toBe(7);
  expect(await reply.locator("math[display=block]").count()).toBe(3);
  expect(await reply.locator("math mfrac").count()).toBe(2);
  expect(await reply.locator("a[href^=javascript], math [style], img").count()).toBe(0);
  await reply.getByText("It costs $5 or $10, and \\(code\\) $HOME/$USER stays.").last().waitFor();
  const many = "\\(x ".repeat(9_000);
  await client.chat("max", many);
  await turn("\\(x").getByText("(x (x (x").last().waitFor();
});

test("errors are gone through from the newest to the oldest", async () => {
  const { client } = dashboard.service;
  await client.chat("bob", 'tools [{"name":"Bash","input":{"command":"false"},"output":"no","status":"failed"}]');
  for (let at = 1; at <= 12; at += 1) await client.chat("bob", `bulk 5 400 0`);
  await client.chat("bob", "crash");
  for (let at = 1; at <= 12; at += 1) await client.chat("bob", `bulk 5 400 0`);
  await open("bob");
  const error = page.getByRole("button", { name: "Previous error" });
  await error.click();
  await turn("crash").getByText("This turn failed").waitFor();
  await page.getByRole("region", { name: "Conversation" }).hover();
  for (let at = 0; at < 40 && !(await turn("tools").isVisible()); at += 1) await page.mouse.wheel(0, -800);
  await turn("tools").getByRole("img", { name: "failed" }).or(turn("tools").getByLabel("failed")).first().waitFor();
  await page.getByRole("button", { name: "Jump to latest" }).click();
  await turn("tools").waitFor({ state: "detached" });
  await error.click();
  await turn("crash").getByText("This turn failed").waitFor();
  await error.click();
  await turn("tools").waitFor();
});

test("a conversation that is opened needs no stream for turns that are over", async () => {
  const streams: string[] = [];
  const fresh = await dashboard.signedIn();
  fresh.page.on("request", (request) => {
    if (/\/turns\/[^/]+\/events/.test(request.url())) streams.push(request.url());
  });
  await fresh.page.goto(`${dashboard.url}/-/agents/ada`);
  const article = fresh.page.getByRole("article", { name: "Turn: tool" });
  await article.locator("summary", { hasText: "Bash" }).waitFor();
  await article.getByText("done", { exact: true }).waitFor();
  expect(streams).toEqual([]);
  await fresh.context.close();
});
