import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callAs, Dashboard } from "../support/dashboard.ts";
import { Program } from "../support/http-program.ts";

// An agent's machine in the browser: its files, its pages, what it may reach, its secrets.

let dashboard: Dashboard;
let context: BrowserContext;
let page: Page;
/** The agent's server: a program of this machine, which the scripted machine is. */
let program: Program;

beforeAll(async () => {
  program = await Program.start();
  program.answer = (_, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<!doctype html><title>hers</title><h1>Ada's page</h1>");
  };
  dashboard = await Dashboard.start();
  await dashboard.service.client.createAgent("ada");
  ({ context, page } = await dashboard.signedIn());
});
afterAll(async () => {
  await dashboard[Symbol.asyncDispose]();
  program[Symbol.dispose]();
});

async function open(tab: string): Promise<void> {
  await page.goto(`${dashboard.url}/-/agents/ada/${tab}`);
}

/** Chooses an action of a file or folder. */
async function choose(entry: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${entry}`, exact: true }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

test("files are uploaded, and downloaded by the browser itself, with no key in the address", async () => {
  const large = randomBytes(3_000_000);
  await open("files");
  await page.getByLabel("Files to upload").setInputFiles([
    { name: "large.bin", mimeType: "application/octet-stream", buffer: large },
    { name: "page.html", mimeType: "text/html", buffer: Buffer.from("<script>window.hacked = 1</script>") },
  ]);
  await page.getByRole("link", { name: "page.html", exact: true }).waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), choose("large.bin", "Download")]);
  expect(download.suggestedFilename()).toBe("large.bin");
  expect(new URL(download.url()).pathname).toBe("/agents/ada/files/large.bin");
  expect(download.url()).not.toMatch(/eyJ|berth_/);
  expect((await readFile(await download.path())).equals(large)).toBe(true);
  const [hostile] = await Promise.all([page.waitForEvent("download"), choose("page.html", "Download")]);
  expect(hostile.suggestedFilename()).toBe("page.html");
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  await page.getByRole("heading", { level: 1, name: "ada" }).waitFor();
});

test("a folder is made, downloaded as an archive, and renamed; a name that is taken is refused", async () => {
  await page.getByRole("button", { name: "New folder" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("notes");
  await page.getByRole("button", { name: "Create" }).click();
  const [download] = await Promise.all([page.waitForEvent("download"), choose("notes", "Download as zip")]);
  expect(download.suggestedFilename()).toBe("notes.zip");
  await choose("notes", "Rename…");
  await page.getByRole("textbox", { name: "Name" }).fill("page.html");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByRole("textbox", { name: "Name" }).fill("papers");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await page.getByRole("table").getByRole("link", { name: "papers" }).click();
  await page.getByText("This folder is empty").waitFor();
});

test("what the agent serves opens in a tab of its own, at another origin, without a hold of this one", async () => {
  await open("ports");
  const row = page.getByRole("row").filter({ hasText: String(program.port) });
  const [tab] = await Promise.all([
    context.waitForEvent("page"),
    row.getByRole("button", { name: "Open" }).first().click(),
  ]);
  await tab.getByRole("heading", { name: "Ada's page" }).waitFor();
  expect(new URL(tab.url()).origin).not.toBe(dashboard.url);
  expect(await tab.evaluate("window.opener")).toBeNull();
  await tab.close();
});

test("a page is shown in a frame at widths of devices, and cannot leave it", async () => {
  const seen: (string | undefined)[] = [];
  program.answer = (request, response) => {
    seen.push(request.headers.cookie);
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<!doctype html><h1>Ada's page</h1><a href="/next">Next</a>
      <button onclick="try { top.location = 'https://evil.example/' } catch { document.title = 'kept' }">Leave</button>`);
  };
  await open("ports");
  const row = page.getByRole("row").filter({ hasText: String(program.port) });
  await row.getByRole("link", { name: "Preview" }).first().click();
  const frame = page.frameLocator("iframe");
  await frame.getByRole("heading", { name: "Ada's page" }).waitFor();
  await frame.getByRole("link", { name: "Next" }).click();
  await frame.getByRole("heading", { name: "Ada's page" }).waitFor();
  await page.getByRole("button", { name: "Phone", exact: true }).click();
  expect((await page.locator("iframe").boundingBox())!.width).toBe(390);
  await frame.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("button", { name: "Reload the page" }).click();
  await frame.getByRole("heading", { name: "Ada's page" }).waitFor();
  expect(new URL(page.url()).search).toBe(`?port=${program.port}`);
  // The program never sees the cookie of the frame.
  expect(new Set(seen)).toEqual(new Set([undefined]));
  const [tab] = await Promise.all([
    context.waitForEvent("page"),
    page.getByRole("button", { name: "Open in a tab" }).click(),
  ]);
  await tab.getByRole("heading", { name: "Ada's page" }).waitFor();
  await tab.close();
  await page.getByRole("link", { name: "All ports" }).click();
  await row.first().waitFor();
});

test("a public link shows a port's pages to anybody, until it is ended", async () => {
  const row = page.getByRole("row").filter({ hasText: String(program.port) });
  await row.getByRole("button", { name: "Share" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Anyone with the link").waitFor();
  expect(await dialog.getByLabel("Ends").inputValue()).toBe("24");
  await dialog.getByRole("button", { name: "Make the link" }).click();
  const link = (await page.getByTestId("once").textContent())!;
  expect(await statusAt(link)).toBeLessThan(400);
  const shared = page.getByRole("region", { name: "Public links" }).last().getByRole("row");
  await shared.getByRole("button", { name: "Revoke link" }).click();
  await page.getByText("None. Share a port").waitFor();
  expect(await statusAt(link)).toBeGreaterThanOrEqual(400);
});

/** As a visitor's browser asks, which finds every name below localhost here. */
async function statusAt(link: string): Promise<number> {
  const { host, port, pathname, search } = new URL(link);
  return new Promise((resolve, reject) => {
    const asked = request({ port, path: pathname + search, headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    asked.on("error", reject).end();
  });
}

test("a host that was refused is allowed from its line", async () => {
  await dashboard.service.client.call("PUT", "/agents/ada/network", { allow: [], deny: [] });
  const proxy = new URL(dashboard.service.driver.proxyOf(dashboard.service.driver.running[0]!));
  await new Promise<void>((resolve, reject) => {
    const asked = request({ port: proxy.port, method: "CONNECT", path: "hosted.example:443" });
    asked.on("connect", (_, socket) => {
      socket.destroy();
      resolve();
    });
    asked.on("error", reject).end();
  });
  await page.goto(`${dashboard.url}/-/`);
  await page.getByText("hosted.example:443 was blocked").waitFor();
  await open("network");
  const row = page.getByRole("row").filter({ hasText: "hosted.example" });
  await row.getByRole("button", { name: "Allow this host" }).click();
  await expect
    .poll(async () => (await dashboard.service.client.call("GET", "/agents/ada/network")).body.allow)
    .toEqual(["hosted.example:443"]);
  expect(await page.getByLabel("Allowed hosts").inputValue()).toBe("hosted.example:443");
  await expect.poll(async () => (await callAs(page, "GET", "/inbox?kind=blocked")).data).toEqual([]);
});

test("a secret is set, shown without its value, and removed", async () => {
  await open("secrets");
  await page.getByRole("button", { name: "Set a secret" }).click();
  await page.getByLabel("Name").fill("GITHUB_TOKEN");
  await page.getByLabel("Value").fill("hush-hush");
  await page.getByLabel("Hosts").fill("api.github.com, github.com");
  await page.getByRole("button", { name: "Set it" }).click();
  await page.getByRole("cell", { name: "api.github.com, github.com" }).waitFor();
  // The list is renewed before the form closes, and an open form's input has the value in the document.
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await page.content()).not.toContain("hush-hush");
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("No secrets yet").waitFor();
});

test("MCP servers are added, refused in place, changed and removed; an unset secret is reported", async () => {
  const saved = async () => (await dashboard.service.client.call("GET", "/agents/ada")).body.mcpServers;
  await open("settings");
  const section = page.getByRole("region", { name: "MCP servers" }).first();
  const dialog = page.getByRole("dialog");
  await section.getByText("No MCP servers yet").waitFor();
  await section.getByRole("button", { name: "Add a server" }).click();
  await dialog.getByLabel("Name").fill("github");
  await dialog.getByLabel("Address").fill("https://api.githubcopilot.com/mcp/");
  await dialog.getByLabel("Headers").fill("no header");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByRole("alert").getByText("Each header is a line").waitFor();
  await dialog.getByLabel("Headers").fill("Authorization: Bearer ghp_1234");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog
    .getByRole("alert")
    .getByText(/must name a secret/)
    .waitFor();
  await dialog.getByLabel("Headers").fill(`Authorization: Bearer ${githubToken}`);
  await dialog.getByRole("button", { name: "Save" }).click();
  await section
    .getByRole("row", { name: /github/ })
    .getByText("GITHUB_TOKEN is not set")
    .waitFor();
  await section.getByRole("button", { name: "Add a server" }).click();
  await dialog.getByLabel("Name").fill("files");
  await dialog.getByLabel("Where it is").selectOption({ label: "In the agent's machine" });
  await dialog.getByLabel("Command").fill("npx");
  await dialog.getByLabel("Arguments").fill("-y\n@modelcontextprotocol/server-filesystem");
  await dialog.getByLabel("Environment").fill("MODE=a=b");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const github = { url: "https://api.githubcopilot.com/mcp/", headers: { Authorization: `Bearer ${githubToken}` } };
  const args = ["-y", "@modelcontextprotocol/server-filesystem"];
  expect(await saved()).toEqual({ github, files: { command: "npx", args, env: { MODE: "a=b" } } });
  await section.getByRole("button", { name: "Edit files" }).click();
  expect(await dialog.getByLabel("Arguments").inputValue()).toBe(args.join("\n"));
  await dialog.getByLabel("Arguments").fill("");
  await dialog.getByLabel("Environment").fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await saved()).toEqual({ github, files: { command: "npx" } });
  await section.getByRole("button", { name: "Remove github" }).click();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await saved()).toEqual({ files: { command: "npx" } });
});

test("the agents that it may ask are chosen among the others, and one that is gone is left out", async () => {
  const { client } = dashboard.service;
  const saved = async () => (await client.call("GET", "/agents/ada")).body.agents;
  for (const name of ["bob", "cleo"]) await client.createAgent(name);
  await open("settings");
  const section = page.getByRole("region", { name: "Other agents" });
  expect(await section.getByRole("checkbox", { name: "ada" }).count()).toBe(0);
  for (const name of ["bob", "cleo"]) await section.getByRole("checkbox", { name }).check();
  expect(await section.getByRole("searchbox").count()).toBe(0);
  await section.getByRole("button", { name: "Save" }).click();
  await expect.poll(saved).toEqual(["bob", "cleo"]);
  await client.call("DELETE", "/agents/bob");
  await open("settings");
  await section.getByRole("checkbox", { name: "cleo" }).uncheck();
  await section.getByRole("button", { name: "Save" }).click();
  await expect.poll(saved).toEqual([]);
  await client.call("DELETE", "/agents/cleo");
});

test("many agents are searched, and Enter in the search saves nothing", async () => {
  const { client } = dashboard.service;
  const names = Array.from({ length: 8 }, (_, at) => `helper-${at + 1}`);
  await Promise.all(names.map((name) => client.createAgent(name)));
  await open("settings");
  const section = page.getByRole("region", { name: "Other agents" });
  await section.getByRole("searchbox").fill("PER-7");
  await expect.poll(() => section.getByRole("checkbox").count()).toBe(1);
  await section.getByRole("checkbox", { name: "helper-7" }).check();
  await section.getByRole("searchbox").press("Enter");
  await section.getByRole("searchbox").fill("none of them");
  await section.getByText("No matching agents").waitFor();
  await section.getByRole("searchbox").fill("");
  await section.getByText(/^1 of \d+ chosen$/).waitFor();
  expect((await client.call("GET", "/agents/ada")).body.agents).toEqual([]);
  for (const name of names) await client.call("DELETE", `/agents/${name}`);
});

// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write
const githubToken = "${GITHUB_TOKEN}";
