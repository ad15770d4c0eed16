import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// The model, the effort and the context below a message, and the messages of before.

let service: ScriptedService;
let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  service = await ScriptedService.start();
  dashboard = await Dashboard.of(service);
  ({ page } = await dashboard.signedIn());
  await service.client.createAgent("ada");
  await page.goto(`${dashboard.url}/-/agents/ada`);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const message = () => page.getByRole("textbox", { name: "Message to ada" });
const settings = async () => (await service.client.call("GET", "/agents/ada")).body;

test("the model and the effort of the next message are chosen below it", async () => {
  await page.getByLabel("Effort", { exact: true }).selectOption("high");
  await expect.poll(async () => (await settings()).effort).toBe("high");
  await page.getByLabel("Model", { exact: true }).selectOption("demo/demo");
  await expect.poll(async () => (await settings()).model).toBe("demo/demo");
  await page.getByLabel("Model", { exact: true }).selectOption("");
  await expect.poll(async () => (await settings()).model).toBe(null);
});

test("a model that the service refuses stays unchosen, with the reason", async () => {
  await page.route("**/agents/ada", async (route) => {
    if (route.request().method() !== "PATCH") return route.fallback();
    await route.continue({ postData: JSON.stringify({ model: "nowhere/none" }) });
  });
  await page.getByLabel("Model", { exact: true }).selectOption("demo/demo");
  await page.getByText("nowhere").waitFor();
  expect(await page.getByLabel("Model", { exact: true }).inputValue()).toBe("");
  await page.unroute("**/agents/ada");
});

test("the use of the context is shown once a model was called", async () => {
  expect(await page.getByText("of context").count()).toBe(0);
  await message().fill("ask");
  await message().press("Enter");
  await page.getByText(/(<1|\d+) % of context/).waitFor();
});

test("arrow keys bring back the messages of before, and never replace what was written", async () => {
  await message().fill("second");
  await message().press("Enter");
  await expect.poll(() => message().inputValue()).toBe("");
  await page.getByRole("article", { name: "Turn: second" }).waitFor();
  for (const [key, text] of [
    ["ArrowUp", "second"],
    ["ArrowUp", "ask"],
    ["ArrowUp", "ask"],
    ["ArrowDown", "second"],
    ["ArrowDown", ""],
    ["ArrowDown", ""],
  ] as const) {
    await message().press(key);
    expect(await message().inputValue()).toBe(text);
  }
  await message().fill("own words");
  await message().press("ArrowUp");
  expect(await message().inputValue()).toBe("own words");
});
