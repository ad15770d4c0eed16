import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AuditEntry } from "../../src/contract/audit.ts";
import { Browser } from "../support/browser.ts";
import { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { beginSignIn, exchange, refresh, signIn, tokenRequest, useLink } from "../support/sign-in.ts";

const password = "correct horse battery staple";
/** The response after a password was set: signed in, and redirected to the dashboard with a code. */
const isSignedIn = { status: 303, url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\?code=/) };
const device = "urn:ietf:params:oauth:grant-type:device_code";
let service: ScriptedService;
let url: string;

beforeAll(async () => {
  service = await ScriptedService.start();
  url = service.server.url;
});
afterAll(() => service[Symbol.asyncDispose]());

const withToken = (token: string) => new TestClient(service.server.url, token);
const listed = async (token: string) => (await withToken(token).call("GET", "/agents")).status;

test("the first link makes the first user, to whom the operator's account belongs, once", async () => {
  await service.client.createAgent("ada");
  // A user who was added before is not the first.
  const earlier = await service.client.call("POST", "/admin/users", { name: "earlier" });
  expect(await useLink(earlier.body.link, password)).toMatchObject(isSignedIn);
  const link = service.server.firstSignIn!;
  expect(await useLink(link, password, "EARLIER")).toMatchObject({
    status: 409,
    text: expect.stringContaining("There is already a user EARLIER."),
  });
  const wrong = await useLink(link, "too short", "ulla");
  expect(wrong).toMatchObject({ status: 400, text: expect.stringContaining("at least 12 characters") });
  expect((await useLink(link, password, " <b> ")).text).toContain("A name must");
  expect(await useLink(link, password, "Ulla")).toMatchObject(isSignedIn);
  expect((await new Browser().get(link)).status).toBe(410);
  const { access_token: token } = await signIn(url, "ULLA", password);
  expect((await withToken(token).call("GET", "/agents")).body.data).toMatchObject([{ name: "ada" }]);
  expect((await withToken(token).call("GET", "/account")).body).toMatchObject({ operator: true, credential: "token" });
});

test("the provider tells where its parts are, and the service where its tokens come from", async () => {
  const { body } = await withToken("").call("GET", "/oidc/.well-known/openid-configuration");
  expect(body).toMatchObject({
    issuer: `${url}/oidc`,
    token_endpoint: `${url}/oidc/token`,
    jwks_uri: `${url}/oidc/jwks`,
    device_authorization_endpoint: `${url}/oidc/device/auth`,
    code_challenge_methods_supported: ["S256"],
  });
  const { keys } = (await withToken("").call("GET", "/oidc/jwks")).body;
  expect(keys).toMatchObject([{ kty: "EC", crv: "P-256", alg: "ES256", use: "sig" }]);
  expect(keys[0]).not.toHaveProperty("d");
  const resource = (await withToken("").call("GET", "/.well-known/oauth-protected-resource")).body;
  expect(resource).toMatchObject({ resource: url, authorization_servers: [`${url}/oidc`] });
  expect(resource.berth_tool_client_id).toBe("berth-cli");
});

test("pages run no scripts, load nothing, and are neither kept nor framed", async () => {
  const { page } = await beginSignIn(url, new Browser());
  expect(page.status).toBe(200);
  expect(page.headers.get("content-security-policy")).toMatch(
    /default-src 'none';.*script-src;.*frame-ancestors 'none'/,
  );
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(page.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  expect(page.text).not.toContain("<script");
  for (const path of ["/oidc/device", "/oidc/session/end", "/oidc/nowhere", "/oidc/welcome?token=x"]) {
    const other = await new Browser().get(url + path);
    expect(other.headers.get("content-security-policy"), path).toContain("default-src 'none'");
    expect(other.headers.get("x-frame-options"), path).toBe("DENY");
  }
});

test("a code is good once, for who has its verifier, and for a client with PKCE alone", async () => {
  const browser = new Browser();
  const { page, verifier } = await beginSignIn(url, browser);
  const { url: last } = await browser.submit(page, { name: "ulla", password });
  expect(new URL(last).searchParams.get("state")).toBe("the-state");
  const code = new URL(last).searchParams.get("code")!;
  expect(await exchange(url, code, "x".repeat(43))).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  const second = await beginSignIn(url, browser);
  // Signed in already: no page asks again.
  const good = new URL(second.page.url).searchParams.get("code")!;
  expect((await exchange(url, good, second.verifier)).status).toBe(200);
  expect(await exchange(url, good, second.verifier)).toMatchObject({ body: { error: "invalid_grant" } });
  expect(verifier).not.toBe(second.verifier);
  const bare = `${url}/oidc/auth?client_id=berth-dashboard&response_type=code&redirect_uri=${url}/&scope=openid`;
  expect((await new Browser().get(bare)).url).toContain("error=invalid_request");
  const elsewhere = bare.replace(`${url}/&`, "https://evil.example/&");
  expect((await new Browser().get(elsewhere)).text).toContain("redirect_uri");
});

test("a refresh token is good once: used again, it ends the whole family", async () => {
  const first = await signIn(url, "ulla", password);
  const { body: second } = await refresh(url, first.refresh_token);
  expect(await listed(second.access_token)).toBe(200);
  expect(second.refresh_token).not.toBe(first.refresh_token);
  expect(await refresh(url, first.refresh_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  expect(await refresh(url, second.refresh_token)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
});

test("of many that use a refresh token, or a code, in the same moment one is given tokens", async () => {
  const { refresh_token: token } = await signIn(url, "ulla", password);
  const statuses = (all: { status: number }[]) => all.map(({ status }) => status).toSorted();
  const once = [200, ...Array(7).fill(400)];
  expect(statuses(await Promise.all(Array.from({ length: 8 }, () => refresh(url, token))))).toEqual(once);
  const browser = new Browser();
  const { page, verifier } = await beginSignIn(url, browser);
  const code = new URL((await browser.submit(page, { name: "ulla", password })).url).searchParams.get("code")!;
  expect(statuses(await Promise.all(Array.from({ length: 8 }, () => exchange(url, code, verifier))))).toEqual(once);
});

test("a device signs in through the pages, and signs out alone", async () => {
  const ask = () => tokenRequest(url, { client_id: "berth-cli", scope: "openid" }, "/oidc/device/auth");
  const poll = (code: string) => tokenRequest(url, { grant_type: device, client_id: "berth-cli", device_code: code });
  const browser = new Browser();
  const connect = async () => {
    const { body } = await ask();
    expect(body.verification_uri).toBe(`${url}/oidc/device`);
    expect(await poll(body.device_code)).toMatchObject({ body: { error: "authorization_pending" } });
    const confirm = await browser.submit(await browser.get(body.verification_uri), { user_code: body.user_code });
    expect(confirm.text).toContain(body.user_code);
    expect(confirm.text).toContain("127.0.0.1");
    const page = await browser.submit(confirm, {});
    const last = page.text.includes('type="password"') ? await browser.submit(page, { name: "ulla", password }) : page;
    expect(last.text).toContain("signed in");
    return (await poll(body.device_code)).body;
  };
  const one = await connect();
  expect(await listed(one.access_token)).toBe(200);
  // RFC 6749, 5.1: it has at least one scope.
  expect(one.scope).toBe("openid");
  const two = await connect();
  const revoked = { client_id: "berth-cli", token: one.refresh_token };
  expect((await tokenRequest(url, revoked, "/oidc/token/revocation")).status).toBe(200);
  expect((await refresh(url, one.refresh_token, "berth-cli")).status).toBe(400);
  // RFC 7009, 2.1: the access token ends with it.
  expect(await listed(one.access_token)).toBe(401);
  const renewed = await refresh(url, two.refresh_token, "berth-cli");
  expect([renewed.status, renewed.body.scope]).toEqual([200, "openid"]);
  for (const token of [two.access_token, renewed.body.access_token]) expect(await listed(token)).toBe(200);
});

test("the audit log tells of passwords that were set, of those that were right and wrong, and of devices", async () => {
  const { body } = await service.client.call("POST", "/admin/users", { name: "yann" });
  await useLink(body.link, password);
  const browser = new Browser();
  const { page } = await beginSignIn(url, browser);
  await browser.submit(page, { name: "yann", password: "wrong" });
  const { access_token: token } = await signIn(url, "yann", password, browser);
  const asked = await tokenRequest(url, { client_id: "berth-cli", scope: "openid" }, "/oidc/device/auth");
  const confirm = await browser.submit(await browser.get(`${url}/oidc/device`), { user_code: asked.body.user_code });
  await browser.submit(confirm, {});
  const polled = { grant_type: device, client_id: "berth-cli", device_code: asked.body.device_code };
  const login = (await tokenRequest(url, polled)).body;
  expect((await refresh(url, login.refresh_token, "berth-cli")).status).toBe(200);
  const entries = async () => (await withToken(token).call("GET", "/audit")).body.data as AuditEntry[];
  await expect
    .poll(async () => (await entries()).map(({ operation, status, code }) => [operation, status, code]))
    .toEqual([
      ["sign in a device", 200, null],
      ["sign in to the dashboard", 200, null],
      ["sign in with a password", 303, null],
      ["sign in with a password", 401, "credentials_invalid"],
      ["set a password", 200, null],
    ]);
  for (const entry of await entries()) {
    expect(entry).toMatchObject({ credential: null, keyId: null, agent: null, address: "127.0.0.1" });
  }
});

test("a device that is refused gets nothing, and what was typed for a code is escaped", async () => {
  const { body } = await tokenRequest(url, { client_id: "berth-cli", scope: "openid" }, "/oidc/device/auth");
  const browser = new Browser();
  const typed = await browser.submit(await browser.get(`${url}/oidc/device`), {
    user_code: '"><script>alert(1)</script>',
  });
  expect(typed.text).toContain("There is no such code.");
  expect(typed.text).not.toContain("<script>");
  const confirm = await browser.submit(typed, { user_code: body.user_code });
  expect((await browser.submit(confirm, { abort: "yes" })).text).toContain("The device was refused.");
  const polled = { grant_type: device, client_id: "berth-cli", device_code: body.device_code };
  expect(await tokenRequest(url, polled)).toMatchObject({ status: 400, body: { error: "access_denied" } });
});

test("signing out ends the browser's session and its tokens", async () => {
  const browser = new Browser();
  const tokens = await signIn(url, "ulla", password, browser);
  const query = new URLSearchParams({ id_token_hint: tokens.id_token, post_logout_redirect_uri: `${url}/` });
  const asked = await browser.get(`${url}/oidc/session/end?${query}`);
  expect(asked.text).toContain("Sign out?");
  expect((await browser.submit(asked, { logout: "yes" })).url).toBe(`${url}/`);
  expect((await refresh(url, tokens.refresh_token)).status).toBe(400);
  expect((await beginSignIn(url, browser)).page.text).toContain("Password");
});

test("a sign-in form works in the browser that began it alone, and what it is sent is escaped", async () => {
  const browser = new Browser();
  const { page } = await beginSignIn(url, browser);
  const stolen = await new Browser().submit(page, { name: "ulla", password });
  expect(stolen).toMatchObject({ status: 400, text: expect.stringContaining("has ended") });
  const wrong = await browser.submit(page, { name: '"><script>alert(1)</script>', password: "wrong" });
  expect(wrong.status).toBe(401);
  expect(wrong.text).toContain("&lt;script&gt;");
  expect(wrong.text).not.toContain("<script>");
  expect((await browser.submit(wrong, { name: "a\0b", password: "\0" })).status).toBe(401);
  expect((await browser.submit(wrong, { name: "ulla", password: "x".repeat(20_000) })).status).toBe(400);
});

test("users are added with a link, disabled at once, let in again, and given another link", async () => {
  const added = await service.client.call("POST", "/admin/users", { name: "Bob Ångström" });
  expect(added).toMatchObject({ status: 201, body: { name: "Bob Ångström", operator: false, status: "invited" } });
  const taken = await service.client.call("POST", "/admin/users", { name: "BOB ÅNGSTRÖM" });
  expect(taken).toMatchObject({ status: 409, body: { code: "user_exists" } });
  expect(await useLink(added.body.link, password)).toMatchObject(isSignedIn);
  const bob = await signIn(url, "bob ångström", password);
  expect((await withToken(bob.access_token).call("GET", "/agents")).body.data).toEqual([]);
  expect((await withToken(bob.access_token).call("GET", "/account")).body).toMatchObject({ name: "Bob Ångström" });
  expect((await withToken(bob.access_token).call("GET", "/admin/users")).body).toMatchObject({ code: "forbidden" });
  const key = (await withToken(bob.access_token).call("POST", "/keys", {})).body.key;
  expect(await listed(key)).toBe(200);

  const path = `/admin/users/${encodeURIComponent("bob Ångström")}`;
  expect((await service.client.call("POST", `${path}/disable`)).body).toMatchObject({ status: "disabled" });
  expect([await listed(bob.access_token), await listed(key)]).toEqual([401, 401]);
  expect((await refresh(url, bob.refresh_token)).status).toBe(400);
  const browser = new Browser();
  const { page } = await beginSignIn(url, browser);
  expect((await browser.submit(page, { name: "Bob Ångström", password })).text).toContain("disabled");
  expect((await service.client.call("POST", `${path}/enable`)).body).toMatchObject({ status: "active" });
  expect(await listed(key)).toBe(200);

  const again = await signIn(url, "Bob Ångström", password);
  await sleep(1_100); // A token tells the second in which it was made.
  const open = await fetch(`${url}/events`, { headers: { authorization: `Bearer ${again.access_token}` } });
  expect(open.status).toBe(200);
  const closed = open.text().catch(() => "cut off");
  const reset = await service.client.call("POST", `${path}/reset`);
  expect(reset).toMatchObject({ status: 200, body: { status: "invited" } });
  expect((await refresh(url, again.refresh_token)).status).toBe(400);
  expect(await listed(again.access_token)).toBe(401);
  expect(await closed).toBe("cut off");
  await expect(signIn(url, "Bob Ångström", password)).rejects.toThrow("Wrong name or password");
  expect(await useLink(reset.body.link, "another good password")).toMatchObject(isSignedIn);
  expect((await useLink(reset.body.link, "another good password").catch(() => null))?.status ?? 410).toBe(410);
  expect(await listed((await signIn(url, "Bob Ångström", "another good password")).access_token)).toBe(200);
  const list = (await service.client.call("GET", "/admin/users")).body;
  expect(list).toMatchObject({ nextCursor: null });
  expect(list.data.slice(0, 2)).toMatchObject([{ name: "earlier" }, { name: "Ulla", operator: true }]);
  expect(list.data.at(-1)).toMatchObject({ name: "Bob Ångström", operator: false, status: "active" });
  const first = (await service.client.call("GET", "/admin/users?limit=1")).body;
  expect((await service.client.call("GET", `/admin/users?cursor=${first.nextCursor}`)).body.data).toEqual(
    list.data.slice(1),
  );
});

test("a stream ends after its key or account is revoked; others continue", async () => {
  const { body } = await service.client.call("POST", "/admin/users", { name: "xaver" });
  await useLink(body.link, password);
  const xaver = withToken((await signIn(url, "xaver", password)).access_token);
  for (const client of [xaver, service.client]) await client.createAgent("streams");
  const keyOf = async (client: TestClient) => (await client.call("POST", "/keys", {})).body;
  const [revoked, kept, ofDisabled] = [await keyOf(service.client), await keyOf(service.client), await keyOf(xaver)];
  const read = (stream: Response) => ({ stream, ended: stream.text().catch(() => "cut off") });
  const follow = async (client: TestClient) => read(await client.fetch("GET", "/agents/streams/logs?follow=true"));
  const going = await follow(withToken(kept.key));
  const ending = await Promise.all([withToken(ofDisabled.key), xaver].map(follow));
  ending.push(read(await withToken(revoked.key).fetch("POST", "/agents/streams/chat", { message: "hang" })));
  expect(ending.map(({ stream }) => stream.status)).toEqual([200, 200, 200]);
  expect((await service.client.call("DELETE", `/keys/${revoked.id}`)).status).toBe(204);
  expect((await service.client.call("POST", "/admin/users/xaver/disable")).status).toBe(200);
  expect(await Promise.all(ending.map(({ ended }) => ended))).toEqual(["cut off", "cut off", "cut off"]);
  expect(await Promise.race([going.ended, sleep(0, "goes on")])).toBe("goes on");
  await service.client.call("DELETE", "/agents/streams");
  await going.ended;
});

test("forbidden changes of users are refused", async () => {
  const refused = await service.client.call("POST", "/admin/users/ulla/disable");
  expect(refused).toMatchObject({ status: 409, body: { code: "operator_not_disabled" } });
  for (const verb of ["reset", "disable", "enable"]) {
    const unknown = await service.client.call("POST", `/admin/users/nobody/${verb}`);
    expect(unknown, verb).toMatchObject({ status: 404, body: { code: "user_not_found" } });
  }
  for (const name of ["", " ", "..", "a\0b", "a\nb", " a", "x".repeat(65), 5, null]) {
    expect(await service.client.call("POST", "/admin/users", { name }), String(name)).toMatchObject({ status: 400 });
  }
});
