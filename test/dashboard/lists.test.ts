import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";

// Lists: their filters are in the address, and several things at once are deleted with care.

let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  ({ page } = await dashboard.signedIn());
  for (const name of ["ada-one", "ada-two", "bob-one"]) await dashboard.service.client.createAgent(name);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const goto = (path: string) => page.goto(`${dashboard.url}/-${path}`);

test("the search, the status and the order of agents are kept on Back and by a reload", async () => {
  await goto("/agents");
  await page.getByLabel("Search agents").fill("ada");
  await page.getByLabel("Order").selectOption("Name");
  const rows = page.getByRole("region", { name: "Agents", exact: true }).getByRole("row").filter({ hasText: "-" });
  await expect.poll(() => rows.count()).toBe(2);
  await page.getByRole("link", { name: "ada-one" }).click();
  await page.getByLabel("Message to ada-one").waitFor();
  await page.goBack();
  for (const again of [() => Promise.resolve(), () => page.reload()]) {
    await again();
    await expect.poll(() => rows.count()).toBe(2);
    expect(await page.getByLabel("Search agents").inputValue()).toBe("ada");
    expect(await page.getByLabel("Order").inputValue()).toBe("name");
  }
  await page.getByRole("navigation", { name: "Views" }).first().getByRole("link", { name: "Agents" }).click();
  await expect.poll(() => rows.count()).toBe(3);
  expect(await page.getByLabel("Search agents").inputValue()).toBe("");
  await goto("/agents?status=nonsense&order=toString");
  await expect.poll(() => rows.count()).toBe(3);
});

test("the filters of the audit log, of credits and of connections are kept by a reload", async () => {
  const views = { "/audit": "Outcome", "/credits": "Kind", "/agents/ada-one/network": "Verdict" };
  const values: Readonly<Record<string, string>> = { Outcome: "refused", Kind: "model", Verdict: "allowed" };
  for (const [path, label] of Object.entries(views)) {
    await goto(path);
    await page.getByLabel(label).selectOption(values[label]!);
    await page.waitForURL(new RegExp(`=${values[label]}`));
    await page.reload();
    await expect.poll(() => page.getByLabel(label).inputValue()).toBe(values[label]);
  }
});

test("the audit log is limited to days, both included, and downloaded as CSV", async () => {
  const today = new Date().toISOString().slice(0, 10);
  await goto(`/audit?since=${today}&until=${today}`);
  await page.getByRole("row").filter({ hasText: "POST /agents" }).first().waitFor();
  expect(await page.getByLabel("From", { exact: true }).inputValue()).toBe(today);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download as CSV" }).click();
  const text = await readFile(await (await download).path(), "utf8");
  expect(text).toMatch(/^at,by,person,.*\r\n/);
  expect(text).toContain("POST /agents");
  await page.getByLabel("To", { exact: true }).fill("2001-01-01");
  await page.getByText("No matching entries").waitFor();
});

test("several agents are deleted once their number is typed, and their names are shown", async () => {
  await goto("/agents?search=ada");
  await page.getByLabel("Select all").check();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("ada-one, ada-two").or(dialog.getByText("ada-two, ada-one")).waitFor();
  const confirm = dialog.getByRole("button", { name: "Delete 2 agents" });
  expect(await confirm.isDisabled()).toBe(true);
  await dialog.getByLabel("Type 2 to continue").fill("2");
  await confirm.click();
  await dialog.waitFor({ state: "detached" });
  const left = async () => (await dashboard.service.client.call("GET", "/agents")).body.data;
  await expect.poll(async () => (await left()).map(({ name }: { name: string }) => name)).toEqual(["bob-one"]);
});
