import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard, viewsOf } from "../support/dashboard.ts";

// No view may run what an agent says, break the page's policy, shut anybody out, or load slowly.

const hostile = [
  "<script>window.hacked = 1</script>",
  '<img src="https://evil.example/x.png" onerror="window.hacked = 2">',
  "![a picture](https://evil.example/y.png)",
  "[a link](javascript:window.hacked=3)",
  '<a href="javascript:window.hacked=4">another</a>',
  '<iframe src="https://evil.example/"></iframe>',
  "[well](https://example.com/)",
  "\n```html\n<script>window.hacked = 5</script>\n```\n",
].join("\n\n");

let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  const { client } = dashboard.service;
  await client.createAgent("ada");
  await client.ask("ada", "# A title\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\nconst a = 1;\n```\n");
  await client.ask("ada", "tool");
  await client.fetch("PUT", "/agents/ada/files/notes.md", "# Notes", { "content-type": "application/octet-stream" });
  await client.ask("ada", "write a.txt one");
  await client.ask("ada", "write a.txt two");
  await client.call("POST", "/keys", { name: "a key" });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what users write
  const headers = { Authorization: "Bearer ${TOKEN}" };
  await client.call("PATCH", "/agents/ada", { mcpServers: { far: { url: "https://mcp.example/", headers } } });
  ({ page } = await dashboard.signedIn());
  await page.addInitScript(`
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => {
      window.violations.push([event.effectiveDirective, event.blockedURI, event.sourceFile, event.lineNumber].join(" "));
    });
  `);
});
afterAll(() => dashboard[Symbol.asyncDispose]());

const violations = () => page.evaluate("window.violations");

test("what an agent says runs nothing and asks nobody", async () => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(new URL(request.url()).origin));
  await page.goto(`${dashboard.url}/-/agents/ada`);
  await page.getByLabel("Message to ada").fill(hostile);
  await page.keyboard.press("Enter");
  const turn = page.getByRole("article").last();
  await turn.getByRole("link", { name: "well" }).waitFor();
  await turn.getByRole("button", { name: "Copy the answer" }).waitFor();
  // The one below the reply leads to the turn itself.
  const links = turn.getByRole("link").and(page.locator(":not([href*='/turns/'])"));
  for (const link of await links.all()) expect(await link.getAttribute("href")).toMatch(/^https:/);
  for (const text of ["a link", "another"]) {
    for (const each of await turn.locator(".prose").getByText(text, { exact: false }).all())
      await each.click().catch(() => {});
  }
  expect(await turn.locator("img, iframe, script").count()).toBe(0);
  expect(await page.evaluate("window.hacked")).toBeUndefined();
  expect(new Set(asked)).toEqual(new Set([dashboard.url]));
  expect(await violations()).toEqual([]);
});

test("a reply shows its HTML as it was written, and all rows of its tables", async () => {
  const lines = [
    "Return Promise<string> or Vec<T>; render <Foo bar={1}/> inside a <section> tag",
    "<details><summary>more</summary>hidden</details>",
    ["| word | number |", "|---|---|", ...Array.from({ length: 15 }, (_, row) => `| row ${row} | ${row} |`)].join("\n"),
  ];
  await page.goto(`${dashboard.url}/-/agents/ada`);
  await page.getByLabel("Message to ada").fill(lines.join("\n\n"));
  await page.keyboard.press("Enter");
  const turn = page.getByRole("article").last();
  await turn.getByRole("button", { name: "Copy the answer" }).waitFor();
  const prose = turn.locator(".prose");
  for (const line of lines.slice(0, 2)) await prose.getByText(line).waitFor();
  const table = prose.getByRole("table");
  const isWhole = await table.evaluate((element) => {
    const frame = element.parentElement!;
    return frame.scrollHeight <= frame.clientHeight + 1 && element.querySelectorAll("tr").length === 16;
  });
  expect(isWhole).toBe(true);
});

test("what is nested or repeated without end does not end the page", async () => {
  const bombs = [">".repeat(20_000), "- ".repeat(5_000), "*a ".repeat(5_000), "[".repeat(20_000), "|".repeat(20_000)];
  for (const bomb of bombs) {
    await page.getByLabel("Message to ada").fill(`x\n\n${bomb}`);
    await page.keyboard.press("Enter");
    const turn = page.getByRole("article").last();
    await turn.getByRole("button", { name: "Copy the answer" }).waitFor({ timeout: 60_000 });
    await page.getByRole("heading", { level: 1, name: "ada" }).waitFor();
  }
  await page.reload();
  await page.getByRole("article").last().getByRole("button", { name: "Copy the answer" }).waitFor({ timeout: 60_000 });
});

test("the page says nothing that a link tells it to say", async () => {
  const { context, page: other } = await dashboard.signedIn();
  await other.goto(`${dashboard.url}/-/signed-out?code=call-0900-123&message=call-0900-123`);
  await other.getByRole("heading", { name: "You are not signed in" }).waitFor();
  expect(await other.textContent("main")).not.toContain("0900");
  await context.close();
});

test("no view breaks the page's policy", { timeout: 120_000 }, async () => {
  for (const path of viewsOf("ada")) {
    await openView(page, dashboard.url, path);
    expect(await violations(), path).toEqual([]);
  }
  await page.goto(`${dashboard.url}/-/agents/ada`);
  await page.getByLabel("Message to ada").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").waitFor();
  expect(await violations()).toEqual([]);
});

test("axe finds nothing serious in any view, light or dark", { timeout: 180_000 }, async () => {
  const { context, page: bypassing } = await dashboard.signedIn({ bypassCSP: true });
  const found: string[] = [];
  const look = async (where: string) => {
    for (const colorScheme of ["light", "dark"] as const) {
      await bypassing.emulateMedia({ colorScheme });
      for (const { impact, id, nodes } of await violationsIn(bypassing)) {
        if (impact !== "serious" && impact !== "critical") continue;
        found.push(`${where}, ${colorScheme}: ${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join("; ")}`);
      }
    }
  };
  for (const path of viewsOf("ada")) {
    await openView(bypassing, dashboard.url, path);
    await bypassing.evaluate(axe.source);
    await look(path);
  }
  await bypassing.getByRole("button", { name: "Edit far" }).click();
  await bypassing.getByRole("dialog").getByLabel("Headers").waitFor();
  await look("a dialog");
  const tools = [{ type: "function", name: "weather" }];
  await dashboard.service.client.createAgent("bea");
  const asked = { model: "bea", input: "call weather", conversation: "conversation-1", tools };
  await dashboard.service.client.call("POST", "/v1/responses", asked);
  await openView(bypassing, dashboard.url, "/-/agents/bea");
  await bypassing.evaluate(axe.source);
  await bypassing.getByText("waiting for its result").click();
  await look("a function's call");
  expect(found).toEqual([]);
  await context.close();
});

async function violationsIn(on: Page): Promise<axe.Result[]> {
  return ((await on.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as axe.AxeResults).violations;
}

async function openView(on: Page, url: string, path: string): Promise<void> {
  await on.goto(url + path);
  await on.getByRole("heading").first().waitFor();
  await expect.poll(() => on.getByRole("status", { name: "Loading" }).count()).toBe(0);
}

test("the first load has at most 200 KB of compressed script", async () => {
  const dist = join(import.meta.dirname, "../../dashboard/dist");
  const document = await readFile(join(dist, "index.html"), "utf8");
  const scripts = [...document.matchAll(/(?:src|href)="(\/assets\/[^"]+\.js)"/g)].map(([, path]) => path!);
  const sizes = await Promise.all(scripts.map(async (path) => (await readFile(join(dist, `${path}.br`))).length));
  const home = (await readdir(join(dist, "assets"))).filter((name) => /^Home-.*\.js\.br$/.test(name));
  for (const name of home) sizes.push((await readFile(join(dist, "assets", name))).length);
  expect(home).toHaveLength(1);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(200_000);
});
