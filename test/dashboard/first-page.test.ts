import { sql } from "kysely";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { databaseOf } from "../support/accounts.ts";
import { callAs, Dashboard } from "../support/dashboard.ts";

// The first page: the frame and the newest turns are in the document, and so are the answers that the dashboard needs.

let dashboard: Dashboard;
let context: BrowserContext;
let page: Page;

const hostile = 'A </script><script>alert(1)</script><img src=x onerror="alert(1)"> & "quotes"';

beforeAll(async () => {
  dashboard = await Dashboard.start();
  const { client } = dashboard.service;
  await client.createAgent("ada");
  await client.chat("ada", hostile);
  await client.chat("ada", "Code:\n\n```ts\nconst one = 1 < 2;\n```\n\nThe end.");
  ({ context, page } = await dashboard.signedIn());
});
afterAll(async () => dashboard?.[Symbol.asyncDispose]());

async function documentAt(path: string, headers: Record<string, string> = {}) {
  const response = await context.request.get(`${dashboard.url}/-${path}`, { headers });
  expect(response.status()).toBe(200);
  return { text: await response.text(), headers: response.headers() };
}

/** The answers in a document; null if it has none. */
function answersIn(
  document: string,
): { after: number; workspace: string | null; answers: Record<string, unknown> } | null {
  const [, json] = /<script type="application\/json" id="first-answers">(.*)<\/script>/.exec(document) ?? [];
  return json === undefined ? null : JSON.parse(json);
}

test("the newest turns are shown without scripts, and an agent's words are text", async () => {
  const still = await dashboard.browser.newContext({
    storageState: await context.storageState(),
    javaScriptEnabled: false,
    viewport: { width: 390, height: 844 },
  });
  const first = await still.newPage();
  const refused: string[] = [];
  first.on("console", ({ text }) => refused.push(text()));
  await first.goto(`${dashboard.url}/-/agents/ada`);
  const shown = first.locator("#first");
  expect(await shown.getByText(hostile, { exact: true }).count()).toBe(2);
  expect(await shown.locator("pre").textContent()).toBe("const one = 1 < 2;");
  expect(await shown.locator("script, img").count()).toBe(0);
  const box = (await shown.getByText("The end.", { exact: true }).boundingBox())!;
  expect(box.y).toBeGreaterThan(400);
  expect(box.y + box.height).toBeLessThan(844);
  expect(await first.evaluate("document.documentElement.scrollWidth")).toBe(390);
  expect(refused).toEqual([]);
  await still.close();
});

test("the dashboard requests nothing that its document came with", async () => {
  const tab = await context.newPage();
  const requested: string[] = [];
  tab.on("request", (request) => requested.push(request.url().slice(dashboard.url.length)));
  // Another tab follows the events, and what it has received would be read again.
  await page.goto("about:blank");
  await tab.goto(`${dashboard.url}/-/agents/ada`);
  await tab.getByRole("article").last().getByText("The end.", { exact: true }).waitFor();
  await tab.getByRole("button", { name: "Default (demo/demo)" }).or(tab.getByLabel("Message to ada")).first().waitFor();
  expect(await tab.locator("#first").count()).toBe(0);
  const { answers } = answersIn((await documentAt("/agents/ada")).text)!;
  expect(Object.keys(answers).toSorted()).toEqual([
    "/account",
    "/agents/ada",
    "/agents/ada/conversations?limit=100",
    "/agents/ada/turns?limit=30&conversation=1&events=true",
    "/me",
  ]);
  expect(requested.filter((path) => path in answers)).toEqual([]);
  await tab.close();
});

/** Opens the conversation, whose scripts arrive after another message has been answered. */
async function sayBeforeScripts(message: string): Promise<void> {
  const tab = await context.newPage();
  const scripts = Promise.withResolvers<void>();
  await tab.route("**/assets/*.js", async (route) => {
    await scripts.promise;
    await route.continue();
  });
  await tab.goto(`${dashboard.url}/-/agents/ada`, { waitUntil: "commit" });
  await tab.locator("#first").getByText("The end.", { exact: true }).waitFor();
  await dashboard.service.client.chat("ada", message);
  scripts.resolve();
  await tab.getByRole("article", { name: `Turn: ${message}` }).waitFor();
  await tab.close();
}

test("what changed after the document was made is shown", async () => {
  await sayBeforeScripts("said in the meantime");
});

test("a tab next to one that follows the events shows it, too", async () => {
  await page.goto(`${dashboard.url}/-/agents`);
  await page.getByRole("link", { name: "ada" }).first().waitFor();
  await sayBeforeScripts("said next to it");
});

test("a document has the answers of its page alone, and is never stored", async () => {
  const home = await documentAt("/");
  expect(Object.keys(answersIn(home.text)!.answers).toSorted()).toEqual(["/account", "/me"]);
  expect(home.headers["cache-control"]).toBe("no-store");
  const files = answersIn((await documentAt("/agents/ada/files")).text)!;
  expect(Object.keys(files.answers).toSorted()).toEqual(["/account", "/agents/ada", "/me"]);
  const none = answersIn((await documentAt("/agents/nobody")).text)!;
  expect(Object.keys(none.answers).toSorted()).toEqual(["/account", "/me"]);
  const other = answersIn((await documentAt("/agents/ada?conversation=99")).text)!;
  expect(Object.keys(other.answers)).not.toContain("/agents/ada/turns?limit=30&conversation=1&events=true");
});

test("the answers are those of the chosen workspace", async () => {
  await page.goto(`${dashboard.url}/-/`);
  const { id } = await callAs(page, "POST", "/workspaces", { name: "Team" });
  const linked = answersIn((await documentAt(`/agents/ada?workspace=${id}`)).text)!;
  expect(linked.workspace).toBe(id);
  expect(Object.keys(linked.answers)).not.toContain("/agents/ada");
  await page.goto(`${dashboard.url}/-/?workspace=${id}`);
  await page.getByRole("button", { name: "Team" }).first().waitFor();
  expect(answersIn((await documentAt("/")).text)!.workspace).toBe(id);
  expect(answersIn((await documentAt("/?workspace=personal")).text)!.workspace).toBeNull();
  await page.goto(`${dashboard.url}/-/?workspace=personal`);
  await page.getByRole("heading", { level: 1 }).waitFor();
});

test("the chosen theme is in the document", async () => {
  expect((await documentAt("/")).text).toContain('<html lang="en">');
  await page.getByRole("button", { name: "Ulla" }).first().click();
  await page
    .getByRole("menuitemradio", { name: "Dark" })
    .or(page.getByText("Dark", { exact: true }))
    .first()
    .click();
  await expect.poll(async () => (await documentAt("/")).text).toContain('<html lang="en" data-theme="dark">');
});

test("a page of another origin that opens the dashboard gets no answers into it", async () => {
  for (const from of ["cross-site", "same-site"])
    expect(answersIn((await documentAt("/agents/ada", { "sec-fetch-site": from })).text)).toBeNull();
  for (const from of ["same-origin", "none"])
    expect(answersIn((await documentAt("/agents/ada", { "sec-fetch-site": from })).text)).not.toBeNull();
});

test("without a session, or while the database is busy, the document is as it was built", async () => {
  const anonymous = await fetch(`${dashboard.url}/-/agents/ada`, { headers: { cookie: "berth_dashboard=nonsense" } });
  expect(anonymous.headers.get("cache-control")).toBe("no-cache");
  expect(answersIn(await anonymous.text())).toBeNull();
  const database = await databaseOf(dashboard.service);
  for (const table of ["turns", "dashboard_sessions"]) {
    await database.transaction().execute(async (transaction) => {
      await sql`lock table ${sql.table(table)}`.execute(transaction);
      const { text, headers } = await documentAt("/agents/ada");
      expect(answersIn(text), table).toBeNull();
      expect(headers["cache-control"]).toBe("no-cache");
    });
  }
  await database.destroy();
});

test("after a sign-out, the browser goes back to no words of the agent", async () => {
  await page.goto(`${dashboard.url}/-/agents/ada`);
  await page.getByRole("article").last().waitFor();
  await page.getByRole("button", { name: "Ulla" }).first().click();
  await page.getByRole("menuitem", { name: "Sign out", exact: true }).click();
  await page.getByText("You are signed out").waitFor();
  expect(answersIn((await documentAt("/agents/ada")).text)).toBeNull();
  await page.goBack();
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  expect(await page.getByText("The end.", { exact: true }).count()).toBe(0);
});
