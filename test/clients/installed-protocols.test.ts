import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser } from "../support/browser.ts";
import { installedClient } from "../support/installed-client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { useLink } from "../support/sign-in.ts";

// Clients of MCP, OAuth and event streams, unmodified from npm.

// biome-ignore lint/suspicious/noExplicitAny: the packages are not of this checkout
type Package = any;

const password = "correct horse battery";
const callback = "http://127.0.0.1:9/callback";
const timeout = 300_000;
let service: ScriptedService;

beforeAll(async () => {
  service = await ScriptedService.start();
  await service.client.createAgent("ada");
});
afterAll(() => service[Symbol.asyncDispose]());

async function load(name: string, version: string): Promise<Package> {
  const folder = await installedClient(name.replaceAll(/[@/]/g, ""), [`${name}@${version}`]);
  return import(createRequire(join(folder, "package.json")).resolve(name));
}

test("the AI SDK's MCP client lists and calls tools", { timeout }, async () => {
  const { createMCPClient } = await load("@ai-sdk/mcp", "2.0.99");
  const { url, key } = service.client;
  const headers = { authorization: `Bearer ${key}` };
  const client = await createMCPClient({ transport: { type: "http", url: `${url}/mcp`, headers } });
  try {
    const { ask_agent: ask, list_agents: list } = await client.tools();
    const given = { toolCallId: "1", messages: [] };
    expect(await list.execute({}, given)).toMatchObject({ structuredContent: { agents: [{ name: "ada" }] } });
    const answer = await ask.execute({ agent: "ada", message: "count 3" }, given);
    expect(answer).toMatchObject({ structuredContent: { reply: "1 2 3 " } });
    expect(await ask.execute({ agent: "nobody", message: "x" }, given)).toMatchObject({ isError: true });
  } finally {
    await client.close();
  }
});

test("oauth4webapi registers a program, and openid-client signs a user in with it", { timeout }, async () => {
  const oauth = await load("oauth4webapi", "3.8.8");
  const openid = await load("openid-client", "6.9.0");
  const issuer = new URL(`${service.client.url}/oidc`);
  const resource = `${service.client.url}/mcp`;
  const insecure = { [oauth.allowInsecureRequests]: true };
  const found = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const metadata = { redirect_uris: [callback], token_endpoint_auth_method: "none", client_name: "a program" };
  const answer = await oauth.dynamicClientRegistrationRequest(found, metadata, insecure);
  const { client_id: id } = await oauth.processDynamicClientRegistrationResponse(answer);
  const execute = [openid.allowInsecureRequests];
  const config = await openid.discovery(issuer, id, undefined, openid.None(), { execute });
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const asked = openid.buildAuthorizationUrl(config, {
    redirect_uri: callback,
    scope: "openid offline_access",
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
    state: "state",
    resource,
    prompt: "consent",
  });
  const browser = new Browser();
  await useLink(service.server.firstSignIn!, password, "ulla", browser);
  const page = await browser.submit(await browser.get(asked.href), { decision: "allow" });
  const checks = { pkceCodeVerifier, expectedState: "state" };
  const tokens = await openid.authorizationCodeGrant(config, new URL(page.url), checks, { resource });
  expect(tokens.scope.split(" ").toSorted()).toEqual(["offline_access", "openid"]);
  const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token, { resource });
  expect(refreshed.access_token).not.toBe(tokens.access_token);
  // A refresh token that is used twice ends the sign-in.
  await expect(openid.refreshTokenGrant(config, tokens.refresh_token)).rejects.toThrow();
  await expect(openid.refreshTokenGrant(config, refreshed.refresh_token)).rejects.toThrow();
});

test("fetch-event-source sends a message once however often it asks, and resumes", { timeout }, async () => {
  // It is made for browsers.
  const page = { hidden: false, addEventListener() {}, removeEventListener() {} };
  Object.assign(globalThis, { window: { setTimeout, clearTimeout, fetch }, document: page });
  const { fetchEventSource } = await load("@microsoft/fetch-event-source", "2.0.1");
  const { url, key } = service.client;
  const headers = { authorization: `Bearer ${key}`, "idempotency-key": randomUUID() };
  const read = async (path: string, more: object) => {
    const events: { id: string; data: string }[] = [];
    let turnId: string | null = null;
    await fetchEventSource(url + path, {
      ...more,
      onopen: async (response: Response) => {
        turnId = response.headers.get("x-turn-id");
      },
      onmessage: (event: { id: string; data: string }) => void events.push(event),
      onerror: (error: unknown) => {
        throw error;
      },
    });
    return { turnId, events };
  };
  const body = JSON.stringify({ message: "count 5" });
  const chat = { method: "POST", headers: { ...headers, "content-type": "application/json" }, body };
  const first = await read("/agents/ada/chat", chat);
  expect(await read("/agents/ada/chat", chat)).toEqual(first);
  const after = first.events.at(-2)!.id;
  const path = `/agents/ada/turns/${first.turnId}/events`;
  const rest = await read(path, { headers: { ...headers, "last-event-id": after } });
  expect(rest.events.map(({ data }) => JSON.parse(data).type)).toEqual(["response.completed"]);
});
