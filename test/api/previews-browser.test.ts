import { Berth } from "@berth/client";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Program } from "../support/http-program.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// A hostile page of an agent. The browser is also signed in to another agent's pages.

let service: ScriptedService;
let berth: Berth;
let hostile: Program;
let victim: Program;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let victimOrigin: string;

beforeAll(async () => {
  service = await ScriptedService.start();
  berth = new Berth({ url: service.client.url, key: service.client.key });
  for (const name of ["ada", "bea"]) await service.client.createAgent(name);
  [hostile, victim] = [await Program.start(), await Program.start()];
  for (const program of [hostile, victim]) {
    program.answer = (request, response) => {
      response.writeHead(200, { "content-type": "text/html", "access-control-allow-origin": "*" });
      response.end(`<!doctype html><title>${request.url}</title><p id="secret">a secret</p>`);
    };
  }
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  context = await browser.newContext();
  page = await context.newPage();
  await page.goto(await berth.agent("bea").ports.preview(victim.port));
  victimOrigin = new URL(page.url()).origin;
  await page.goto(await berth.agent("ada").ports.preview(hostile.port));
});
afterAll(async () => {
  await browser.close();
  hostile[Symbol.dispose]();
  victim[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

/** Runs a script of the hostile page's, with `args` as JSON. */
function run<Result>(on: Page, script: string, ...args: unknown[]): Promise<Result> {
  return on.evaluate(`(${script})(...${JSON.stringify(args)})`);
}

test("a ticket's cookie admits the browser, and no script sees it", async () => {
  expect(await page.title()).toBe("/");
  await page.reload();
  expect(await page.textContent("#secret")).toBe("a secret");
  expect(await page.evaluate("document.cookie")).toBe("");
  expect(await page.evaluate("isSecureContext")).toBe(true);
});

test("it reads neither another agent's page nor the API", async () => {
  const { url } = service.client;
  const asked = victim.asked.length;
  const script = `(to, how) => fetch(to, how).then(
    async (response) => response.type + " " + (await response.text()).length,
    () => "refused",
  )`;
  const read = (address: string, init: object) => run<string>(page, script, address, init);
  expect(await read(`${victimOrigin}/`, { credentials: "include" })).toBe("refused");
  expect(await read(`${victimOrigin}/`, { credentials: "include", mode: "no-cors" })).toBe("refused");
  expect(await read(`${victimOrigin}/`, { credentials: "include", mode: "no-cors", method: "POST" })).toBe("refused");
  expect(await read(`${url}/agents`, {})).toBe("refused");
  expect(await read(`${url}/agents`, { headers: { authorization: "Bearer x" } })).toBe("refused");
  expect(await read(`${url}/healthz`, { mode: "no-cors" })).not.toMatch(/basic|cors /);
  // The program of the other agent has never heard of it.
  expect(victim.asked.length).toBe(asked);
});

test("it embeds nothing of another agent's, nor the pages of the service", async () => {
  const asked = victim.asked.length;
  const script = `async (tag, src) => {
    const element = document.createElement(tag);
    const outcome = new Promise((resolve) => {
      element.onload = () => resolve("loaded");
      element.onerror = () => resolve("refused");
    });
    element.src = src;
    document.body.append(element);
    if (tag !== "iframe") return outcome;
    await outcome;
    try {
      return element.contentWindow.document.body.textContent;
    } catch {
      return "of another origin";
    }
  }`;
  const embed = (tag: string, src: string) => run<string>(page, script, tag, src);
  expect(await embed("img", `${victimOrigin}/x.png`)).toBe("refused");
  expect(await embed("script", `${victimOrigin}/x.js`)).toBe("refused");
  expect(await embed("iframe", `${victimOrigin}/`)).toBe("of another origin");
  expect(await embed("iframe", `${service.client.url}/oidc/auth`)).toBe("of another origin");
  expect(victim.asked.length).toBe(asked);
  for (const frame of page.frames()) {
    if (frame === page.mainFrame()) continue;
    expect(await frame.locator("#secret, form").count()).toBe(0);
  }
});

test("it opens no WebSocket of another agent's, nor of the API", async () => {
  const asked = victim.asked.length;
  const { ticket } = (await service.client.call("POST", "/agents/bea/tickets", { for: "terminal" })).body;
  const script = `(address) => new Promise((resolve) => {
    const socket = new WebSocket(address);
    socket.onopen = () => resolve("open");
    socket.onerror = () => resolve("refused");
  })`;
  const open = (address: string) => run<string>(page, script, address.replace("http", "ws"));
  expect(await open(`${victimOrigin}/`)).toBe("refused");
  expect(await open(`${service.client.url}/agents/bea/terminal?ticket=${ticket}`)).toBe("refused");
  expect(victim.asked.length).toBe(asked);
});

test("it posts no form to another agent's page, and sets no cookie for it", async () => {
  await page.evaluate(`document.cookie = "planted=1; domain=localhost; path=/"`);
  const posting = await context.newPage();
  await posting.goto(page.url());
  const answered = posting.waitForResponse(`${victimOrigin}/form`);
  const script = `(action) => {
    const form = Object.assign(document.createElement("form"), { method: "post", action });
    document.body.append(form);
    form.submit();
  }`;
  await run(posting, script, `${victimOrigin}/form`);
  expect((await answered).status()).toBe(403);
  await posting.close();
  expect(victim.asked.some(({ method }) => method === "POST")).toBe(false);
  const opened = await context.newPage();
  await opened.goto(`${victimOrigin}/`);
  expect(victim.asked.at(-1)!.headers.cookie).toBeUndefined();
  await opened.close();
});

test("a link from it leads to the other page in a window that it cannot read", async () => {
  const opening = context.waitForEvent("page");
  await run(page, "(address) => { globalThis.other = window.open(address); }", `${victimOrigin}/linked`);
  const opened = await opening;
  await opened.waitForLoadState();
  expect(await opened.textContent("#secret")).toBe("a secret");
  const read = `() => {
    try {
      return globalThis.other.document.body.textContent;
    } catch {
      return "of another origin";
    }
  }`;
  expect(await run(page, read)).toBe("of another origin");
  await opened.close();
});

test("where nothing listens, the page waits for its program", async () => {
  const later = await Program.start();
  const { port } = later;
  later[Symbol.dispose]();
  await page.goto(await berth.agent("ada").ports.preview(port));
  expect(await page.textContent("h1")).toBe(`Nothing listens on port ${port} yet`);
  const begun = await Program.start(port);
  begun.answer = (_, response) => response.end("<!doctype html><h1>it runs</h1>");
  await expect.poll(() => page.textContent("h1").catch(() => "")).toBe("it runs");
  begun[Symbol.dispose]();
});
