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
  await service.client.ask("ada", "Deploy the gateway before the 東京タワー meeting");
  await service.client.ask("ada", `A long note about the harbour: ${"many words and ".repeat(40)}`);
  dashboard = await Dashboard.of(service);
  page = (await dashboard.signedIn()).page;
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const input = () => page.getByRole("dialog").getByRole("combobox");
const messages = () => page.getByRole("group", { name: "Messages" });

const marks = () => messages().locator("mark");
const found = async () => (await service.client.call("GET", "/search?q=harbour")).body.data.length;

async function open(): Promise<void> {
  await page.goto(`${dashboard.url}/-/`);
  await page.getByRole("heading", { level: 1, name: "Needs attention" }).waitFor();
  await page.keyboard.press("Control+k");
  await input().waitFor();
}

test.each([
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
])("the palette finds messages at $width px, and opens the turn", async (size) => {
  await expect.poll(found, { timeout: 10_000 }).toBe(2);
  await page.setViewportSize(size);
  await open();
  await input().fill("東京タワー");
  const option = messages().getByRole("option").filter({ hasText: "message" }).last();
  await option.waitFor();
  expect(await option.locator("mark").allTextContents()).toEqual(["東京タワー"]);
  await input().fill("harb");
  await messages().getByText("A long note about the harbour").first().waitFor();
  expect(await messages().getByRole("option").count()).toBe(2);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(size.width);
  await messages().getByRole("option").last().click();
  await page.getByRole("link", { name: "All turns" }).waitFor();
  await page.getByRole("article").getByText("A long note about the harbour").first().waitFor();
});

test("an earlier search that is answered late shows nothing, and a lost service is reported", async () => {
  const late = Promise.withResolvers<void>();
  await page.route(/\/search\?.*q=gateway/, async (route) => {
    await late.promise;
    await route.continue().catch(() => {});
  });
  await open();
  const asked = page.waitForRequest(/\/search\?.*q=gateway/);
  await input().fill("gateway");
  await asked;
  await page.getByText("Searching messages…").waitFor();
  await input().fill("harbour");
  await messages().getByText("A long note about the harbour").first().waitFor();
  late.resolve();
  await page.unroute(/\/search\?.*q=gateway/);
  expect(new Set(await marks().allTextContents())).toEqual(new Set(["harbour"]));
  await page.route(/\/search\?/, (route) => route.abort());
  await input().fill("meeting");
  await page.getByText("Messages were not searched").waitFor();
  await page.unroute(/\/search\?/);
  await input().fill("meetin");
  await marks().filter({ hasText: "meeting" }).first().waitFor();
  await input().fill("?!");
  await page.getByText("No results.").waitFor();
});
