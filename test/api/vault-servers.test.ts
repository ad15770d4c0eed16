import { rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { freePort } from "../../src/core/ports.ts";
import { TestClient } from "../support/client.ts";
import { newFolder } from "../support/config.ts";
import { newDatabase } from "../support/new-database.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { TellingHost } from "../support/telling-host.ts";

// Two servers that lead a host each, on one database: a secret is set with one, and used by a machine of the other.

const secretKey = Buffer.alloc(32, 1).toString("base64");
const value = "canary-value-of-the-workspace";

let host: TellingHost;
let databaseFolder: string;
let postgres: EmbeddedPostgres;
let databaseUrl: string;
let here: ScriptedService;
let there: ScriptedService;
/** The same account at the other server. */
let other: TestClient;
let id: string;

beforeAll(async () => {
  host = await TellingHost.start();
  databaseFolder = await newFolder();
  postgres = await startEmbeddedPostgres(databaseFolder);
  ({ databaseUrl } = await newDatabase(postgres, databaseFolder, "vault"));
  [here, there] = [await start(), await start()];
  other = new TestClient(there.server.url, here.client.key);
  await here.client.createAgent("ada");
  [id] = here.driver.running as [string];
});
afterAll(async () => {
  await there?.[Symbol.asyncDispose]();
  await here?.[Symbol.asyncDispose]();
  await postgres?.stop();
  await rm(databaseFolder, { recursive: true });
  host?.[Symbol.dispose]();
});

async function start(key = secretKey): Promise<ScriptedService> {
  const port = await freePort();
  const internalUrl = `http://127.0.0.1:${port}`;
  return ScriptedService.start({ databaseUrl, secretKey: key, port, internalUrl, egressInside: [host.authority] });
}

const put = (name: string, fields: object = {}) =>
  other.call("PUT", `/secrets/${name}`, { value, hosts: [host.secretHost], headers: ["x-token"], ...fields });
const placeholders = () => here.driver.provided.get(id)?.placeholders ?? {};
const send = async (token: string) => (await host.ask(here.driver.proxyOf(id), { "x-token": token }))["x-token"];

test("a machine of another server gets its placeholder, and loses it", async () => {
  expect((await put("TOKEN")).status).toBe(201);
  await expect.poll(() => Object.keys(placeholders()), { timeout: 20_000 }).toEqual(["TOKEN"]);
  const placeholder = placeholders().TOKEN!;
  expect(await send(placeholder)).toBe(value);
  await put("TOKEN", { agents: [] });
  // The server that owns the machine asks the database for each connection.
  expect(await send(placeholder)).toBe(placeholder);
  await expect.poll(placeholders, { timeout: 20_000 }).toEqual({});
});

test("a machine that does not take its placeholders is tried again", async () => {
  const { provided } = here.driver;
  let refused = 0;
  provided.set = () => {
    refused++;
    throw new Error("the machine is busy");
  };
  await put("LATER");
  await expect.poll(() => refused, { timeout: 20_000 }).toBeGreaterThan(0);
  provided.set = Map.prototype.set;
  await expect.poll(() => Object.keys(placeholders()), { timeout: 30_000 }).toEqual(["LATER"]);
}, 60_000);

test("a server that comes back gives machines what was changed meanwhile", async () => {
  await here.restart();
  await put("AFTER");
  await expect
    .poll(() => Object.keys(here.driver.provided.get(id)?.placeholders ?? {}), { timeout: 30_000 })
    .toEqual(["AFTER", "LATER"]);
}, 60_000);

test("with another secret key, it is listed and not used, until its value is set again", async () => {
  await using restored = await start(Buffer.alloc(32, 2).toString("base64"));
  const client = new TestClient(restored.server.url, here.client.key);
  await put("SEALED");
  const shown = async () => (await client.call("GET", "/secrets/SEALED")).body.lastFour;
  expect(await shown()).toBeNull();
  await client.createAgent("bob");
  const [machine] = restored.driver.running as [string];
  const token = restored.driver.provided.get(machine)!.placeholders.SEALED!;
  const sent = async () => (await host.ask(restored.driver.proxyOf(machine), { "x-token": token }))["x-token"];
  expect(await sent()).toBe(token);
  await client.call("PUT", "/secrets/SEALED", { agents: null });
  expect(await sent()).toBe(token);
  await client.call("PUT", "/secrets/SEALED", { value });
  expect([await shown(), await sent()]).toEqual(["pace", value]);
});
