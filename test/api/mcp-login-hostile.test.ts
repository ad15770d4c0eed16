import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Browser } from "../support/browser.ts";
import { connectIn, SignInServers, visit } from "../support/mcp-oauth-servers.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// MCP servers and authorization servers that lie, point inside, or answer with anything.

let servers: SignInServers;
let elsewhere: SignInServers;
let service: ScriptedService;
let count = 0;
let name: string;

const prm = "mcp /.well-known/oauth-protected-resource/mcp";
const metadata = "/.well-known/oauth-authorization-server";

beforeAll(async () => {
  servers = await SignInServers.start();
  elsewhere = await SignInServers.start();
  service = await ScriptedService.start({ egressInside: servers.inside });
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  servers?.[Symbol.dispose]();
  elsewhere?.[Symbol.dispose]();
});
beforeEach(() => {
  name = `MCP_${++count}`;
  for (const each of [servers, elsewhere]) {
    each.instead.clear();
    each.metadata = {};
    each.provider.prefix = "canary-token-";
    each.requests.length = 0;
  }
});

const begin = (fields: object = {}) =>
  service.client.call("POST", `/secrets/${name}/connect`, { url: servers.url, ...fields });

const finish = () => connectIn(service.client, name, { url: servers.url });

/** Answers that are none. */
const garbage: Record<string, (response: ServerResponse) => void> = {
  "HTML as JSON": (response) => response.end("<html>canary-of-the-server</html>"),
  nothing: (response) => response.end(),
  "a huge document": (response) => response.end(JSON.stringify({ resource: "canary".repeat(20_000) })),
  "endless bytes": (response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 0x20)));
    };
    response.on("drain", more);
    more();
  },
  "a huge head": (response) => response.writeHead(200, { "x-canary": "x".repeat(60_000) }).end("{}"),
  "no HTTP": (response) => response.socket!.end("canary\r\n\r\n"),
  "a closed connection": (response) => response.socket!.destroy(),
  "an error": (response) => response.writeHead(500).end("canary-of-the-server"),
  "a redirect": (response) => response.writeHead(302, { location: elsewhere.issuer }).end(),
  "an array": (response) => response.end("[1, 2]"),
  null: (response) => response.end("null"),
  "wrong types": (response) => response.end(JSON.stringify({ resource: 1, issuer: {}, authorization_servers: "x" })),
};

test.each(Object.entries(garbage))(
  "%s in place of a server's description is refused",
  async (_, answer) => {
    for (const path of [prm, metadata]) {
      servers.instead.clear();
      servers.instead.set(path, (_request, response) => answer(response));
      const { status, body } = await begin();
      expect([path, status, body.code]).toEqual([path, 502, "mcp_sign_in_failed"]);
      expect(JSON.stringify(body)).not.toContain("canary");
    }
    expect(elsewhere.requests).toEqual([]);
    expect((await service.client.call("GET", `/secrets/${name}`)).status).toBe(404);
  },
  60_000,
);

test.each(Object.entries(garbage))(
  "%s in place of a registration or of tokens is refused",
  async (kind, answer) => {
    servers.instead.set("/register", (_request, response) => answer(response));
    expect(await begin()).toMatchObject({ status: 502, body: { code: "mcp_sign_in_failed" } });
    servers.instead.clear();
    servers.instead.set("/token", (_request, response) => answer(response));
    const page = await finish();
    expect([kind, page.status]).toEqual([kind, 400]);
    expect(page.text).not.toContain("canary");
    const { login } = (await service.client.call("GET", `/secrets/${name}`)).body;
    expect(login.status).toBe("failed");
    expect(JSON.stringify(login)).not.toContain("canary");
    expect(elsewhere.requests).toEqual([]);
  },
  60_000,
);

/** Addresses that are not called, or not opened. */
const inside = [
  "https://169.254.169.254/latest/meta-data",
  "http://169.254.169.254/latest/meta-data",
  "https://127.0.0.1/",
  "https://[::ffff:127.0.0.1]/",
  "https://10.0.0.1/",
  "https://2130706433/",
  "https://0x7f.1/",
  "https://user:pass@example.com/",
  "file:///etc/passwd",
  "javascript:alert(1)",
  "not an address",
];

test.each(inside)("a description that points to %s is refused", async (address) => {
  const described = (change: object) => {
    servers.instead.set(prm, (_request, response) =>
      response.end(JSON.stringify({ ...servers.description, ...change })),
    );
  };
  described({ authorization_servers: [address] });
  expect(await begin()).toMatchObject({ status: 502 });
  described({});
  for (const field of ["authorization_endpoint", "registration_endpoint"]) {
    servers.metadata = { [field]: address };
    expect([field, (await begin()).status]).toEqual([field, 502]);
  }
  servers.metadata = { token_endpoint: address, revocation_endpoint: address };
  const begun = await begin();
  if (begun.status !== 200) return void expect(begun.status).toBe(502);
  servers.metadata = {};
  const browser = new Browser();
  browser.take(begun);
  expect((await visit(browser, begun.body.authorizationUrl)).status).toBe(400);
});

test("a challenge that points inside, or to another host, is not followed", async () => {
  for (const address of ["http://169.254.169.254/x", `${elsewhere.issuer}x`, service.server.url]) {
    servers.instead.set("mcp /mcp", (_request, response) =>
      response.writeHead(401, { "www-authenticate": `Bearer resource_metadata="${address}"` }).end(),
    );
    expect(await begin()).toMatchObject({ status: 502 });
  }
  expect(elsewhere.requests).toEqual([]);
});

test("the service's own address is not called", async () => {
  const own = new URL(service.server.url);
  for (const url of [`${own.origin}/mcp`, `http://localhost:${own.port}/mcp`]) {
    expect((await begin({ url })).status).toBe(400);
  }
});

test("a server that describes itself as another one is refused", async () => {
  for (const resource of ["https://bank.example/mcp", `${new URL(servers.url).origin}/other`, elsewhere.url]) {
    servers.instead.set(prm, (_request, response) =>
      response.end(JSON.stringify({ ...servers.description, resource })),
    );
    expect((await begin()).body.message).toContain("describes itself as another one");
  }
});

test("an authorization server of another name, or without PKCE, is refused", async () => {
  servers.metadata = { issuer: "https://bank.example/" };
  expect((await begin()).body.message).toContain("describes itself as another one");
  for (const methods of [undefined, [], ["plain"]]) {
    servers.metadata = { code_challenge_methods_supported: methods };
    expect((await begin()).body.message).toContain("PKCE");
  }
});

test.each(["bad\u0001token", "bad\r\nx-evil: 1", "bad token", "bäd", "x".repeat(20_000)])(
  "a token that cannot be a header's value is refused (%#)",
  async (prefix) => {
    servers.provider.prefix = prefix;
    const page = await finish();
    expect(page).toMatchObject({ status: 400, text: expect.stringContaining("tokens cannot be used") });
  },
);

test("a server of the earlier specification has its authorization server at its own origin", async () => {
  const { origin } = new URL(servers.url);
  const { origin: auth } = new URL(servers.issuer);
  const notThere = (_request: unknown, response: ServerResponse) => void response.writeHead(404).end();
  servers.instead.set(prm, notThere);
  servers.instead.set("mcp /.well-known/oauth-protected-resource", notThere);
  servers.instead.set("mcp /mcp", (_request, response) => response.writeHead(401).end());
  expect((await begin()).body.message).toContain("does not describe itself");
  servers.instead.set(`mcp ${metadata}`, (_request, response) =>
    response.end(
      JSON.stringify({
        issuer: `${origin}/`,
        authorization_endpoint: `${auth}/authorize`,
        token_endpoint: `${auth}/token`,
        registration_endpoint: `${auth}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
      }),
    ),
  );
  expect((await finish()).text).toContain("Connected");
  expect(servers.provider.resources).toContain(servers.url);
});

test("a server without a sign-in is refused, also one that streams", async () => {
  const notThere = (_request: unknown, response: ServerResponse) => void response.writeHead(404).end();
  servers.instead.set(prm, notThere);
  servers.instead.set("mcp /.well-known/oauth-protected-resource", notThere);
  servers.instead.set("mcp /mcp", (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(": open\n\n");
  });
  expect((await begin()).body.message).toBe("The MCP server asks for no sign-in.");
});

test("more than a few sign-ins at once are refused", async () => {
  const held: ServerResponse[] = [];
  servers.instead.set(prm, (_request, response) => held.push(response));
  const statuses: number[] = [];
  const all = Array.from({ length: 8 }, async () => statuses.push((await begin()).status));
  await expect.poll(() => statuses, { timeout: 9_000 }).toEqual([429, 429, 429, 429]);
  await expect.poll(() => held.length).toBe(4);
  for (const response of held) response.end("{}");
  await Promise.all(all);
  expect(statuses.slice(4)).toEqual([502, 502, 502, 502]);
});

test("a server that never answers ends in time", async () => {
  servers.instead.set(prm, () => {});
  expect((await begin()).body.message).toContain("does not answer in time");
}, 60_000);
