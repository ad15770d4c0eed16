import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";

// Forms say that they have saved, keep the focus, and ask before edits are lost.

let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  ({ page } = await dashboard.signedIn());
  await dashboard.service.client.createAgent("ada");
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const goto = (path: string) => page.goto(`${dashboard.url}/-${path}`);
const region = (name: string) => page.getByRole("region", { name });
const focusedField = () => page.evaluate("document.activeElement.labels?.[0]?.textContent");
const focused = () => page.evaluate("document.activeElement.textContent");

test("each form of the settings says that it has saved, and keeps the focus", async () => {
  await goto("/agents/ada/settings");
  const edits: [string, (section: ReturnType<typeof region>) => Promise<unknown>][] = [
    ["Behaviour", (section) => section.getByLabel("Effort").selectOption("low")],
    ["Permissions", (section) => section.getByLabel("Run commands").selectOption("Ask")],
    ["Limits of a turn", (section) => section.getByLabel("Minutes").fill("30")],
    ["Own schedules", (section) => section.getByLabel("May schedule messages").check()],
  ];
  for (const [name, edit] of edits) {
    const section = region(name);
    const save = section.getByRole("button", { name: "Save", exact: true });
    await edit(section);
    await save.focus();
    await page.keyboard.press("Enter");
    await section.getByText("Saved").waitFor();
    expect(await focused(), name).toBe("Save");
    expect(await save.isDisabled(), name).toBe(true);
  }
});

test("the rules say that they are saved, and keep the focus", async () => {
  await goto("/agents/ada/network");
  await page.getByLabel("Refused hosts").fill("bad.example.com");
  await page.getByRole("button", { name: "Save the rules" }).focus();
  await page.keyboard.press("Enter");
  await region("Rules").getByText("Saved").waitFor();
  expect(await focused()).toBe("Save the rules");
  expect(await page.getByLabel("Refused hosts").inputValue()).toBe("bad.example.com");
});

test("a refused field says why, by the number of its line, and has the focus", async () => {
  await goto("/agents/ada/network");
  await page.getByLabel("Refused hosts").fill("example.com\nnpmjs.org\nnot a rule");
  await page.getByRole("button", { name: "Save the rules" }).click();
  await region("Rules")
    .getByText(/^Line 3: /)
    .waitFor();
  expect(await focusedField()).toBe("Refused hosts");
  expect(await page.getByLabel("Refused hosts").getAttribute("aria-invalid")).toBe("true");
  expect(await region("Rules").getByRole("alert").count()).toBe(1);
  await page.getByLabel("Refused hosts").fill("example.com");
  await page.getByRole("button", { name: "Save the rules" }).click();
  await region("Rules").getByText("Saved").waitFor();
  expect(await region("Rules").getByRole("alert").count()).toBe(0);
});

test("each wrong field of a dialog says what is wrong with it, and its input stays", async () => {
  await goto("/agents/ada/secrets");
  await page.getByRole("button", { name: "Set a secret" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("TOKEN");
  await dialog.getByLabel("Value").fill("hush");
  await dialog.getByLabel("Hosts").fill("api.example.com, https://");
  await dialog.getByRole("button", { name: "Set", exact: false }).last().click();
  await dialog.getByText(/^Entry 2: /).waitFor();
  expect(await focusedField()).toBe("Hosts");
  expect(await dialog.getByRole("alert").count()).toBe(1);
  expect(await dialog.getByLabel("Value").inputValue()).toBe("hush");
});

test("leaving with unsaved edits asks, and a draft of instructions stays", async () => {
  await goto("/agents/ada/settings");
  await region("Limits of a turn").getByLabel("Minutes").fill("45");
  await page.getByLabel("Instructions").fill("Be brief.");
  const tab = page.getByRole("link", { name: "Files", exact: true });
  const asks = page.getByRole("dialog", { name: "Leave without saving?" });
  await tab.click();
  await asks.getByRole("button", { name: "Stay" }).click();
  await asks.waitFor({ state: "detached" });
  expect(await region("Limits of a turn").getByLabel("Minutes").inputValue()).toBe("45");
  await tab.click();
  await asks.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("region", { name: "Folder" }).waitFor();
  await page.getByRole("link", { name: "Settings", exact: true }).click();
  await page.getByText("This is a draft.").waitFor();
  expect(await page.getByLabel("Instructions").inputValue()).toBe("Be brief.");
  expect(await region("Limits of a turn").getByLabel("Minutes").inputValue()).toBe("30");
  await page.getByRole("button", { name: "discard the draft" }).click();
  expect(await page.getByLabel("Instructions").inputValue()).toBe("");
  await tab.click();
  await page.getByRole("region", { name: "Folder" }).waitFor();
});

test("closing the tab with unsaved edits asks", async () => {
  await goto("/agents/ada/network");
  await page.getByLabel("Refused hosts").fill("other.example.com");
  const asked = page.waitForEvent("dialog");
  await page.close({ runBeforeUnload: true });
  const dialog = await asked;
  expect(dialog.type()).toBe("beforeunload");
  await dialog.dismiss();
  await region("Rules").getByRole("button", { name: "Save the rules" }).click();
  await region("Rules").getByText("Saved").waitFor();
});

test("a new agent's instructions stay a draft until it is created", async () => {
  await goto("/create-agent");
  await page.getByLabel("Instructions").fill("Keep notes.");
  await page.reload();
  await expect.poll(() => page.getByLabel("Instructions").inputValue()).toBe("Keep notes.");
  await page.getByLabel("Name", { exact: true }).fill("drafted");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByRole("heading", { level: 1, name: "drafted" }).waitFor();
  await goto("/create-agent");
  expect(await page.getByLabel("Instructions").inputValue()).toBe("");
});

test("a click outside a dialog keeps what was typed in it", async () => {
  await goto("/keys");
  await page.getByRole("button", { name: "Create API key" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("for the build");
  await page.mouse.click(5, 5);
  expect(await dialog.getByLabel("Name").inputValue()).toBe("for the build");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});

test("a key has a name and an end, and its dialog is closed by a button only", async () => {
  await goto("/keys");
  await page.getByRole("button", { name: "Create API key" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.getByLabel("Expires").inputValue()).toBe("90");
  const make = dialog.getByRole("button", { name: "Create key" });
  await make.click();
  expect(await page.evaluate("document.activeElement.validity.valueMissing")).toBe(true);
  await dialog.getByLabel("Name").fill("for the build");
  await make.click();
  await page.getByTestId("once").waitFor();
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  expect(await page.getByTestId("once").isVisible()).toBe(true);
  await dialog.getByRole("button", { name: "Done" }).click();
  await dialog.waitFor({ state: "detached" });
});

test("where the page may not copy, the text is selected for the person to copy", async () => {
  const { context, page: plain } = await dashboard.signedIn();
  // As browsers do on pages over plain HTTP.
  await plain.addInitScript("delete Navigator.prototype.clipboard; delete window.ClipboardItem;");
  await dashboard.service.client.ask("ada", "```js\nlet here = 1;\n```\n");
  await plain.goto(`${dashboard.url}/-/agents/ada`);
  const press = plain.getByRole("dialog", { name: /^Press (Ctrl-|⌘)C$/ });
  for (const button of ["Copy the answer", "Copy Code"]) {
    await plain.getByRole("button", { name: button }).first().click();
    await press.waitFor();
    await expect.poll(() => plain.evaluate("getSelection().toString()")).toContain("let here = 1;");
    await plain.keyboard.press("Control+c");
    await press.waitFor({ state: "detached" });
  }
  await plain.goto(`${dashboard.url}/-/keys`);
  await plain.getByRole("button", { name: "Create API key" }).click();
  await plain.getByLabel("Name").fill("to be copied");
  await plain.getByRole("button", { name: "Create key" }).click();
  const key = await plain.getByTestId("once").textContent();
  await plain.getByRole("button", { name: "Copy the key" }).click();
  await expect.poll(() => plain.evaluate("getSelection().toString()")).toBe(key);
  await plain.keyboard.press("Control+c");
  await plain.getByRole("button", { name: "Copied" }).waitFor();
  await plain.getByRole("button", { name: "Done" }).click();
  await context.close();
});

test("a host is added to unsaved rules, unless it is always refused", async () => {
  const { client, driver } = dashboard.service;
  await client.call("PUT", "/agents/ada/network", { allow: ["kept.example.com"], deny: ["*.denied.example.com"] });
  const proxy = driver.proxyOf(driver.running[0]!);
  for (const host of ["new.example.com", "10.1.2.3", "a.denied.example.com"]) {
    const asked = request(proxy, { method: "CONNECT", path: `${host}:443` }).end();
    await (once(asked, "connect") as Promise<[IncomingMessage]>);
    asked.destroy();
  }
  await goto("/agents/ada/network");
  const allowed = page.getByLabel("Allowed hosts");
  await allowed.fill("kept.example.com\nmine.example.com");
  const row = (host: string) => page.getByRole("row").filter({ hasText: host });
  await row("new.example.com").getByRole("button", { name: "Allow this host" }).click();
  await expect.poll(() => allowed.inputValue()).toBe("kept.example.com\nmine.example.com\nnew.example.com:443");
  for (const host of ["10.1.2.3", "a.denied.example.com"]) {
    await row(host).waitFor();
    expect(await row(host).getByRole("button").count(), host).toBe(0);
  }
  await page.getByRole("button", { name: "Save the rules" }).click();
  await region("Rules").getByText("Saved").waitFor();
  const saved = (await client.call("GET", "/agents/ada/network")).body.allow;
  expect(saved).toEqual(["kept.example.com", "mine.example.com", "new.example.com:443"]);
});

test("a new agent's name is checked as it is typed, in lower case, and the focus goes to what is wrong", async () => {
  await goto("/create-agent");
  const name = page.getByLabel("Name", { exact: true });
  await name.pressSequentially("Ada!");
  expect(await name.inputValue()).toBe("ada!");
  await page.getByRole("alert").getByText("“!” is not allowed").waitFor();
  await name.fill("a".repeat(31));
  await page.getByRole("alert").getByText("up to 30 characters; this has 31").waitFor();
  await page.getByRole("button", { name: "Create agent" }).click();
  expect(await focusedField()).toBe("Name");
  await name.fill("ada");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByRole("alert").getByText("ada").waitFor();
  await expect.poll(focusedField).toBe("Name");
});

test("an MCP server's name and address are checked in its dialog, and sizes that the host lacks are not offered", async () => {
  await goto("/create-agent");
  await page.getByText("MCP servers", { exact: true }).click();
  await page.getByRole("button", { name: "Add a server" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("bad name!");
  await dialog.getByRole("alert").getByText("1–32 lowercase letters").waitFor();
  await dialog.getByLabel("Name").fill("good");
  await dialog.getByLabel("Address").fill("notaurl");
  await dialog.getByRole("button", { name: "Save" }).click();
  expect(await focusedField()).toBe("Address");
  await page.keyboard.press("Escape");
  await page.getByText("Machine size").click();
  const { limit } = (await dashboard.service.client.call("GET", "/admin/capacity")).body.memoryMiB;
  await page.getByText(`share ${(limit / 1024).toFixed(1)} GiB`).waitFor();
  const sizes = (await page.getByLabel("Memory").locator("option").allTextContents()).slice(1);
  for (const size of sizes) expect(Number.parseInt(size, 10) * 1024).toBeLessThanOrEqual(limit);
  expect(sizes.length).toBeGreaterThan(0);
});
