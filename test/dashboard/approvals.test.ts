import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";
import { ScriptedService } from "../support/scripted-service.ts";

let service: ScriptedService;
let dashboard: Dashboard;
let page: Page;
const phone = { width: 390, height: 844 };

beforeAll(async () => {
  service = await ScriptedService.start();
  dashboard = await Dashboard.of(service);
  page = (await dashboard.signedIn()).page;
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const goto = (path: string) => page.goto(`${dashboard.url}/-${path}`);

async function open(name: string): Promise<void> {
  await service.client.createAgent(name, { permissions: { execute: "ask" } });
  await goto(`/agents/${name}`);
  await page.getByLabel(`Message to ${name}`).waitFor();
}

async function send(name: string, message: string) {
  await page.getByLabel(`Message to ${name}`).fill(message);
  await page.keyboard.press("Enter");
  return page.getByRole("article").filter({ hasText: message });
}

test("a command is allowed in the conversation, and the turn continues", async () => {
  await open("ada");
  const turn = await send("ada", "use execute rm -rf build");
  const card = turn.getByRole("region", { name: "Approval: rm -rf build" });
  await card.getByText("ada wants to execute").waitFor();
  await turn.getByText("waiting for your answer…").waitFor();
  await card.getByRole("button", { name: "Allow", exact: true }).click();
  await turn.getByText("Allowed: execute rm -rf build").waitFor();
  await turn
    .getByRole("paragraph")
    .filter({ hasText: /^used$/ })
    .waitFor();
});

test("a and d answer the first question, but not while a text is written or as the question appears", async () => {
  await open("kay");
  const turn = await send("kay", "uses execute 2 step");
  await turn.getByRole("button", { name: "Deny" }).nth(1).waitFor();
  await page.keyboard.type("a");
  expect(await page.getByLabel("Message to kay").inputValue()).toBe("a");
  await page.getByRole("region", { name: "Conversation" }).focus();
  const key = turn.getByRole("button", { name: "Deny" }).locator("kbd");
  await key.waitFor();
  await page.keyboard.press("d");
  await page.keyboard.press("d");
  await turn.getByText("Denied: execute step").waitFor();
  await key.waitFor();
  await page.keyboard.press("a");
  await turn.getByText("Allowed: execute step").waitFor();
  expect(await turn.getByText("Denied:").count()).toBe(1);
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await page.waitForURL(/\/agents$/);
});

test("from a phone, with the machine asleep, on the page of what needs you", async () => {
  await open("eve");
  const turn = await send("eve", "use execute git push");
  await turn.getByRole("button", { name: "Deny" }).waitFor();
  await service.client.call("POST", "/agents/eve/suspend");
  await page.setViewportSize(phone);
  await goto("/");
  const need = page
    .getByRole("list", { name: "Needs attention" })
    .getByRole("listitem")
    .filter({ hasText: "eve wants to" });
  await need.getByText("eve wants to execute git push").waitFor();
  await need.getByRole("button", { name: "Always allow this" }).click();
  await need.waitFor({ state: "detached" });
  await goto("/agents/eve");
  await page.getByText("Always allowed: execute git push").waitFor();
  await page
    .getByRole("paragraph")
    .filter({ hasText: /^used$/ })
    .waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  await goto("/agents/eve/settings");
  await expect.poll(() => page.getByLabel("Pattern of rule 1").inputValue()).toBe("git push");
});

test("the home page shows the change that an approval is about, also on a phone", async () => {
  await service.client.createAgent("mia", { permissions: { edit: "ask" } });
  await goto("/agents/mia");
  const turn = await send("mia", "use edit /home/agent/notes.txt");
  await turn.getByRole("button", { name: "Deny" }).waitFor();
  await page.setViewportSize(phone);
  await goto("/");
  const need = page.getByRole("listitem").filter({ hasText: "mia wants to edit" });
  await need.getByText("- before\n+ after\\u{202e}").waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(phone.width);
  await need.getByText("The change").click();
  await need.getByText("- before").waitFor({ state: "hidden" });
  await need.getByRole("button", { name: "Deny" }).click();
  await need.waitFor({ state: "detached" });
  await page.setViewportSize({ width: 1280, height: 800 });
});

test("characters that hide a part of a command are spelled out", async () => {
  await open("mal");
  const turn = await send("mal", "use execute echo \u202e safe");
  await turn.getByText("echo \\u{202e} safe").first().waitFor();
  await turn.getByRole("button", { name: "Deny" }).click();
  await turn
    .getByRole("paragraph")
    .filter({ hasText: /^not used$/ })
    .waitFor();
});

test("permissions are changed in the settings, and a bad rule is refused with a reason", async () => {
  await open("ida");
  await goto("/agents/ida/settings");
  await page.getByLabel("Run commands").selectOption("allow");
  await page.getByLabel("Fetch from the web").selectOption("deny");
  await page.getByRole("button", { name: "Add a rule" }).click();
  await page.getByLabel("Pattern of rule 1").fill("git *");
  const section = page.getByRole("region", { name: "Permissions" });
  await section.getByRole("button", { name: "Save" }).click();
  await expect
    .poll(async () => (await service.client.call("GET", "/agents/ida")).body.permissions)
    .toMatchObject({ execute: "allow", fetch: "deny", rules: [{ kind: "execute", pattern: "git *" }] });
  await page.getByRole("button", { name: "Remove rule 1" }).click();
  await section.getByRole("button", { name: "Save" }).click();
  await expect.poll(async () => (await service.client.call("GET", "/agents/ida")).body.permissions.rules).toEqual([]);
});
