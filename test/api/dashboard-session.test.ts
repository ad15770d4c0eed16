import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../src/core/ports.ts";
import { Browser } from "../support/browser.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { refresh, signIn as signInAsProgram, useLink } from "../support/sign-in.ts";
import { WebIssuer } from "../support/web-issuer.ts";

// A browser's sign-in to the dashboard, as its requests go: the page itself never sees a code or a refresh token.

const password = "a long password";
let service: ScriptedService;
beforeAll(async () => {
  service = await ScriptedService.start();
});
afterAll(() => service[Symbol.asyncDispose]());

/** A browser's cookies by name, each with its attributes. */
class Jar {
  readonly lines = new Map<string, string>();
  readonly received: string[] = [];
  /** The header for a request. Paths are the test's own business. */
  header(...names: string[]): string {
    const sent = [...this.lines].filter(([name]) => names.includes(name));
    return sent.map(([name, line]) => `${name}=${/^[^=]+=([^;]*)/.exec(line)![1]}`).join("; ");
  }
  take(response: Response): Response {
    for (const line of response.headers.getSetCookie()) {
      this.received.push(line);
      this.lines.set(line.slice(0, line.indexOf("=")), line);
    }
    return response;
  }
}

/** Begins at `url`, signs in at the provider by `atProvider`, and comes back. Returns where the browser ends. */
async function signIn(
  url: string,
  jar: Jar,
  atProvider: (page: string) => Promise<string>,
  to = "/-/agents/ada?x=1",
): Promise<string> {
  const path = `/dashboard/sign-in?${new URLSearchParams({ to })}`;
  const begun = jar.take(await fetch(url + path, { redirect: "manual" }));
  expect(begun.status).toBe(303);
  const returned = await atProvider(begun.headers.get("location")!);
  const headers = { cookie: jar.header("berth_signing_in") };
  const ended = jar.take(await fetch(returned, { redirect: "manual", headers }));
  expect(ended.status).toBe(303);
  return ended.headers.get("location")!;
}

/** The built-in provider, in a browser that its user has used before. */
function builtIn(browser: Browser, name: string): (page: string) => Promise<string> {
  return async (page) => {
    const found = await browser.get(page);
    return found.text === "" ? found.url : (await browser.submit(found, { name, password })).url;
  };
}

/** Somebody else's provider. */
function asAtWebIssuer(login: string): (page: string) => Promise<string> {
  return async (page) => {
    const browser = new Browser();
    const consent = await browser.submit(await browser.get(page), { login, password: "x" });
    return (await browser.submit(consent, {})).url;
  };
}

function token(url: string, jar: Jar, headers: Record<string, string> = {}): Promise<Response> {
  const cookie = jar.header("berth_dashboard");
  return fetch(`${url}/dashboard/session`, { method: "POST", headers: { cookie, ...headers } });
}

function signOut(url: string, jar: Jar, everywhere = false): Promise<Response> {
  const headers = { cookie: jar.header("berth_dashboard") };
  return fetch(`${url}/dashboard/session?everywhere=${everywhere}`, { method: "DELETE", headers });
}

async function accountOf(url: string, answer: Response): Promise<string> {
  const { accessToken } = (await answer.json()) as { accessToken: string };
  const account = await fetch(`${url}/account`, { headers: { authorization: `Bearer ${accessToken}` } });
  expect(account.status).toBe(200);
  return ((await account.json()) as { id: string }).id;
}

test("the first link chooses name and password, and its browser is signed in without typing them again", async () => {
  const { url } = service.client;
  const browser = new Browser();
  const page = await useLink(service.server.firstSignIn!, password, "olga", browser);
  expect(new URL(page.url).searchParams.get("code")).not.toBe(null);
  // Once only: another sign-in of this browser has its session, another browser is asked.
  const jar = new Jar();
  expect(await signIn(url, jar, builtIn(browser, "olga"))).toBe("/-/agents/ada?x=1");
  const asked = await new Browser().get(
    (await fetch(`${url}/dashboard/sign-in`, { redirect: "manual" })).headers.get("location")!,
  );
  expect(asked.text).toContain("Password");
});

test("the cookie is hidden from scripts, and sent to two paths from this site alone", async () => {
  const { url } = service.client;
  const jar = new Jar();
  await signIn(url, jar, builtIn(new Browser(), "olga"));
  const ends = jar.received.flatMap((line) => /^berth_dashboard=[\w-]{43}(; .*)$/.exec(line)?.[1] ?? []);
  const rest = "SameSite=Strict; HttpOnly; Max-Age=2592000";
  expect(ends).toEqual([`; Path=/dashboard/session; ${rest}`, `; Path=/-/; ${rest}`]);
  expect(jar.lines.get("berth_signing_in")).toMatch(/^berth_signing_in=; .*Max-Age=0$/);
  const answer = await token(url, jar);
  expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect(await accountOf(url, answer)).toBe((await service.client.call("GET", "/account")).body.id);
});

test("another site's page, or a neighbour's, gets no token", async () => {
  const { url } = service.client;
  const jar = new Jar();
  await signIn(url, jar, builtIn(new Browser(), "olga"));
  const hostile = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "http://evil.example" },
  ];
  for (const headers of hostile) expect((await token(url, jar, headers)).status).toBe(403);
  expect((await token(url, jar, { "sec-fetch-site": "same-origin", origin: url })).status).toBe(200);
});

test("only files of the dashboard are served", async () => {
  const { url } = service.client;
  const document = await fetch(`${url}/-/agents/ada`);
  expect(document.headers.get("content-security-policy")).toContain("require-trusted-types-for 'script'");
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(await document.text())![1];
  const file = await fetch(url + script, { headers: { "accept-encoding": "br" } });
  expect([file.status, file.headers.get("content-encoding")]).toEqual([200, "br"]);
  expect(file.headers.get("cache-control")).toContain("immutable");
  for (const path of ["/assets/none.js", "/assets/"]) expect((await fetch(url + path)).status).toBe(404);
  // As sent: fetch would resolve the dots.
  for (const path of ["/assets/..%2f..%2fpackage.json", "/assets/..%5c..%5cpackage.json"]) {
    expect((await fetch(url + path)).status).toBe(400);
  }
});

test("a sign-in leads nowhere but into the dashboard", async () => {
  const { url } = service.client;
  const browser = new Browser();
  for (const to of [
    "https://evil.example/",
    "//evil.example/-/",
    "/\\evil.example",
    "/agents",
    "/-/../agents",
    "-/",
    "http://[",
  ]) {
    expect([to, await signIn(url, new Jar(), builtIn(browser, "olga"), to)]).toEqual([to, "/-/"]);
  }
});

test("a sign-in that another browser has begun, or that was refused, ends where it says so", async () => {
  const { url } = service.client;
  const victim = new Jar();
  const begun = await fetch(`${url}/dashboard/sign-in`, { redirect: "manual" });
  const returned = await builtIn(new Browser(), "olga")(begun.headers.get("location")!);
  // The victim follows the attacker's address, with no sign-in or one of their own begun.
  const without = await fetch(returned, { redirect: "manual" });
  victim.take(await fetch(`${url}/dashboard/sign-in`, { redirect: "manual" }));
  const other = await fetch(returned, { redirect: "manual", headers: { cookie: victim.header("berth_signing_in") } });
  const refused = await fetch(`${url}/?error=access_denied&state=x`, { redirect: "manual" });
  for (const each of [without, other, refused]) {
    expect(each.headers.get("location")).toMatch(/^\/-\/signed-out\?code=request_invalid$/);
    expect(each.headers.getSetCookie().join()).not.toContain("berth_dashboard=");
  }
});

test("signing out ends the browser's sign-in; everywhere, all of the account's", async () => {
  const { url } = service.client;
  const [browser, jar, other] = [new Browser(), new Jar(), new Jar()];
  await signIn(url, jar, builtIn(browser, "olga"));
  await signIn(url, other, builtIn(new Browser(), "olga"));
  const ended = await signOut(url, jar);
  expect(await ended.json()).toEqual({ signOutUrl: null });
  const [tokens, pages] = ended.headers.getSetCookie();
  expect(tokens).toMatch(/^berth_dashboard=; Path=\/dashboard\/session; .*Max-Age=0$/);
  expect(pages).toMatch(/^berth_dashboard=; Path=\/-\/; .*Max-Age=0$/);
  expect((await token(url, jar)).status).toBe(401);
  expect((await token(url, other)).status).toBe(200);
  // The provider asks for the password again.
  const again = await browser.get(
    (await fetch(`${url}/dashboard/sign-in`, { redirect: "manual" })).headers.get("location")!,
  );
  expect(again.text).toContain("Password");

  await signIn(url, jar, builtIn(browser, "olga"));
  const { access_token, refresh_token } = await signInAsProgram(url, "olga", password);
  // Tokens name the second in which they were made; those of the same second cannot be distinguished from newer ones.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect((await signOut(url, jar, true)).status).toBe(200);
  // A program's sign-in ends too, and at once.
  const headers = { authorization: `Bearer ${access_token}` };
  expect((await fetch(`${url}/account`, { headers })).status).toBe(401);
  expect((await refresh(url, refresh_token)).status).toBe(400);
  for (const each of [jar, other]) expect((await token(url, each)).status).toBe(401);
  await signIn(url, new Jar(), builtIn(browser, "olga"));
  expect((await signOut(url, jar)).status).toBe(200);
});

test("a session outlives a server", async () => {
  const jar = new Jar();
  await signIn(service.client.url, jar, builtIn(new Browser(), "olga"));
  await service.restart();
  expect((await token(service.client.url, jar)).status).toBe(200);
});

test("somebody else's provider: sign-in, tokens that are renewed once for many tabs, sign-out", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const [clientId, audience] = ["berth-there", "https://berth.example"];
  await using issuer = await WebIssuer.start({ clientId, redirectUri: `${url}/`, audience });
  const oidc = { issuer: issuer.url, audience, clientId, unknownKeyMs: 1_000 };
  await using there = await ScriptedService.start({ port, oidc });
  expect(there.server.firstSignIn).toBe(null);
  const jar = new Jar();
  expect(await signIn(url, jar, asAtWebIssuer("maria"))).toBe("/-/agents/ada?x=1");
  const first = await accountOf(url, await token(url, jar));
  // Its tokens are good for 61 s, so each is renewed at once, and its refresh tokens are good once.
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const answers = await Promise.all(Array.from({ length: 5 }, () => token(url, jar)));
    for (const answer of answers) expect(await accountOf(url, answer)).toBe(first);
  }
  const { signOutUrl } = (await (await signOut(url, jar)).json()) as { signOutUrl: string };
  expect(signOutUrl.startsWith(`${issuer.url}/session/end?`)).toBe(true);
  expect((await token(url, jar)).status).toBe(401);
});

test("with https, cookies that a neighbouring host has set for the domain neither sign in nor out", async () => {
  const [publicUrl, audience, clientId] = ["https://berth.example", "https://berth.example", "berth-there"];
  await using issuer = await WebIssuer.start({ clientId, redirectUri: `${publicUrl}/`, audience });
  const oidc = { issuer: issuer.url, audience, clientId, unknownKeyMs: 1_000 };
  await using there = await ScriptedService.start({ publicUrl, oidc });
  const { url } = there.client;
  const signedIn = async (login: string) => {
    const jar = new Jar();
    const begun = jar.take(await fetch(`${url}/dashboard/sign-in`, { redirect: "manual" }));
    const returned = await asAtWebIssuer(login)(begun.headers.get("location")!);
    const back = returned.replace(publicUrl, url);
    // Without the prefix, as a neighbour could have set it.
    const [line] = begun.headers.getSetCookie();
    const unprefixed = { cookie: line!.replace("__Host-", "") };
    const refused = await fetch(back, { redirect: "manual", headers: unprefixed });
    expect(refused.headers.get("location")).toContain("request_invalid");
    jar.take(await fetch(back, { redirect: "manual", headers: { cookie: jar.header("__Host-berth_signing_in") } }));
    return jar;
  };
  const statusFor = async (...cookies: string[]) =>
    (await fetch(`${url}/dashboard/session`, { method: "POST", headers: { cookie: cookies.join("; ") } })).status;
  const [own, hostile] = [await signedIn("maria"), await signedIn("mallory")];
  const [session, seal] = ["berth_dashboard", "__Host-berth_dashboard_seal"];
  expect(own.lines.get(seal)).toMatch(/; Path=\/; SameSite=Strict; HttpOnly; .*; Secure$/);
  expect(await statusFor(own.header(session, seal))).toBe(200);
  expect(await statusFor(hostile.header(session))).toBe(401);
  expect(await statusFor(hostile.header(session), own.header(seal))).toBe(401);
  for (const sent of [
    [hostile.header(session), own.header(session, seal)],
    [own.header(session, seal), hostile.header(session)],
  ]) {
    const cookie = sent.join("; ");
    const answer = await fetch(`${url}/dashboard/session`, { method: "POST", headers: { cookie } });
    const { accessToken } = (await answer.json()) as { accessToken: string };
    expect(JSON.parse(atob(accessToken.split(".")[1]!.replace(/-/g, "+").replace(/_/g, "/"))).sub).toBe("maria");
  }
});

test("a page that is opened at 127.0.0.1 continues at localhost, where the sign-in is", async () => {
  const port = await freePort();
  await using local = await ScriptedService.start({ port, publicUrl: `http://localhost:${port}` });
  /** `fetch` sets `sec-fetch-mode` itself. */
  const open = async (host: string, path: string, mode: string) => {
    const headers = { host: `${host}:${port}`, "sec-fetch-mode": mode };
    const [{ statusCode, headers: answered }] = (await once(get(local.server.url + path, { headers }), "response")) as [
      IncomingMessage,
    ];
    return [statusCode, answered.location];
  };
  const moved = [307, `http://localhost:${port}/-/agents/ada?x=1`];
  expect(await open("127.0.0.1", "/-/agents/ada?x=1", "navigate")).toEqual(moved);
  expect(await open("[::1]", "/-/agents/ada?x=1", "navigate")).toEqual(moved);
  expect((await open("127.0.0.1", "/dashboard/token", "cors"))[0]).not.toBe(307);
  expect((await open("localhost", "/-/agents/ada", "navigate"))[0]).not.toBe(307);
});
