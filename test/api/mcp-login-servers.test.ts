import { rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { freePort } from "../../src/core/ports.ts";
import { TestClient } from "../support/client.ts";
import { newFolder } from "../support/config.ts";
import { connectIn, SignInServers } from "../support/mcp-oauth-servers.ts";
import { newDatabase } from "../support/new-database.ts";
import { ScriptedService } from "../support/scripted-service.ts";

// Two servers that lead a host each, on one database, whose agents use the same sign-in. Refresh tokens are valid once.

const secretKey = Buffer.alloc(32, 1).toString("base64");

let servers: SignInServers;
let databaseFolder: string;
let postgres: EmbeddedPostgres;
let databaseUrl: string;
let here: ScriptedService;
let there: ScriptedService;
let other: TestClient;

beforeAll(async () => {
  servers = await SignInServers.start();
  databaseFolder = await newFolder();
  postgres = await startEmbeddedPostgres(databaseFolder);
  ({ databaseUrl } = await newDatabase(postgres, databaseFolder, "logins"));
  [here, there] = [await start(), await start()];
  other = new TestClient(there.server.url, here.client.key);
  await here.client.createAgent("ada");
  await other.createAgent("bob");
});
afterAll(async () => {
  await there?.[Symbol.asyncDispose]();
  await here?.[Symbol.asyncDispose]();
  await postgres?.stop();
  await rm(databaseFolder, { recursive: true });
  servers?.[Symbol.dispose]();
});

async function start(key = secretKey): Promise<ScriptedService> {
  const port = await freePort();
  const internalUrl = `http://127.0.0.1:${port}`;
  return ScriptedService.start({ databaseUrl, secretKey: key, port, internalUrl, egressInside: servers.inside });
}

async function connect(client = other): Promise<void> {
  expect((await connectIn(client, "MCP", { url: servers.url })).text).toContain("Connected");
}

async function ask(service: ScriptedService): Promise<number> {
  const [id] = service.driver.running as [string];
  const placeholder = () => service.driver.provided.get(id)?.placeholders.MCP;
  await expect.poll(placeholder, { timeout: 20_000 }).toBeDefined();
  return (await servers.ask(service.driver.proxyOf(id), `Bearer ${placeholder()}`)).status;
}

const askAll = () => Promise.all([here, there, here, there].map(ask));

test("a sign-in of one server is used and refreshed once for both", async () => {
  servers.provider.lifetimeSeconds = 10;
  await connect();
  expect(await askAll()).toEqual([200, 200, 200, 200]);
  expect(servers.provider.refreshes).toBe(0);
  const { expiresAt } = (await other.call("GET", "/secrets/MCP")).body.login;
  await expect.poll(() => Date.now() > Date.parse(expiresAt) - 2_400, { timeout: 20_000 }).toBe(true);
  Object.assign(servers.provider, { refreshMs: 500, lifetimeSeconds: 3_600 });
  expect(await askAll()).toEqual([200, 200, 200, 200]);
  expect(servers.provider.refreshes).toBe(1);
}, 60_000);

test("with another secret key, it has failed with the reason, until it is connected again", async () => {
  await using restored = await start(Buffer.alloc(32, 2).toString("base64"));
  const client = new TestClient(restored.server.url, here.client.key);
  const login = async () => (await client.call("GET", "/secrets/MCP")).body.login;
  expect(await login()).toMatchObject({
    status: "failed",
    reason: "The sign-in was encrypted with another secret key.",
  });
  await client.createAgent("cleo");
  expect(await ask(restored)).toBe(502);
  await connect(client);
  expect(await login()).toMatchObject({ status: "connected", reason: null });
  expect(await ask(restored)).toBe(200);
}, 60_000);
