import { mkdtempDisposable, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AcmeStore } from "../../src/acme/store.ts";
import { type Database, openDatabase } from "../../src/core/database/database.ts";
import { dumpDatabase } from "../../src/core/database/dump.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { freePort } from "../../src/core/ports.ts";
import { Sealer } from "../../src/core/sealing.ts";
import { acmeName, issued, ordering, serialAt } from "../support/acme-service.ts";
import { folderPrefix, newFolder } from "../support/config.ts";
import { HostileDirectory } from "../support/hostile-directory.ts";
import { newDatabase } from "../support/new-database.ts";
import { Pebble } from "../support/pebble.ts";
import { ScriptedService } from "../support/scripted-service.ts";

const secretKey = Buffer.alloc(32, 1).toString("base64");

let databaseFolder: string;
let postgres: EmbeddedPostgres;
let folder: Awaited<ReturnType<typeof mkdtempDisposable>>;
let pebble: Pebble;
let ca: string;
beforeAll(async () => {
  databaseFolder = await newFolder();
  postgres = await startEmbeddedPostgres(databaseFolder);
  folder = await mkdtempDisposable(`${folderPrefix}acme-`);
  pebble = await Pebble.start(folder.path);
  ca = await pebble.root();
});
afterAll(async () => {
  await pebble[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
  await postgres.stop();
  await rm(databaseFolder, { recursive: true });
});

/** Servers with a data folder each, and one database. */
async function start(databaseUrl: string, changes: Partial<ScriptedService["config"]>): Promise<ScriptedService> {
  const port = await freePort();
  return ScriptedService.start({ databaseUrl, secretKey, port, internalUrl: `http://127.0.0.1:${port}`, ...changes });
}

const untilIssued = (service: ScriptedService) =>
  expect.poll(() => serialAt(service.server.secureUrl!, ca)).toMatch(issued);

/** With the redirects at a port that the directory does not know. */
async function apart(settings: ReturnType<typeof ordering>) {
  return { ...settings, https: { ...settings.https, redirect: { host: "127.0.0.1", port: await freePort() } } };
}

async function using<T>(databaseUrl: string, task: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase({ connectionString: databaseUrl, max: 2 }, () => {});
  return task(database).finally(() => database.destroy());
}

test("two servers order one certificate and both serve it", async () => {
  const { databaseUrl } = await newDatabase(postgres, databaseFolder, "one");
  const before = pebble.requests("/order-plz");
  const settings = ordering(pebble, "http-01");
  await using one = await start(databaseUrl, settings);
  await using other = await start(databaseUrl, await apart(settings));
  await Promise.all([untilIssued(one), untilIssued(other)]);
  expect(await serialAt(one.server.secureUrl!, ca)).toBe(await serialAt(other.server.secureUrl!, ca));
  expect(pebble.requests("/order-plz") - before).toBe(1);
});

test.each(["http-01", "tls-alpn-01"] as const)(
  "a server responds to the %s challenge of another's order",
  async (type) => {
    const { databaseUrl } = await newDatabase(postgres, databaseFolder, `cross_${type.slice(0, 4)}`);
    // Without a certificate, and held by a failure, so that it orders nothing.
    const answering = ordering(pebble, type, { name: "held.example.com" });
    await using _held = await start(databaseUrl, {
      ...answering,
      https: { ...answering.https, redirect: null, port: 0 },
    });
    await expect.poll(() => held(databaseUrl)).toBe(true);
    await _held.server[Symbol.asyncDispose]();
    await using answers = await start(databaseUrl, { ...answering, dataFolder: _held.config.dataFolder });
    const settings = ordering(pebble, type);
    const elsewhere = await apart(settings);
    await using orders = await start(databaseUrl, { ...elsewhere, https: { ...elsewhere.https, port: 0 } });
    await untilIssued(orders);
    expect(await serialAt(answers.server.secureUrl!, ca, "held.example.com")).toMatch(/HANDSHAKE_FAILURE/);
  },
);

async function held(databaseUrl: string): Promise<boolean> {
  return using(databaseUrl, async (database) => {
    const row = await database.selectFrom("acme_certificates").select("next_order_at").executeTakeFirst();
    return (row?.next_order_at ?? null) !== null;
  });
}

test("a server with another secret key orders at once, whatever became of earlier orders", async () => {
  const { databaseUrl } = await newDatabase(postgres, databaseFolder, "restored");
  const settings = ordering(pebble, "http-01");
  const first = await start(databaseUrl, settings);
  await untilIssued(first);
  const serial = await serialAt(first.server.secureUrl!, ca);
  await first[Symbol.asyncDispose]();
  await using(databaseUrl, async (database) => {
    const failed = {
      failures: 3,
      error: "an earlier one",
      next_order_at: new Date(Date.now() + 86_400_000),
      limited: true,
    };
    await database.updateTable("acme_certificates").set(failed).execute();
  });
  await using second = await start(databaseUrl, { ...settings, secretKey: Buffer.alloc(32, 2).toString("base64") });
  await untilIssued(second);
  expect(await serialAt(second.server.secureUrl!, ca)).not.toBe(serial);
  const { body } = await second.client.call("GET", "/readyz");
  expect(body.checks.certificate.message).not.toContain("failed");
});

test("a backup has the account and the certificate, and no challenges", async () => {
  const { databaseUrl, pool } = await newDatabase(postgres, databaseFolder, "backup");
  await using service = await start(databaseUrl, ordering(pebble, "http-01"));
  await untilIssued(service);
  const dump = join(folder.path, "dump");
  await dumpDatabase(pool, dump, "host");
  const { tables } = JSON.parse(await readFile(join(dump, "dump.json"), "utf8")) as { tables: { name: string }[] };
  const names = tables.map(({ name }) => name).filter((name) => name.startsWith("acme_"));
  expect(names).toEqual(["acme_accounts", "acme_certificates"]);
  const files = await Promise.all(names.map((name) => readFile(join(dump, `${name}.copy`), "utf8")));
  expect(files.join("")).toContain(acmeName);
  expect(files.join("")).not.toContain("PRIVATE KEY");
});

test("a lease has one owner until it expires or is released", async () => {
  const { databaseUrl } = await newDatabase(postgres, databaseFolder, "leases");
  await using _service = await start(databaseUrl, {});
  await using(databaseUrl, async (database) => {
    const store = new AcmeStore(database, new Sealer(secretKey));
    const subject = { directory: "https://directory.example", name: acmeName };
    const [one, other] = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"];
    expect(await store.acquire(subject, one!, 60_000)).toBe(true);
    expect(await store.acquire(subject, other!, 60_000)).toBe(false);
    expect(await store.extend(subject, other!, 60_000)).toBe(false);
    await store.failed(subject, other!, { error: "not the owner's", delayMs: 1_000, isLimited: false });
    expect(await store.state(subject)).toMatchObject({ failures: 0, error: null });
    // Its server crashed.
    expect(await store.extend(subject, one!, -1)).toBe(true);
    expect(await store.acquire(subject, other!, 60_000)).toBe(true);
    expect(await store.extend(subject, one!, 60_000)).toBe(false);
    await store.release(subject, one!);
    expect(await store.acquire(subject, one!, 60_000)).toBe(false);
    await store.release(subject, other!);
    expect(await store.acquire(subject, one!, 60_000)).toBe(true);
  });
});

describe("without the database", () => {
  test("the certificate stays in use, and no challenge is known", async () => {
    const { databaseUrl } = await newDatabase(postgres, databaseFolder, "away");
    const settings = ordering(pebble, "http-01");
    await using service = await start(databaseUrl, settings);
    await untilIssued(service);
    const serial = await serialAt(service.server.secureUrl!, ca);
    const waiting = await apart(ordering(pebble, "http-01", { name: "held.example.com" }));
    await using(databaseUrl, async (database) => {
      const row = { directory: pebble.directory, name: "held.example.com" };
      const next = new Date(Date.now() + 86_400_000);
      await database
        .insertInto("acme_certificates")
        .values({ ...row, next_order_at: next })
        .execute();
    });
    await using held = await start(databaseUrl, waiting);
    await postgres.stop();
    await service.server.reloadCertificate!();
    expect(await serialAt(service.server.secureUrl!, ca)).toBe(serial);
    const { port } = waiting.https.redirect!;
    const response = await fetch(`http://127.0.0.1:${port}/.well-known/acme-challenge/token`);
    expect(response.status).toBe(404);
    postgres = await startEmbeddedPostgres(databaseFolder);
    await held.server.reloadCertificate!();
  });

  test("an issued certificate is used, and stored once the database is back", async () => {
    const { databaseUrl } = await newDatabase(postgres, databaseFolder, "later");
    await using directory = await HostileDirectory.start(folder.path);
    directory.answers["/certificate"] = async (request, response) => {
      await postgres.stop();
      await directory.answer("/certificate", request, response);
    };
    const ports = { httpPort: await freePort(), tlsPort: await freePort() };
    const settings = ordering({ directory: `${directory.url}/dir`, caFile: directory.caFile, ...ports }, "http-01");
    await using service = await start(databaseUrl, settings);
    await expect.poll(() => serialAt(service.server.secureUrl!, directory.authority)).toMatch(issued);
    postgres = await startEmbeddedPostgres(databaseFolder);
    const isStored = () =>
      using(databaseUrl, async (database) => {
        const row = await database.selectFrom("acme_certificates").select("pair").executeTakeFirst();
        return row?.pair instanceof Buffer;
      });
    await expect.poll(isStored).toBe(true);
  });
});
