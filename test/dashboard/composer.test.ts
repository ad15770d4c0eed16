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

test("@ suggests files of the agent, which keys or a click put into the message", async () => {
  const { client } = service;
  for (const path of ["src/main.ts", "src/日本 語.txt", "node_modules/x/main.js"])
    await client.call("PUT", `/agents/ada/files/${path.split("/").map(encodeURIComponent).join("/")}`, "x");
  const options = page.getByRole("listbox", { name: "Files" }).getByRole("option");
  await message().fill("");
  await message().pressSequentially("Read @main");
  await options.filter({ hasText: "src/main.ts" }).waitFor();
  expect(await options.first().textContent()).toBe("src/main.ts");
  await message().press("Enter");
  expect(await message().inputValue()).toBe("Read @src/main.ts ");
  await message().pressSequentially("and @語");
  await options.filter({ hasText: "日本" }).click();
  expect(await message().inputValue()).toBe('Read @src/main.ts and @"src/日本 語.txt" ');
  await message().pressSequentially("mail me@main");
  await options.first().waitFor({ state: "detached" });
  await message().press("Control+a");
  await message().pressSequentially("hang @main");
  await options.first().waitFor();
  await message().press("Escape");
  await options.first().waitFor({ state: "detached" });
  expect(await message().inputValue()).toBe("hang @main");
});

test("/ suggests what can be done, and other text that begins with it is a message", async () => {
  const options = page.getByRole("listbox", { name: "Commands" }).getByRole("option");
  await message().fill("");
  await message().pressSequentially("/f");
  await options.filter({ hasText: "/fork" }).waitFor();
  expect(await options.allTextContents()).toEqual(["/forkFork…", "/filesOpen Files"]);
  await message().press("ArrowDown");
  await message().press("Tab");
  await page.waitForURL(/\/files$/);
  await page.goBack();
  await expect.poll(() => message().inputValue()).toBe("");
  await message().pressSequentially("/new");
  await message().press("Enter");
  await page.getByRole("button", { name: "Conversation: Conversation 2" }).waitFor();
  await message().pressSequentially("/etc/hosts is what?");
  await message().press("Enter");
  await page.getByRole("article", { name: "Turn: /etc/hosts is what?" }).waitFor();
});
