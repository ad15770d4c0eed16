import { createHash, randomBytes } from "node:crypto";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Program } from "../support/http-program.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { useLink } from "../support/sign-in.ts";

// The consent to a program in a real browser, which holds forms to the page's policy across redirects.

const password = "correct horse battery staple";
let service: ScriptedService;
let browser: Browser;
let program: Program;
let page: Page;

beforeAll(async () => {
  service = await ScriptedService.start();
  await useLink(service.server.firstSignIn!, password, "olga");
  program = await Program.start();
  program.answer = (_request, response) => response.end("The program has its code.");
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  page = await browser.newPage();
});
afterAll(async () => {
  await browser.close();
  program[Symbol.dispose]();
  await service[Symbol.asyncDispose]();
});

async function authorization(name: string): Promise<string> {
  const redirect_uri = `http://127.0.0.1:${program.port}/callback`;
  const registration = { client_name: name, redirect_uris: [redirect_uri] };
  const { body } = await service.client.call("POST", "/oidc/register", registration);
  const query = new URLSearchParams({
    client_id: body.client_id,
    response_type: "code",
    redirect_uri,
    scope: "openid offline_access",
    state: "the-state",
    code_challenge: createHash("sha256").update(randomBytes(32).toString("base64url")).digest("base64url"),
    code_challenge_method: "S256",
    resource: `${service.server.url}/mcp`,
  });
  return `${service.server.url}/oidc/auth?${query}`;
}

test("who signs in and allows a program ends at the program, with a code", async () => {
  await page.goto(await authorization("An assistant"));
  await page.getByLabel("Name").fill("olga");
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Let a program act as you?" }).waitFor();
  expect(await page.getByRole("main").textContent()).toContain("An assistant wants to use your agents as you");
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByText("The program has its code.").waitFor();
  expect(new URL(page.url()).searchParams.get("code")).toBeTruthy();
});

test("who refuses ends at the program, without one", async () => {
  await page.goto(await authorization("<img src=x onerror=alert(1)>"));
  await page.getByText("<img src=x onerror=alert(1)>").waitFor();
  await page.getByRole("button", { name: "Refuse" }).click();
  await page.getByText("The program has its code.").waitFor();
  expect(new URL(page.url()).searchParams.get("error")).toBe("access_denied");
});

test("no other page frames the consent", async () => {
  const address = await authorization("An assistant");
  program.answer = (_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(`<!doctype html><iframe src="${address.replaceAll("&", "&amp;")}"></iframe>`);
  };
  await page.goto(`http://127.0.0.1:${program.port}/`);
  const frame = await page
    .locator("iframe")
    .contentFrame()
    .locator("body")
    .textContent()
    .catch(() => "");
  expect(frame).not.toContain("Let a program act as you?");
});
