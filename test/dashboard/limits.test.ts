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

const goto = (path: string) => page.goto(`${dashboard.url}/-${path}`);

async function send(name: string, message: string) {
  await goto(`/agents/${name}`);
  await page.getByLabel(`Message to ${name}`).fill(message);
  await page.keyboard.press("Enter");
  return page.getByRole("article").filter({ hasText: message });
}

test("limits are set and removed in the settings, and a bad one is refused", async () => {
  await service.client.createAgent("ada");
  const limits = async () => {
    const { maxCredits, maxMinutes, maxToolCalls } = (await service.client.call("GET", "/agents/ada")).body;
    return { maxCredits, maxMinutes, maxToolCalls };
  };
  await goto("/agents/ada/settings");
  const section = page.getByRole("region", { name: "Limits of a turn" });
  const save = section.getByRole("button", { name: "Save" });
  await section.getByLabel("Credits").fill("12.5");
  await section.getByLabel("Tool calls").fill("50");
  await save.click();
  await expect.poll(limits).toEqual({ maxCredits: "12.5", maxMinutes: null, maxToolCalls: 50 });
  await section.getByLabel("Credits").fill("");
  await section.getByLabel("Minutes").fill("99999");
  await save.click();
  await section.getByText("maxMinutes").waitFor();
  await section.getByLabel("Minutes").fill("30");
  await save.click();
  await expect.poll(limits).toEqual({ maxCredits: null, maxMinutes: 30, maxToolCalls: 50 });
});

test("a turn that a limit stopped says so, and a button continues it", async () => {
  await service.client.createAgent("bob", { maxToolCalls: 3 });
  const turn = await send("bob", "steps 20");
  await turn.getByText("A limit stopped this turn").waitFor();
  await turn.getByText("limit of 3 tool calls").waitFor();
  await turn.getByRole("button", { name: "Continue" }).click();
  const next = page.getByRole("article").filter({ hasText: "Continue." });
  await next.getByRole("button", { name: "Copy the answer" }).waitFor();
});

test("a warning is shown in the conversation", async () => {
  await service.client.createAgent("eve");
  const turn = await send("eve", "steps 5 same hang");
  await turn.getByText("5 times in a row with the same input").waitFor();
});

test("the effort is chosen in the settings, and a turn's page shows its own and its use of the context", async () => {
  await service.client.createAgent("eva");
  await goto("/agents/eva/settings");
  const section = page.getByRole("region", { name: "Behaviour" });
  const effort = async () => (await service.client.call("GET", "/agents/eva")).body.effort;
  await section.getByLabel("Effort").selectOption("high");
  await section.getByRole("button", { name: "Save" }).click();
  await expect.poll(effort).toBe("high");
  await section.getByLabel("Effort").selectOption("The model's default");
  await section.getByRole("button", { name: "Save" }).click();
  await expect.poll(effort).toBe(null);
  const { turnId } = await service.client.chat("eva", "ask");
  await goto(`/agents/eva/turns/${turnId}`);
  await page.getByText(/of 200,000 tokens, 0 %/).waitFor();
});
