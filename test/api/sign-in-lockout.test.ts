import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser } from "../support/browser.ts";
import { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { beginSignIn, refresh, signIn, useLink } from "../support/sign-in.ts";

const password = "correct horse battery staple";
let service: ScriptedService;
let url: string;

beforeAll(async () => {
  service = await ScriptedService.start({ signInAttempts: 2, trustedProxies: ["127.0.0.1"] });
  url = service.server.url;
});
afterAll(() => service[Symbol.asyncDispose]());

const at = (address: string) => new Browser({ "x-forwarded-for": address });

/** Sets a password by a link, in a browser that knows its user afterwards and is not signed in. */
async function setPassword(link: string, chosen: string, name: string | undefined, browser: Browser): Promise<void> {
  await useLink(link, chosen, name, browser);
  browser.forget("berth_session");
}

/** The status of an attempt. */
async function attempt(browser: Browser, name: string, tried: string): Promise<number> {
  const { page } = await beginSignIn(url, browser);
  return (await browser.submit(page, { name, password: tried })).status;
}

test("somebody with many addresses cannot lock out a user who has signed in before, or who has a link", async () => {
  const own = at("192.0.2.1");
  await setPassword(service.server.firstSignIn!, password, "Ulla", own);
  for (let host = 1; host <= 10; host++) {
    const attacker = at(`198.51.100.${host}`);
    expect(await attempt(attacker, "ulla", "wrong")).toBe(401);
    expect(await attempt(attacker, "ulla", "wrong")).toBe(401);
    expect(await attempt(attacker, "ulla", password)).toBe(429);
  }
  // The name is closed for everybody else, wherever they are. Other names are open.
  const another = at("203.0.113.5");
  expect(await attempt(another, "ulla", password)).toBe(429);
  expect(await attempt(another, "vera", "wrong")).toBe(401);
  expect((await signIn(url, "ulla", password, own)).access_token).toBeTruthy();

  const { body } = await service.client.call("POST", "/admin/users/ulla/reset");
  const next = `${password} 2`;
  await setPassword(body.link, next, undefined, another);
  expect((await signIn(url, "ulla", next, another)).access_token).toBeTruthy();
});

test("a browser that a user has used counts for that user alone, and its wrong passwords count too", async () => {
  const { body } = await service.client.call("POST", "/admin/users", { name: "wilma" });
  const browser = at("192.0.2.9");
  await setPassword(body.link, password, undefined, browser);
  for (const status of [401, 401, 429]) expect(await attempt(browser, "wilma", "wrong")).toBe(status);
  for (const status of [401, 401, 429]) expect(await attempt(browser, "xaver", "wrong")).toBe(status);
});

test("replaced keys sign no more; what they signed is valid for a while, or ends at once", async () => {
  const { body } = await service.client.call("POST", "/admin/users", { name: "yara" });
  const browser = at("192.0.2.20");
  await setPassword(body.link, password, undefined, browser);
  const status = async (token: string) => (await new TestClient(url, token).call("GET", "/agents")).status;
  const keyOf = (token: string) => JSON.parse(Buffer.from(token.split(".")[0]!, "base64url").toString()).kid;

  const first = await signIn(url, "yara", password, browser);
  const replaced = await service.client.call("POST", "/admin/signing-keys", {});
  expect(replaced.status).toBe(201);
  expect(Date.parse(replaced.body.oldKeysUntil)).toBeGreaterThan(Date.now());
  expect(await status(first.access_token)).toBe(200);
  const second = (await refresh(url, first.refresh_token)).body;
  expect(keyOf(second.access_token)).not.toBe(keyOf(first.access_token));

  expect((await service.client.call("POST", "/admin/signing-keys", { now: true })).status).toBe(201);
  expect(await status(first.access_token)).toBe(401);
  expect(await status(second.access_token)).toBe(401);
  const published = (await (await fetch(`${url}/oidc/jwks`)).json()) as { keys: object[] };
  expect(published.keys).toHaveLength(1);
  const third = (await refresh(url, second.refresh_token)).body;
  expect(await status(third.access_token)).toBe(200);
  // Its cookies were signed by the old key, so the browser is asked for the password.
  expect((await beginSignIn(url, browser)).page.text).toContain("password");
  expect(await status((await signIn(url, "yara", password, browser)).access_token)).toBe(200);
});
