import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  service = await ScriptedService.start();
  dashboard = await Dashboard.of(service);
  page = (await dashboard.signedIn()).page;
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const field = (agent: string) => page.getByLabel(`Message to ${agent}`);
const steer = () => page.getByRole("button", { name: "Steer" });
const turn = () => page.getByRole("article", { name: /^Turn: listen/ });

async function listening(agent: string, messages: number): Promise<void> {
  await page.goto(`${dashboard.url}/-/agents/${agent}`);
  await field(agent).fill(`listen ${messages}`);
  await page.keyboard.press("Enter");
  await expect
    .poll(async () => (await service.client.call("GET", `/agents/${agent}/files/.local/state/messages`)).status, {
      timeout: 10_000,
    })
    .toBe(200);
}

test("a message reaches the running turn by the button and by the keyboard, also on a phone", async () => {
  await service.client.createAgent("ada");
  await page.setViewportSize({ width: 390, height: 844 });
  await listening("ada", 2);
  await field("ada").fill("only the unit tests");
  await steer().click();
  await turn().getByText("only the unit tests", { exact: true }).first().waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
  await page.setViewportSize({ width: 1280, height: 800 });
  await field("ada").fill("and be quick");
  await page.keyboard.press("Control+Enter");
  await turn().getByText("and be quick", { exact: true }).first().waitFor();
  await turn().getByRole("button", { name: "Copy the answer" }).waitFor();
  await steer().waitFor({ state: "detached" });
  expect((await service.client.call("GET", "/agents/ada/turns")).body.data).toHaveLength(1);
});

test("Enter queues, and a runtime that takes no messages has no button", async () => {
  await service.client.createAgent("bea");
  await listening("bea", 1);
  await field("bea").fill("later");
  await page.keyboard.press("Enter");
  await page.getByRole("list", { name: "Queued messages" }).getByText("later").waitFor();
  await field("bea").fill("now");
  await steer().click();
  await page.getByRole("article", { name: "Turn: later" }).waitFor();
  await service.client.createAgent("eve", { runtime: "opencode" });
  await page.goto(`${dashboard.url}/-/agents/eve`);
  await field("eve").fill("hang");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Interrupt" }).waitFor();
  expect(await steer().count()).toBe(0);
  await field("eve").fill("queued all the same");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("list", { name: "Queued messages" }).getByText("queued all the same").waitFor();
});
