import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser } from "../support/browser.ts";
import { TestClient } from "../support/client.ts";
import { askMcp } from "../support/mcp-oauth-servers.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { signIn, useLink } from "../support/sign-in.ts";

// An agent of one installation uses the MCP server of another one, whose authorization server is oidc-provider: it announces
// `iss`, asks for consent, and rotates refresh tokens.

const password = "correct horse battery staple";

let there: ScriptedService;
let here: ScriptedService;
let browser: Browser;

beforeAll(async () => {
  there = await ScriptedService.start();
  browser = new Browser();
  await useLink(there.server.firstSignIn!, password, "olga", browser);
  here = await ScriptedService.start({ egressInside: [new URL(there.server.url).host] });
  await here.client.createAgent("ada");
});
afterAll(async () => {
  await here?.[Symbol.asyncDispose]();
  await there?.[Symbol.asyncDispose]();
});

const mcp = () => `${there.server.url}/mcp`;
const login = async () => (await here.client.call("GET", "/secrets/OTHER")).body.login;

/** Answers the other installation's question, and returns the last page. */
async function connect(decision: "allow" | "refuse") {
  const begun = await here.client.call("POST", "/secrets/OTHER/connect", { url: mcp() });
  expect(begun.body.message).toBeUndefined();
  browser.take(begun);
  const question = await browser.get(begun.body.authorizationUrl);
  expect(question.text).toContain("Let a program act as you?");
  const { url } = await browser.submit(question, { decision });
  expect(new URL(url).searchParams.get("iss")).toBe(`${there.server.url}/oidc`);
  return browser.get(url);
}

async function ask(): Promise<{ status: number; body: string }> {
  const [id] = here.driver.running as [string];
  const placeholder = here.driver.provided.get(id)?.placeholders.OTHER;
  return askMcp(here.driver.proxyOf(id), mcp(), `Bearer ${placeholder}`);
}

test("a refused consent connects nothing", async () => {
  expect((await connect("refuse")).text).toContain("refused the access");
  expect(await login()).toMatchObject({ status: "failed" });
});

test("an agent lists the tools of the other installation", async () => {
  expect((await connect("allow")).text).toContain("Connected");
  expect(await login()).toMatchObject({ status: "connected" });
  const { status, body } = await ask();
  expect([status, body]).toEqual([200, expect.stringContaining("ask_agent")]);
});

test("it fails when the user revokes the program there", async () => {
  const { access_token: token } = await signIn(there.server.url, "olga", password);
  const olga = new TestClient(there.server.url, token);
  const { data } = (await olga.call("GET", "/account/programs")).body;
  expect(data).toHaveLength(1);
  expect((await olga.call("DELETE", `/account/programs/${data[0].id}`)).status).toBe(204);
  await expect.poll(async () => (await ask()).status, { timeout: 20_000 }).toBe(502);
  expect(await login()).toMatchObject({ status: "failed", reason: expect.stringContaining("invalid_grant") });
});
