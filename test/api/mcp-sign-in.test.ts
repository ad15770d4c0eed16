import { createHash, randomBytes } from "node:crypto";
import {
  auth,
  Client,
  type OAuthClientInformation,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser, type Page } from "../support/browser.ts";
import { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { signIn as signInToDashboard, tokenRequest, useLink } from "../support/sign-in.ts";

// A program signs its user in at the built-in provider, as the MCP client does it: metadata, registration, consent, PKCE
// and the resource that its token is for.

const password = "correct horse battery staple";
const callback = "http://127.0.0.1:8976/callback";
/** The document of a program at its address; absent: not there. */
const documents = new Map<string, unknown>();
let service: ScriptedService;
let url: string;
let browser: Browser;

beforeAll(async () => {
  const fetchDocument = async (at: string) => {
    if (!documents.has(at)) throw new Error("not there");
    return documents.get(at);
  };
  service = await ScriptedService.start({}, { fetchDocument });
  url = service.server.url;
  browser = new Browser();
  await useLink(service.server.firstSignIn!, password, "olga", browser);
  await service.client.createAgent("ada");
});
afterAll(() => service[Symbol.asyncDispose]());

/** A call with a key of the account whose user signs in. */
const owner = (method: string, path: string, body?: unknown) => service.client.call(method, path, body);

/** Keeps what the client would keep, and opens pages in `browser`. */
class Program implements OAuthClientProvider {
  readonly redirectUrl = callback;
  clientMetadataUrl?: string;
  opened: URL | null = null;
  #information: OAuthClientInformation | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = "";

  constructor(clientMetadataUrl?: string) {
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
  }
  get clientMetadata() {
    return {
      client_name: "Test <program>",
      redirect_uris: [callback],
      token_endpoint_auth_method: "client_secret_post",
    };
  }
  clientInformation = () => this.#information;
  saveClientInformation = (information: OAuthClientInformation) => {
    this.#information = information;
  };
  tokens = () => this.#tokens;
  saveTokens = (tokens: OAuthTokens) => {
    this.#tokens = tokens;
  };
  redirectToAuthorization = (to: URL) => {
    this.opened = to;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
}

/** Where the browser ends after the user's decision. */
async function decide(page: Page, decision: "allow" | "refuse"): Promise<URL> {
  expect(page.text).toContain("Let a program act as you?");
  return new URL((await browser.submit(page, { decision })).url);
}

async function connect(program: Program): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: program }));
  return client;
}

/** Signs in with the client's own code, through the pages. */
async function signIn(program: Program): Promise<Page> {
  await expect(connect(program)).rejects.toThrow(UnauthorizedError);
  const page = await browser.get(program.opened!.href);
  const target = await decide(page, "allow");
  const iss = target.searchParams.get("iss");
  const code = { authorizationCode: target.searchParams.get("code")!, ...(iss === null ? {} : { iss }) };
  expect(await auth(program, { serverUrl: `${url}/mcp`, ...code })).toBe("AUTHORIZED");
  return page;
}

test.each([null, "offline_access"])("a program that asks for the scope %s is given a code", async (scope) => {
  const program = new Program();
  await expect(connect(program)).rejects.toThrow(UnauthorizedError);
  const opened = new URL(program.opened!);
  if (scope === null) opened.searchParams.delete("scope");
  else opened.searchParams.set("scope", scope);
  const target = await decide(await browser.get(opened.href), "allow");
  expect(target.searchParams.get("error")).toBeNull();
  expect(target.searchParams.get("code")).not.toBeNull();
});

test("a program that registers is consented to, and its token opens /mcp and nothing else", async () => {
  const program = new Program();
  const page = await signIn(program);
  // A name in the other direction turns nothing of the sentence around.
  expect(page.text).toContain("<bdi><strong>Test &lt;program&gt;</strong></bdi>");
  expect(page.text).toContain("It is not verified.");
  expect(page.text).toContain("127.0.0.1:8976");
  expect(page.headers.get("x-frame-options")).toBe("DENY");
  const policy = page.headers.get("content-security-policy")!;
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'self' http://127.0.0.1:8976;");
  const client = await connect(program);
  const { structuredContent } = await client.callTool({
    name: "ask_agent",
    arguments: { agent: "ada", message: "hello" },
  });
  expect(structuredContent).toMatchObject({ reply: "hello" });
  await client.close();
  const token = new TestClient(url, program.tokens()!.access_token);
  expect((await token.call("GET", "/agents")).status).toBe(401);
  expect((await token.call("POST", "/keys", {})).status).toBe(401);
});

test("tokens are renewed, and a renewed one opens no more", async () => {
  const program = new Program();
  await signIn(program);
  const { refresh_token } = program.tokens()!;
  expect(await auth(program, { serverUrl: `${url}/mcp` })).toBe("AUTHORIZED");
  expect(program.tokens()!.refresh_token).not.toBe(refresh_token);
  const asked = {
    grant_type: "refresh_token",
    client_id: program.clientInformation()!.client_id,
    refresh_token: program.tokens()!.refresh_token!,
  };
  const other = await tokenRequest(url, { ...asked, resource: "urn:berth:api" });
  expect(other).toMatchObject({ status: 400, body: { error: "invalid_target" } });
});

test("a program is listed while it is signed in, and ended at once", async () => {
  const [program, other] = [new Program(), new Program()];
  await signIn(program);
  await signIn(other);
  const listed = await owner("GET", "/account/programs");
  expect(listed.body.data).toEqual([
    {
      id: expect.any(String),
      name: "Test <program>",
      address: null,
      signedInAt: expect.any(String),
      lastUsedAt: expect.any(String),
    },
  ]);
  const client = await connect(program);
  const { id } = listed.body.data[0];
  await useLink((await owner("POST", "/admin/users", { name: "sid" })).body.link, password);
  const stranger = new TestClient(url, (await signInToDashboard(url, "sid", password)).access_token);
  expect((await stranger.call("GET", "/account/programs")).body.data).toEqual([]);
  expect((await stranger.call("DELETE", `/account/programs/${id}`)).body.code).toBe("program_not_found");
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  const asking = client.callTool({ name: "ask_agent", arguments: { agent: "ada", message: "hang" } });
  const cutOff = expect(asking).rejects.toThrow();
  await expect.poll(async () => (await owner("GET", "/agents/ada/turns")).body.data[0].status).toBe("running");
  expect((await owner("DELETE", `/account/programs/${id}`)).status).toBe(204);
  await expect(client.listTools()).rejects.toThrow();
  await cutOff;
  for (const each of [program, other]) {
    const token = new TestClient(url, each.tokens()!.access_token);
    expect((await token.call("POST", "/mcp", {})).status).toBe(401);
    const renewal = {
      grant_type: "refresh_token",
      client_id: each.clientInformation()!.client_id,
      refresh_token: each.tokens()!.refresh_token!,
    };
    expect(await tokenRequest(url, renewal)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  }
  expect((await owner("GET", "/account/programs")).body.data).toEqual([]);
  expect((await owner("DELETE", `/account/programs/${id}`)).body.code).toBe("program_not_found");
  await signIn(new Program());
  expect((await owner("GET", "/account/programs")).body.data).toMatchObject([{ id }]);
});

test("a program is known by its document, at any port of the user's computer", async () => {
  const address = "https://programs.example/client.json";
  documents.set(address, {
    client_id: address,
    client_name: "Documented",
    redirect_uris: ["http://127.0.0.1/callback"],
    jwks_uri: "https://programs.example/secret-fetch",
  });
  const page = await signIn(new Program(address));
  expect(page.text).toContain("It is a program of <strong>programs.example</strong>");
});

test("a document that is not there, or of another address, stands for no program", async () => {
  documents.set("https://programs.example/copied.json", {
    client_id: "https://programs.example/client.json",
    client_name: "Documented",
    redirect_uris: [callback],
  });
  for (const address of ["https://programs.example/copied.json", "https://nowhere.example/client.json"]) {
    const page = await browser.get(authorization({ client_id: address }));
    expect(page.status).toBe(400);
    expect(page.text).not.toContain("Let a program act as you?");
  }
});

test("a refusal returns to the program without a code", async () => {
  const client_id = await registered({});
  const target = await decide(await browser.get(authorization({ client_id })), "refuse");
  expect(target.origin + target.pathname).toBe(callback);
  expect(target.searchParams.get("error")).toBe("access_denied");
  expect(target.searchParams.get("code")).toBeNull();
});

test("a program is consented to at each sign-in, and never in silence", async () => {
  const client_id = await registered({});
  for (const _ of [1, 2]) await decide(await browser.get(authorization({ client_id })), "allow");
  const silent = await browser.get(authorization({ client_id, prompt: "none" }));
  expect(new URL(silent.url).searchParams.get("error")).toBe("interaction_required");
});

test("another browser cannot decide, nor a page that was left", async () => {
  const page = await browser.get(authorization({ client_id: await registered({}) }));
  expect((await new Browser().submit(page, { decision: "allow" })).status).toBe(400);
  await decide(page, "refuse");
  expect((await browser.submit(page, { decision: "allow" })).status).toBe(400);
});

test("addresses that are no program's are not registered, and no other is sent to", async () => {
  const refused = [
    "http://evil.example/callback",
    "javascript:alert(1)",
    "data:text/html,x",
    "https://user@evil.example/",
    "https://localhost/callback",
    "http://127.0.0.1:1/#fragment",
    "not an address",
  ];
  for (const uri of refused) {
    const { status, body } = await register({ redirect_uris: [uri] });
    expect({ uri, status, error: body.error }).toEqual({ uri, status: 400, error: "invalid_redirect_uri" });
  }
  const client_id = await registered({ redirect_uris: ["http://127.0.0.1/callback", "https://program.example/back"] });
  for (const redirect_uri of [
    "https://program.example/other",
    "http://localhost/callback",
    "http://127.0.0.1/callback2",
  ]) {
    const page = await browser.get(authorization({ client_id, redirect_uri }));
    expect({ redirect_uri, status: page.status }).toEqual({ redirect_uri, status: 400 });
  }
  const anyPort = await browser.get(authorization({ client_id, redirect_uri: "http://127.0.0.1:54321/callback" }));
  expect(anyPort.text).toContain("127.0.0.1:54321");
});

test("an id that the service has not signed stands for no program", async () => {
  const client_id = await registered({});
  const [head, payload, signature] = client_id.split(".") as [string, string, string];
  const [name, ...uris] = JSON.parse(Buffer.from(payload, "base64url").toString());
  const forged = Buffer.from(JSON.stringify([name, "https://evil.example/", ...uris])).toString("base64url");
  for (const id of [`${head}.${forged}.${signature}`, `${head}.${payload}.`, `${head}.${payload}`, `${client_id}x`]) {
    expect((await browser.get(authorization({ client_id: id }))).status).toBe(400);
  }
});

test("a registration is bounded, and gives no more than the code flow", async () => {
  expect((await register({ redirect_uris: Array.from({ length: 9 }, () => callback) })).status).toBe(400);
  expect((await register({ client_name: "x".repeat(20_000) })).status).toBe(400);
  expect((await register("nonsense")).status).toBe(400);
  const { body } = await register({ grant_types: ["client_credentials", "password"], client_name: "x".repeat(500) });
  expect(body).toMatchObject({
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "none",
  });
  const device = await tokenRequest(url, { client_id: body.client_id }, "/oidc/device/auth");
  expect(device.status).toBe(400);
});

test("without a challenge for PKCE, or for another resource, there is no code", async () => {
  const client_id = await registered({});
  const plain = await browser.get(authorization({ client_id, code_challenge: "", code_challenge_method: "" }));
  expect(new URL(plain.url).searchParams.get("error")).toBe("invalid_request");
  const other = await browser.get(authorization({ client_id, resource: "urn:berth:api" }));
  expect(new URL(other.url).searchParams.get("error")).toBe("invalid_target");
});

test("a client without a credential learns where to get one", async () => {
  const response = await fetch(`${url}/mcp`, { method: "POST" });
  expect(response.headers.get("www-authenticate")).toBe(
    `Bearer resource_metadata="${url}/.well-known/oauth-protected-resource/mcp"`,
  );
  const get = async (path: string) => (await service.client.call("GET", path)).body;
  expect(await get("/.well-known/oauth-protected-resource/mcp")).toMatchObject({
    resource: `${url}/mcp`,
    authorization_servers: [`${url}/oidc`],
  });
  for (const path of ["oauth-authorization-server/oidc", "openid-configuration/oidc"]) {
    expect(await get(`/.well-known/${path}`)).toMatchObject({
      issuer: `${url}/oidc`,
      registration_endpoint: `${url}/oidc/register`,
      client_id_metadata_document_supported: true,
      code_challenge_methods_supported: ["S256"],
    });
  }
});

test("what users decide is in their audit log", async () => {
  const { data } = (await service.client.call("GET", "/audit?limit=100")).body;
  const operations = data.map(
    ({ operation, status }: { operation: string; status: number }) => `${operation} ${status}`,
  );
  expect(operations).toContain("decide on a program 303");
  expect(operations).toContain("decide on a program 403");
  expect(operations).toContain("sign in a program 200");
});

async function register(fields: unknown) {
  const body = typeof fields === "object" ? { client_name: "Test", redirect_uris: [callback], ...fields } : fields;
  return service.client.call("POST", "/oidc/register", body);
}

async function registered(fields: Record<string, unknown>): Promise<string> {
  const { status, body } = await register(fields);
  expect(status).toBe(201);
  return body.client_id;
}

function authorization(fields: Record<string, string>): string {
  const verifier = randomBytes(32).toString("base64url");
  const query = {
    response_type: "code",
    redirect_uri: callback,
    scope: "openid offline_access",
    state: "the-state",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    resource: `${url}/mcp`,
    ...fields,
  };
  const given = Object.entries(query).filter(([, value]) => value !== "");
  return `${url}/oidc/auth?${new URLSearchParams(given)}`;
}
