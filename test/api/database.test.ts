import { randomBytes, randomUUID } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createKey } from "../../src/accounts/key-format.ts";
import { AccountStore } from "../../src/accounts/store.ts";
import { migrate, openDatabase } from "../../src/core/database/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { freePort } from "../../src/core/ports.ts";
import { Browser } from "../support/browser.ts";
import { TestClient } from "../support/client.ts";
import { newFolder } from "../support/config.ts";
import { newDatabase } from "../support/new-database.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { refresh, signIn, useLink } from "../support/sign-in.ts";

const password = "correct horse battery staple";
let folder: string;
let postgres: EmbeddedPostgres;
let databaseUrl: string;

beforeAll(async () => {
  folder = await newFolder();
  postgres = await startEmbeddedPostgres(folder);
  const { user, password } = postgres.config;
  databaseUrl = `postgres://${user}:${password}@localhost/postgres?host=${encodeURIComponent(folder)}`;
});
afterAll(async () => {
  await postgres.stop();
  await rm(folder, { recursive: true });
});

test("two servers that start at once on one database of the operator's own migrate it once", async () => {
  await using stack = new AsyncDisposableStack();
  const shared = { databaseUrl, secretKey: randomBytes(32).toString("base64") };
  const services = await Promise.all([ScriptedService.start(shared), ScriptedService.start(shared)]);
  for (const each of services) stack.use(each);
  // One of the two has made the operator's account, and has its key.
  const [service] = services.filter(({ client }) => client.key !== "");
  await service!.client.createAgent("ada");
  // Each of the two may take it for its own to make, as long as one database has one server.
  await expect.poll(async () => (await service!.client.call("GET", "/agents/ada")).body.status).toBe("ready");
  const database = openDatabase(postgres.config, () => {});
  stack.defer(() => database.destroy());
  const migrations = await database
    .withTables<{ kysely_migration: { name: string } }>()
    .selectFrom("kysely_migration")
    .select("name")
    .execute();
  const files = await readdir(new URL("../../src/core/database/migrations/", import.meta.url));
  expect(migrations.map(({ name }) => `${name}.sql`)).toEqual(files.sort());
  expect(await database.selectFrom("accounts").select("name").execute()).toEqual([{ name: "operator" }]);
  const keys = await database.selectFrom("provider_keys").select("purpose").orderBy("purpose").execute();
  expect(keys).toEqual([{ purpose: "cookies" }, { purpose: "tokens" }]);
  const stored = JSON.stringify(await database.selectFrom("api_keys").selectAll().execute());
  expect(stored).not.toContain(service!.client.key.slice(12));
});

test("one that stops PostgreSQL waits for that one alone, not for the next that another has started", async () => {
  const own = await newFolder();
  const first = await startEmbeddedPostgres(own);
  const next = await startEmbeddedPostgres(own);
  const before = await first.running();
  let isStopped = false;
  const stopping = first.stop().finally(() => {
    isStopped = true;
  });
  while (!isStopped) {
    if ((await next.running()) === null) await next.ensure();
    else await new Promise(setImmediate);
  }
  await stopping;
  await next.ensure();
  expect((await next.running())!.pid).not.toBe(before!.pid);
  await next.stop();
  expect(await next.running()).toBeNull();
  await rm(own, { recursive: true });
});

test("while the database is away, pages and tokens say so", async () => {
  const own = await newFolder();
  const gone = await startEmbeddedPostgres(own);
  const { user, password } = gone.config;
  const url = `postgres://${user}:${password}@localhost/postgres?host=${encodeURIComponent(own)}`;
  await using service = await ScriptedService.start({ databaseUrl: url });
  await useLink(service.server.firstSignIn!, "correct horse battery staple", "ulla");
  const tokens = await signIn(service.server.url, "ulla", "correct horse battery staple");
  await gone.stop();
  const page = await new Browser().get(`${service.server.url}/oidc/welcome?token=x`);
  expect(page).toMatchObject({ status: 503, text: expect.stringContaining("The database is not responding") });
  const refused = await new TestClient(service.server.url, tokens.access_token).call("GET", "/agents");
  expect(refused).toMatchObject({ status: 503, body: { code: "database_unavailable" } });
  expect((await refresh(service.server.url, tokens.refresh_token)).status).toBe(500);
  await rm(own, { recursive: true });
});

test("of several servers that make the operator's account in the same moment, one makes it", async () => {
  const database = openDatabase({ ...postgres.config, database: "operators" }, () => {});
  await using _ = { [Symbol.asyncDispose]: () => database.destroy() };
  const admin = openDatabase(postgres.config, () => {});
  await sql`create database operators`.execute(admin);
  await admin.destroy();
  await migrate(database);
  const accounts = new AccountStore(database, 0);
  const slowly = () => new Promise<void>((resolve) => setTimeout(resolve, 50));
  const make = async (_: unknown, index: number) =>
    accounts.createOperator({ prefix: "berth_sk_", hash: Buffer.from([index]) }, slowly);
  const made = await Promise.all([1, 2, 3, 4].map(make));
  expect(made.filter((one) => one)).toHaveLength(1);
});

test("a cluster that a killed server left running is taken up, with the same data", async () => {
  const again = await startEmbeddedPostgres(folder);
  expect(again.config).toEqual(postgres.config);
  expect((await readFile(join(folder, "password"), "utf8")).length).toBeGreaterThan(20);
});

test("a data folder whose path is too long for a socket is refused with the reason", async () => {
  await expect(startEmbeddedPostgres(join(folder, "x".repeat(100)))).rejects.toThrow(/too long/);
});

test("a migration that waits for a lock gives way to queries, and is made once it has the lock", async () => {
  const { pool } = await newDatabase(postgres, folder, "locked");
  const database = openDatabase({ ...pool, max: 1 }, () => {});
  const others = openDatabase({ ...pool, max: 2 }, () => {});
  await migrate(database, "0029-host-leases");
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const dump = others.transaction().execute(async (transaction) => {
    await sql`lock table agents in access share mode`.execute(transaction);
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const migrated = migrate(database);
  const waiting = async () => (await sql`select from pg_locks where not granted`.execute(others)).rows.length;
  await expect.poll(waiting).toBeGreaterThan(0);
  // It waits behind the migration, which gives up its place in the queue.
  expect(await others.selectFrom("agents").select("id").execute()).toEqual([]);
  release.resolve();
  await dump;
  await migrated;
  expect(await others.selectFrom("hosts").select("id").execute()).toEqual([]);
  for (const each of [database, others]) await each.destroy();
});

test("requests that arrive before the sign-in's keys are read wait for them", async () => {
  const { pool, databaseUrl: url } = await newDatabase(postgres, folder, "opening");
  await using service = await ScriptedService.start({ databaseUrl: url, port: await freePort() });
  const { url: address, firstSignIn } = service.server;
  await useLink(firstSignIn!, password, "ulla");
  const { access_token: token } = await signIn(address, "ulla", password);
  const database = openDatabase({ ...pool, max: 1 }, () => {});
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const reading = database.transaction().execute(async (transaction) => {
    await sql`lock table provider_keys`.execute(transaction);
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const restarted = service.restart();
  const isListening = async () => (await fetch(`${address}/healthz`).catch(() => null))?.ok ?? false;
  await expect.poll(isListening).toBe(false);
  await expect.poll(isListening).toBe(true);
  const asked = [
    new TestClient(address, token).call("GET", "/account"),
    new TestClient(address, service.client.key).call("POST", "/admin/users", { name: "zoë" }),
    new TestClient(address, "").call("GET", "/oidc/jwks"),
  ];
  // An answer that did not wait would come before this one.
  expect(await isListening()).toBe(true);
  release.resolve();
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 201, 200]);
  await Promise.all([reading, restarted]);
  await database.destroy();
});

test("accounts of an earlier version become their users' personal workspaces, and all credentials stay good", async () => {
  const { pool, databaseUrl: url } = await newDatabase(postgres, folder, "people");
  const database = openDatabase({ ...pool, max: 1 }, () => {});
  await migrate(database, "0037-entries-by-agent-and-kind");
  const [operator, local, external, keyOnly, user] = Array.from({ length: 5 }, () => randomUUID());
  const key = createKey("full");
  await sql`insert into accounts (id, name, operator, issuer, subject, tokens_from) values
    (${operator}, 'operator', true, null, null, null),
    (${local}, 'Bea', false, 'berth:local', ${user}, '2026-01-01'),
    (${external}, 'auth0|1', false, 'https://login.example', 'auth0|1', null),
    (${keyOnly}, 'robot', false, null, null, null)`.execute(database);
  await sql`update accounts set disabled_at = '2026-02-02' where id = ${external}`.execute(database);
  await sql`insert into users (id, account_id, name, name_key) values (${user}, ${local}, 'Bea', 'bea')`.execute(
    database,
  );
  for (const account of [operator, local, external, keyOnly]) {
    const { prefix, hash } = account === local ? key : createKey("full");
    await sql`insert into api_keys (id, account_id, kind, prefix, hash)
      values (${randomUUID()}, ${account}, 'full', ${prefix}, ${hash})`.execute(database);
  }
  await migrate(database);

  const { rows: people } = await sql`
    select person.account_id, issuer, subject, person.name, tokens_from, person.disabled_at is not null as disabled,
      role, memberships.account_id = person.account_id as personal
    from people person join memberships on person_id = person.id order by issuer`.execute(database);
  expect(people).toEqual([
    {
      account_id: local,
      issuer: "berth:local",
      subject: user,
      name: "Bea",
      tokens_from: new Date("2026-01-01T00:00:00Z"),
      disabled: false,
      role: "owner",
      personal: true,
    },
    {
      account_id: external,
      issuer: "https://login.example",
      subject: "auth0|1",
      name: "auth0|1",
      tokens_from: null,
      disabled: true,
      role: "owner",
      personal: true,
    },
  ]);
  const { rows: keys } = await sql<{ account_id: string; made: boolean; role: string }>`
    select account_id, person_id is not null as made, role from api_keys`.execute(database);
  const made = Object.fromEntries(keys.map((each) => [each.account_id, [each.made, each.role]]));
  expect(made).toEqual({
    [operator!]: [false, "owner"],
    [local!]: [true, "owner"],
    [external!]: [true, "owner"],
    [keyOnly!]: [false, "owner"],
  });
  await database.destroy();
  await using service = await ScriptedService.start({
    databaseUrl: url,
    secretKey: randomBytes(32).toString("base64"),
  });
  const bea = new TestClient(service.server.url, key.key);
  expect((await bea.call("GET", "/account")).body).toMatchObject({ id: local, name: "Bea", operator: false });
  expect((await bea.call("GET", "/me")).body.person).toMatchObject({ name: "Bea" });
});
