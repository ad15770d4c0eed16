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
const shown = () => page.getByRole("button", { name: /^Conversation: / });
const dialog = () => page.getByRole("dialog");
const transcript = () => page.getByRole("region", { name: "Conversation", exact: true });

async function send(agent: string, message: string): Promise<void> {
  await page.getByLabel(`Message to ${agent}`).fill(message);
  await page.keyboard.press("Enter");
  await page
    .getByRole("article")
    .filter({ hasText: message })
    .getByRole("paragraph")
    .filter({ hasText: message })
    .last()
    .waitFor();
}

test("conversations are created, switched, and each shows only its own messages", async () => {
  await service.client.createAgent("ada");
  await goto("/agents/ada");
  await send("ada", "first words");
  await page.getByRole("button", { name: "Conversation: first words" }).waitFor();
  await page.getByRole("button", { name: "New conversation" }).click();
  await page.getByRole("button", { name: "Conversation: Conversation 2" }).waitFor();
  await page.getByText("ada is ready").waitFor();
  await send("ada", "other words");
  await page.getByRole("button", { name: "Conversation: other words" }).waitFor();
  expect(await transcript().textContent()).not.toContain("first words");
  await page.reload();
  await page.getByRole("article").filter({ hasText: "other words" }).waitFor();
  await shown().click();
  await dialog()
    .getByRole("button", { name: /^first words/ })
    .click();
  await page.getByRole("article").filter({ hasText: "first words" }).waitFor();
  expect(await transcript().textContent()).not.toContain("other words");
  const { data } = (await service.client.call("GET", "/agents/ada/turns")).body;
  expect(data.map(({ conversation }: { conversation: number }) => conversation)).toEqual([2, 1]);
});

test("a conversation is renamed, made current and deleted, on a phone", async () => {
  await service.client.createAgent("eve");
  for (const title of ["Second", "Third"]) await service.client.call("POST", "/agents/eve/conversations", { title });
  await page.setViewportSize(phone);
  await goto("/agents/eve");
  await shown().click();
  await dialog().getByRole("button", { name: "Rename: Second" }).click();
  await dialog().getByRole("textbox", { name: "Title" }).fill("Renamed");
  await dialog().getByRole("button", { name: "Save" }).click();
  await dialog().getByRole("button", { name: "Make current: Renamed" }).click();
  await page.getByRole("button", { name: "Conversation: Renamed" }).waitFor();
  await shown().click();
  await dialog().getByRole("listitem").filter({ hasText: "Renamed" }).getByText("current").waitFor();
  expect((await service.client.call("GET", "/agents/eve")).body.conversation).toBe(2);
  await dialog().getByRole("button", { name: "Delete: Third" }).click();
  await page.getByRole("dialog", { name: "Delete “Third”?" }).getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete “Third”?" }).waitFor({ state: "detached" });
  const { data } = (await service.client.call("GET", "/agents/eve/conversations")).body;
  expect(data.map(({ id }: { id: number }) => id).toSorted()).toEqual([1, 2]);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(phone.width);
  await page.setViewportSize({ width: 1280, height: 800 });
});

test("the dialog of a rollback names the conversations that forget turns", async () => {
  await service.client.createAgent("ida", { autoSnapshot: 0 });
  await service.client.call("POST", "/agents/ida/snapshots", { name: "before" });
  await service.client.call("POST", "/agents/ida/conversations", { title: "Holiday plans" });
  await service.client.call("POST", "/agents/ida/conversations", { title: "Untouched" });
  await (await service.client.fetch("POST", "/agents/ida/chat", { message: "hello", conversation: 2 })).text();
  await goto("/agents/ida/snapshots");
  await page.getByRole("button", { name: "Roll back" }).click();
  await dialog().getByText("ida forgets later turns of “Holiday plans”.").waitFor();
});

test("another page shows a conversation's new title at once", async () => {
  await service.client.createAgent("uma");
  await goto("/agents/uma");
  await page.getByRole("button", { name: "Conversation: Conversation 1" }).waitFor();
  await service.client.call("PATCH", "/agents/uma/conversations/1", { title: "From elsewhere" });
  await page.getByRole("button", { name: "Conversation: From elsewhere" }).waitFor();
});

test("a turn is continued in a conversation of its own, which links to it", async () => {
  await service.client.createAgent("eva");
  for (const message of ["first words", "second words"]) await service.client.chat("eva", message);
  await goto("/agents/eva");
  const article = page.getByRole("article").filter({ hasText: "first words" });
  await article.hover();
  await article.getByRole("button", { name: "Branch off after this reply" }).click();
  await page.getByRole("button", { name: "Conversation: Conversation 2" }).waitFor();
  await send("eva", "other words");
  expect(await transcript().textContent()).not.toContain("second words");
  await page.getByText("Continues from a turn of").waitFor();
  await page.getByRole("link", { name: "first words" }).click();
  await page.waitForURL(/\/agents\/eva\/turns\/.+/);
});
