import type { Frame, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Dashboard } from "../support/dashboard.ts";

// Diagrams in replies, which are drawn from what an agent wrote.

let dashboard: Dashboard;
let page: Page;

beforeAll(async () => {
  dashboard = await Dashboard.start();
  await dashboard.service.client.createAgent("ada");
  ({ page } = await dashboard.signedIn());
});
afterAll(() => dashboard[Symbol.asyncDispose]());

/** Has the agent reply with a diagram. Returns its figure. */
async function drawn(diagram: string) {
  await dashboard.service.client.chat("ada", `Look:\n\n\`\`\`mermaid\n${diagram}\n\`\`\`\n`);
  await page.goto(`${dashboard.url}/-/agents/ada`);
  return page.getByRole("article").last().getByRole("figure");
}

const frameOf = () => page.frames().findLast((frame) => frame.url().endsWith("/-/diagram.html")) as Frame;

test("a diagram is drawn once it is whole, in the page's colours, and its source is below it", async () => {
  const figure = await drawn("graph TD\n  A[Client] -->|asks| B(Server)");
  const inside = figure.frameLocator("iframe");
  await inside.getByText("Server").waitFor();
  expect(await inside.locator("html").getAttribute("style")).toContain("light");
  await page.emulateMedia({ colorScheme: "dark" });
  await inside.locator('html[style*="dark"]').waitFor({ state: "attached" });
  await page.emulateMedia({ colorScheme: "light" });
  expect(await figure.getByText("A[Client]").isVisible()).toBe(false);
  await figure.getByText("Source of the diagram").click();
  await figure.getByText("A[Client]").waitFor();
});

test("its page has no access to the dashboard and to the network", async () => {
  const figure = await drawn("graph TD\n  A --> Here");
  await figure.frameLocator("iframe").getByText("Here").waitFor();
  const tries = await frameOf().evaluate<unknown>(`(async () => {
    const outcome = async (attempt) => Promise.resolve().then(attempt).then(() => "done", ({ name }) => name);
    const picture = () =>
      new Promise((onload, refuse) => {
        const onerror = () => refuse(new TypeError("refused"));
        Object.assign(new Image(), { onload, onerror, src: "/assets/berth.svg" });
      });
    return {
      origin,
      dashboard: await outcome(() => parent.document.title),
      cookies: await outcome(() => document.cookie),
      storage: await outcome(() => localStorage.length),
      service: await outcome(() => fetch("/me")),
      picture: await outcome(picture),
      top: await outcome(() => (top.location.href = "/-/signed-out")),
    };
  })()`);
  expect(tries).toEqual({
    origin: "null",
    ...{ dashboard: "SecurityError", cookies: "SecurityError", storage: "SecurityError" },
    ...{ service: "TypeError", picture: "TypeError", top: "SecurityError" },
  });
});

test("scripts in a diagram do not run", async () => {
  const figure = await drawn(
    'graph TD\n  A["<img src=x onerror=document.title=1><b>bold</b>"] --> End\n  click End "javascript:document.title=2"',
  );
  const inside = figure.frameLocator("iframe");
  await inside.getByText("End").click();
  expect(await inside.locator("[onerror]").count()).toBe(0);
  expect(await frameOf().title()).toBe("Diagram");
});

test("one with an error shows why, and its source", async () => {
  const figure = await drawn("graph TD\n  A --");
  await figure.getByText("This diagram can't be drawn: Parse error on line 3").waitFor();
  expect(await figure.getByText("graph TD").last().isVisible()).toBe(true);
  expect(await figure.locator("iframe").count()).toBe(0);
});

test("other pages cannot frame it, and it has no origin if it is opened", async () => {
  const { headers } = await fetch(`${dashboard.url}/-/diagram.html`);
  const policy = headers.get("content-security-policy");
  expect(policy).toContain("sandbox allow-scripts;");
  expect(policy).toContain("frame-ancestors 'self'");
  expect((await fetch(`${dashboard.url}/-/`)).headers.get("content-security-policy")).toContain(
    "frame-ancestors 'none'",
  );
});
