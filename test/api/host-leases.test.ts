import { rm } from "node:fs/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Database, migrate, openDatabase } from "../../src/core/database/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { admitSessions, HostLeaseStore, type Term } from "../../src/hosts/lease-store.ts";
import { newFolder } from "../support/config.ts";

// The lease of a host in the database, and what it does to the sessions of a server whose term is over.

let folder: string;
let postgres: EmbeddedPostgres;
let database: Database;
let leases: HostLeaseStore;

beforeAll(async () => {
  folder = await newFolder();
  postgres = await startEmbeddedPostgres(folder);
  database = openDatabase(postgres.config, () => {});
  await migrate(database);
  leases = new HostLeaseStore(database);
});
afterAll(async () => {
  await database.destroy();
  await postgres.stop();
  await rm(folder, { recursive: true });
});

/** Takes the host's lease for a server, over from `dead`. */
async function take(host: string, server: string, dead: string | null = null): Promise<Term | null> {
  const epoch = await leases.take({ host, server, url: "http://127.0.0.1:1" }, dead);
  return epoch === null ? null : { host, server, epoch };
}

test("of many that want a free lease one gets it, and the others only once it is given back or its server is gone", async () => {
  const wanted = await Promise.all(["a", "b", "c", "d"].map((server) => take("first", server)));
  const [term, ...more] = wanted.filter((each) => each !== null);
  expect([term!.epoch, more]).toEqual([1, []]);
  expect(await take("first", "e", "nobody")).toBeNull();
  expect(await leases.renew(term!)).toBe(true);
  const next = await take("first", "e", term!.server);
  expect(next?.epoch).toBe(2);
  expect(await leases.renew(term!)).toBe(false);
  // A server that has lost the lease releases nothing.
  await leases.release(term!);
  expect(await take("first", "f")).toBeNull();
  await leases.release(next!);
  expect((await take("first", "f"))?.epoch).toBe(3);
});

test("a server whose term is over can write nothing, in old sessions or new ones", async () => {
  const term = await take("second", "old");
  const own = openDatabase({ ...postgres.config, max: 2, onConnect: admitSessions({ server: "old", term }) }, () => {});
  const write = (message: string) => sql`insert into written values (${message})`.execute(own);
  await sql`create table written (message text)`.execute(database);
  await write("in its term");

  // In the middle of a transaction, which another takes over.
  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const paused = own.transaction().execute(async (transaction) => {
    await sql`insert into written values ('begun in its term')`.execute(transaction);
    entered.resolve();
    await release.promise;
    await sql`insert into written values ('after its term')`.execute(transaction);
  });
  const refused = expect(paused).rejects.toThrow();
  await entered.promise;
  expect((await take("second", "new", "old"))?.epoch).toBe(2);
  await leases.endSessions("old");
  release.resolve();
  await refused;
  // The first finds its connection broken, the next are refused.
  await expect(write("at once after")).rejects.toThrow();
  await expect(write("later")).rejects.toMatchObject({ code: "shutting_down" });
  expect((await sql`select message from written`.execute(database)).rows).toEqual([{ message: "in its term" }]);
  await own.destroy();
});
