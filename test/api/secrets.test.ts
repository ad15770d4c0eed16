import { once } from "node:events";
import { createServer as createHttpServer, type Server as HttpServer, type IncomingMessage, request } from "node:http";
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import type { AddressInfo, Server, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { connect as connectTls, getCACertificates, setDefaultCACertificates, type TLSSocket } from "node:tls";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { certify, makeAuthority, makeKeys } from "../../src/egress/authority.ts";
import { databaseOf, newAccount } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Secrets as programs in a machine use them: the real proxy and uplink of the guest, the real server, and hosts that tell
// what they were sent.

const value = "canary-value-of-the-secret";
let service: ScriptedService;
let client: TestClient;
let plain: HttpServer;
let secure: HttpsServer;
/** One that may not have it. */
let other: HttpServer;
let proxy: string;
let id: string;
const portOf = (server: Server) => (server.address() as AddressInfo).port;

/** Answers with what it was sent, in base64, or the values in it would be placeholders again. */
async function tell(incoming: IncomingMessage, response: import("node:http").ServerResponse): Promise<void> {
  const body = await text(incoming);
  const { method, url, headers } = incoming;
  const told = Buffer.from(JSON.stringify({ method, url, headers, body }));
  response.writeHead(200, { "set-cookie": ["a=1", "b=2"] }).end(told.toString("base64"));
}

beforeAll(async () => {
  const authority = await makeAuthority("of-the-world");
  setDefaultCACertificates([...getCACertificates(), authority.certificate]);
  const { certificate: cert, key } = await certify(authority, { kind: "name", text: "localhost" }, await makeKeys());
  plain = createHttpServer(tell).listen(0, "127.0.0.1");
  secure = createHttpsServer({ cert, key }, tell).listen(0, "127.0.0.1");
  other = createHttpServer(tell).listen(0, "127.0.0.1");
  secure.on("upgrade", (incoming, socket: Socket) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n`);
    socket.write(`${incoming.headers["x-token"]};`);
    socket.pipe(socket);
  });
  await Promise.all([plain, secure, other].map((server) => once(server, "listening")));
  service = await ScriptedService.start({
    egressInside: [plain, secure, other].map((server) => `localhost:${portOf(server)}`),
  });
  client = service.client;
  await client.createAgent("ada");
  [id] = service.driver.running as [string];
  proxy = service.driver.proxyOf(id);
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  for (const server of [plain, secure, other]) server.close().closeAllConnections();
});

/** As a secret's hosts: one without TLS only where it is named so. */
const hostsOf = (...servers: Server[]) =>
  servers.map((server) => `${server === plain ? "http://" : ""}localhost:${portOf(server)}`);

async function put(name: string, hosts: string[], secret = value, headers = ["x-token", "Authorization"]) {
  return client.call("PUT", `/agents/ada/secrets/${name}`, { value: secret, hosts, headers });
}

const decoded = (told: string) => JSON.parse(Buffer.from(told, "base64").toString());

/** The bytes that a host received from a request to its `http://` address. */
async function ask(server: Server, headers: Record<string, string>, path = "/") {
  const host = `localhost:${portOf(server)}`;
  const asked = request(proxy, { path: `http://${host}${path}`, headers: { host, ...headers } }).end();
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  return { status: response.statusCode, told: decoded(await text(response)) };
}

/** TLS with a host, through the proxy, by a program that trusts the agent's authority and nobody else. */
async function openTls(server: Server, trusted = service.driver.provided.get(id)!.authority!): Promise<TLSSocket> {
  const asked = request(proxy, { method: "CONNECT", path: `localhost:${portOf(server)}` }).end();
  const [response, socket] = (await once(asked, "connect")) as [IncomingMessage, Socket];
  expect(response.statusCode).toBe(200);
  const tls = connectTls({ socket, servername: "localhost", ca: trusted });
  await once(tls, "secureConnect");
  return tls;
}

async function askOver(
  tls: TLSSocket,
  options: { method?: string; path?: string; headers: Record<string, string> },
  body = "",
) {
  const asked = request({ createConnection: () => tls, host: "localhost", ...options }).end(body);
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  const answered = await text(response);
  return {
    status: response.statusCode,
    headers: response.headers,
    told: answered.startsWith("ey") ? decoded(answered) : answered,
  };
}

test("a secret is set, listed and changed without its value, and the machine is given its placeholder", async () => {
  const made = await put("GITHUB_TOKEN", ["API.github.com", "*.example.com:8443"]);
  expect(made.status).toBe(201);
  expect(made.body).toEqual({
    name: "GITHUB_TOKEN",
    hosts: ["api.github.com", "*.example.com:8443"],
    headers: ["x-token", "authorization"],
    placeholder: expect.stringMatching(/^berth-secret-GITHUB_TOKEN-[0-9a-f]{24}$/),
    from: "agent",
    createdBy: expect.objectContaining({ kind: "key" }),
    createdAt: expect.any(String),
    updatedAt: made.body.createdAt,
  });
  const changed = await put("GITHUB_TOKEN", hostsOf(plain, secure), "another-canary-value");
  expect(changed).toMatchObject({ status: 200, body: { placeholder: made.body.placeholder } });
  await put("GITHUB_TOKEN", hostsOf(plain, secure));
  const listed = await client.call("GET", "/agents/ada/secrets");
  expect(listed.body.data).toHaveLength(1);
  expect(JSON.stringify([made, changed, listed])).not.toContain("canary");
  expect(service.driver.provided.get(id)).toEqual({
    placeholders: { GITHUB_TOKEN: made.body.placeholder },
    authority: expect.stringContaining("BEGIN CERTIFICATE"),
  });
});

test.each([
  ["lower", { value, hosts: ["a.com"] }, "A-Z"],
  ["PATH", { value, hosts: ["a.com"] }, "another"],
  ["LD_PRELOAD", { value, hosts: ["a.com"] }, "another"],
  ["HTTPS_PROXY", { value, hosts: ["a.com"] }, "another"],
  ["TOKEN", { hosts: ["a.com"] }, "value"],
  ["TOKEN", { value, hosts: ["a.com"], headers: [] }, "one header"],
  ["TOKEN", { value, hosts: ["a.com"], headers: ["x y"] }, "x-api-key"],
  ["TOKEN", { value, hosts: ["a.com"], headers: ["Access-Control-Request-Headers"] }, "cannot be sent in this header"],
  ["TOKEN", { value: "", hosts: ["a.com"] }, "must not be empty"],
  ["TOKEN", { value: "two words", hosts: ["a.com"] }, "printable ASCII"],
  ["TOKEN", { value: "line\r\nbreak", hosts: ["a.com"] }, "printable ASCII"],
  ["TOKEN", { value: "x".repeat(4_097), hosts: ["a.com"] }, "4096"],
  ["TOKEN", { value, hosts: [] }, "one host"],
  ["TOKEN", { value, hosts: ["*"] }, "A host must look like"],
  ["TOKEN", { value, hosts: ["https://a.com"] }, "A host must look like"],
  ["TOKEN", { value, hosts: ["10.0.0.0/8"] }, "A host must look like"],
])("%s with %j is refused with what is allowed", async (name, body, said) => {
  const answer = await client.call("PUT", `/agents/ada/secrets/${name}`, body);
  expect(answer.status).toBe(400);
  expect(answer.body.message).toContain(said);
  expect(JSON.stringify(answer.body)).not.toContain(value);
});

test("over TLS the value goes out in headers, to its hosts, and the body and the rest are as they were", async () => {
  const { placeholder } = (await put("GITHUB_TOKEN", hostsOf(plain, secure))).body;
  const tls = await openTls(secure);
  const headers = {
    host: `localhost:${portOf(secure)}`,
    "x-token": `token ${placeholder}!`,
    "X-Plain": "as it is",
    authorization: `Basic ${Buffer.from(`ada:${placeholder}`).toString("base64")}`,
  };
  const first = await askOver(tls, { method: "POST", path: "/a?b=c", headers }, `the body ${placeholder}`);
  expect(first.status).toBe(200);
  expect(first.headers["set-cookie"]).toEqual(["a=1", "b=2"]);
  expect(first.told).toMatchObject({ method: "POST", url: "/a?b=c", body: `the body ${placeholder}` });
  expect(first.told.headers["x-token"]).toBe(`token ${value}!`);
  expect(first.told.headers["x-plain"]).toBe("as it is");
  expect(Buffer.from(first.told.headers.authorization.slice(6), "base64").toString()).toBe(`ada:${value}`);
  tls.destroy();
});

test("a host that is not named with http:// gets no value in clear text", async () => {
  const { placeholder } = (await put("GITHUB_TOKEN", [`localhost:${portOf(plain)}`])).body;
  expect((await ask(plain, { "x-token": placeholder })).told.headers["x-token"]).toBe(placeholder);
  const named = await put("GITHUB_TOKEN", ["HTTP://Example.com", "http://*.example.com:8080"]);
  expect(named.body.hosts).toEqual(["http://example.com", "http://*.example.com:8080"]);
});

test("the same without TLS; what is not that secret's host never gets it", async () => {
  const { placeholder } = (await put("GITHUB_TOKEN", hostsOf(plain, secure))).body;
  expect((await ask(plain, { "x-token": placeholder })).told.headers["x-token"]).toBe(value);
  expect((await ask(other, { "x-token": placeholder })).told.headers["x-token"]).toBe(placeholder);
});

test("another host behind the same address does not get it either", async () => {
  const { placeholder } = (await put("GITHUB_TOKEN", hostsOf(plain, secure))).body;
  const tls = await openTls(secure);
  const refused = await askOver(tls, { headers: { host: "evil.example.com", "x-token": placeholder } });
  expect(refused.status).toBe(421);
  tls.destroy();
});

test("a host without secrets is not looked into: its own certificate comes through", async () => {
  await put("GITHUB_TOKEN", hostsOf(plain));
  await expect(openTls(secure)).rejects.toThrow(/certificate/);
  await put("GITHUB_TOKEN", hostsOf(plain, secure));
});

test("a host whose certificate is not its own gets nothing", async () => {
  const { certificate: cert, key } = await certify(
    await makeAuthority("of-nobody"),
    {
      kind: "name",
      text: "localhost",
    },
    await makeKeys(),
  );
  const wrong = createHttpsServer({ cert, key }, tell).listen(0, "127.0.0.1");
  await once(wrong, "listening");
  await using lying = await ScriptedService.start({ egressInside: hostsOf(wrong) });
  await lying.client.createAgent("bea");
  await lying.client.call("PUT", "/agents/bea/secrets/TOKEN", { value, hosts: hostsOf(wrong) });
  const [machine] = lying.driver.running as [string];
  const asked = request(lying.driver.proxyOf(machine), { method: "CONNECT", path: hostsOf(wrong)[0]! }).end();
  const [, socket] = (await once(asked, "connect")) as [IncomingMessage, Socket];
  const tls = connectTls({ socket, servername: "localhost", ca: lying.driver.provided.get(machine)!.authority! });
  tls.on("error", () => {});
  tls.write(`GET / HTTP/1.1\r\nhost: ${hostsOf(wrong)[0]}\r\n\r\n`);
  await once(tls, "close");
  wrong.close().closeAllConnections();
});

test("a protocol upgrade passes both ways, with the secret in its head", async () => {
  const { placeholder } = (await put("GITHUB_TOKEN", hostsOf(plain, secure))).body;
  const tls = await openTls(secure);
  const host = `localhost:${portOf(secure)}`;
  tls.write(
    `GET /socket HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: echo\r\nx-token: ${placeholder}\r\n\r\n`,
  );
  let received = "";
  tls.on("data", (chunk: Buffer) => {
    received += chunk;
  });
  await expect.poll(() => received).toContain(`${value};`);
  tls.write("ping");
  await expect.poll(() => received).toMatch(/;ping$/);
  tls.destroy();
});

test("it is gone at once when it is removed, and there is no other's", async () => {
  const { placeholder } = (await put("SHORT_LIVED", hostsOf(plain))).body;
  const stranger = await newAccount(service);
  expect((await stranger.call("GET", "/agents/ada/secrets")).status).toBe(404);
  expect((await client.call("DELETE", "/agents/ada/secrets/SHORT_LIVED")).status).toBe(204);
  expect((await ask(plain, { "x-token": placeholder })).told.headers["x-token"]).toBe(placeholder);
  expect(service.driver.provided.get(id)!.placeholders).not.toHaveProperty("SHORT_LIVED");
  const again = await client.call("DELETE", "/agents/ada/secrets/SHORT_LIVED");
  expect(again).toMatchObject({ status: 404, body: { code: "secret_not_found" } });
});

test("one too many is refused, and those that are there can still be changed", async () => {
  await client.createAgent("many");
  const set = (name: string) => client.call("PUT", `/agents/many/secrets/${name}`, { value, hosts: ["a.com"] });
  for (let number = 0; number < 50; number++) expect((await set(`S_${number}`)).status).toBe(201);
  expect((await set("S_50")).body.message).toContain("50 secrets");
  expect((await set("S_0")).status).toBe(200);
  expect((await client.call("GET", "/agents/many/secrets")).body.data).toHaveLength(50);
});

test("it is nowhere in the database or in an answer, nor is the authority's key", async () => {
  await put("GITHUB_TOKEN", hostsOf(plain, secure));
  const database = await databaseOf(service);
  const dump = async (table: string) =>
    (await sql<{ row: string }>`select t::text as row from ${sql.raw(table)} t`.execute(database)).rows;
  const rows = JSON.stringify([
    ...(await Promise.all(
      ["agent_secrets", "agent_authorities", "audit_entries", "network_log", "idempotency_keys"].map(dump),
    )),
  ]);
  await database.destroy();
  expect(rows).toContain("GITHUB_TOKEN");
  for (const secret of [
    value,
    Buffer.from(value).toString("hex"),
    "PRIVATE KEY",
    Buffer.from("PRIVATE KEY").toString("hex"),
  ]) {
    expect(rows).not.toContain(secret);
  }
});

test("a machine that boots or wakes is given them, and another agent's machine is not", async () => {
  const { placeholder } = (await put("GITHUB_TOKEN", hostsOf(plain))).body;
  await client.call("POST", "/agents/ada/suspend");
  await expect.poll(async () => (await client.call("GET", "/agents/ada")).body.status).toBe("suspended");
  service.driver.provided.delete(id);
  await put("SECOND", hostsOf(plain));
  expect(service.driver.provided.has(id)).toBe(false);
  await client.chat("ada", "hello");
  expect(service.driver.provided.get(id)!.placeholders).toMatchObject({
    GITHUB_TOKEN: placeholder,
    SECOND: expect.any(String),
  });
  const others = [...service.driver.provided].filter(([machine]) => machine !== id);
  expect(JSON.stringify(others)).not.toContain("GITHUB_TOKEN");
});

test("a machine that is slow to answer is given what was set meanwhile", async () => {
  await using slow = await ScriptedService.start();
  const { driver } = slow;
  const [asked, answers] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const dial = driver.dial.bind(driver);
  driver.dial = async (id) => {
    asked.resolve();
    await answers.promise;
    return dial(id);
  };
  const creating = slow.client.createAgent("ada");
  await asked.promise;
  // The machine cannot be informed: it does not answer.
  const secret = { value: "the-real-value", hosts: ["example.com"] };
  const setting = slow.client.call("PUT", "/agents/ada/secrets/TOKEN", secret);
  await expect.poll(async () => (await slow.client.call("GET", "/agents/ada/secrets")).body.data).toHaveLength(1);
  answers.resolve();
  const [{ body }] = await Promise.all([setting, creating]);
  await expect
    .poll(() => [...driver.provided.values()])
    .toEqual([expect.objectContaining({ placeholders: { TOKEN: body.placeholder } })]);
});
