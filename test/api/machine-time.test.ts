import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fromCredits } from "../../src/billing/credits.ts";
import { MachineTime } from "../../src/billing/machine-time-store.ts";
import type { CreditEntry } from "../../src/contract/billing.ts";
import type { Database } from "../../src/core/database/database.ts";
import { databaseOf, newAccount } from "../support/accounts.ts";
import type { TestClient } from "../support/client.ts";
import { ScriptedService } from "../support/scripted-service.ts";
import { ring, timeOf } from "../support/timers.ts";

// The price of machines. An hour is simulated by setting the row back: the charge is read from the row.

let service: ScriptedService;
let database: Database;
let client: TestClient;
let machineTime: MachineTime;
/** The id of the data folder, which the host's timers are named after. */
let host: string;

/** A GiB for an hour costs 3600 credits, a MiB for a second 1/1024 of one. */
const price = "3600";

beforeAll(async () => {
  service = await ScriptedService.start({ machinePrice: price, startingCredits: "100000000" });
  database = await databaseOf(service);
  client = service.client;
  host = (await readFile(join(service.config.dataFolder, "host.id"), "utf8")).trim();
  machineTime = new MachineTime(database, host, fromCredits(price));
});
afterAll(async () => {
  await database.destroy();
  await service[Symbol.asyncDispose]();
});

/** As if the agent had been ready for so long. */
async function runFor(name: string, seconds: number): Promise<void> {
  // The trigger takes a time that is set for a change of what is charged; this is none.
  await sql`alter table agents disable trigger agents_metered`.execute(database);
  await sql`update agents set metered_until = metered_until - make_interval(secs => ${seconds}) where name = ${name}`.execute(
    database,
  );
  await sql`alter table agents enable trigger agents_metered`.execute(database);
}

async function entriesOf(name: string, who = client): Promise<CreditEntry[]> {
  return (await who.call("GET", `/billing/entries?kind=machine&agent=${name}&limit=100`)).body.data;
}

const secondsIn = (entries: readonly CreditEntry[]) =>
  entries.reduce((sum, { machineSeconds }) => sum + machineSeconds!, 0);

async function meteredUntil(name: string): Promise<Date | null> {
  const row = database.selectFrom("agents").select("metered_until").where("name", "=", name);
  return (await row.executeTakeFirstOrThrow()).metered_until;
}

test("a machine is charged for while it is ready, and each entry says how much it is", async () => {
  const { resources } = (await client.createAgent("ada")).body;
  expect(await entriesOf("ada")).toEqual([]);
  await runFor("ada", 100);
  await client.call("POST", "/agents/ada/suspend");
  const [entry, ...others] = await entriesOf("ada");
  expect(others).toEqual([]);
  expect(entry).toMatchObject({
    kind: "machine",
    agent: "ada",
    memoryMiB: resources.memoryMiB,
    turnId: null,
    model: null,
  });
  expect(entry!.machineSeconds).toBeGreaterThanOrEqual(100);
  // To the micro-credit, rounded half up.
  const micro = Math.round((entry!.machineSeconds! * 1000 * resources.memoryMiB * 1_000_000) / 1024 / 1000);
  expect(fromCredits(entry!.credits)).toBe(-micro);
  expect(await meteredUntil("ada")).toBeNull();
  await machineTime.charge();
  expect(await entriesOf("ada")).toHaveLength(1);
  const usage = (await client.call("GET", "/billing/usage?by=model")).body.data;
  expect(usage).toMatchObject([{ group: null, machineSeconds: entry!.machineSeconds }]);
});

test("many that charge at once, and a status that changes meanwhile, charge each second once", async () => {
  await client.createAgent("bea");
  await runFor("bea", 1_000);
  const began = (await meteredUntil("bea"))!;
  const charging = Promise.all(Array.from({ length: 20 }, () => machineTime.charge()));
  const suspended = client.call("POST", "/agents/bea/suspend");
  await Promise.all([charging, suspended]);
  await client.call("POST", "/agents/bea/resume?wait=ready");
  await machineTime.charge();
  const resumed = (await meteredUntil("bea"))!;
  await client.call("DELETE", "/agents/bea");
  const entries = (await entriesOf("bea")).reverse();
  expect(entries.length).toBeGreaterThan(1);
  const charged = secondsIn(entries);
  expect(charged).toBeGreaterThanOrEqual(1_000);
  // Only the time asleep is left out: no more can be charged than has passed.
  expect(charged).toBeLessThanOrEqual((Date.now() - began.getTime()) / 1_000);
  expect(resumed.getTime()).toBeGreaterThan(began.getTime());
});

test("a restart and a deletion charge what has run, and a price holds from when it is known", async () => {
  await client.createAgent("cleo");
  await runFor("cleo", 10);
  await new MachineTime(database, host, 0).charge();
  expect(secondsIn(await entriesOf("cleo"))).toBeGreaterThanOrEqual(10);
  await runFor("cleo", 10_000);
  await machineTime.charge();
  expect(secondsIn(await entriesOf("cleo"))).toBeLessThan(10_000);
  await runFor("cleo", 20);
  await client.restartAgent("cleo");
  expect(secondsIn(await entriesOf("cleo"))).toBeGreaterThanOrEqual(30);
  await runFor("cleo", 40);
  await client.call("DELETE", "/agents/cleo");
  const all = secondsIn(await entriesOf("cleo"));
  expect(all).toBeGreaterThanOrEqual(70);
  expect(all).toBeLessThan(10_000);
});

test("a server that is gone leaves nothing uncharged where the machine ran on, and charges nothing where it did not", async () => {
  for (const name of ["dora", "elsa"]) await client.createAgent(name);
  const { id } = await database.selectFrom("agents").select("id").where("name", "=", "elsa").executeTakeFirstOrThrow();
  for (const name of ["dora", "elsa"]) await runFor(name, 500);
  await service.restart(() => service.driver.stop(id));
  client = service.client;
  await expect.poll(async () => (await client.call("GET", "/agents/elsa")).body.status).toBe("suspended");
  await machineTime.charge();
  expect(secondsIn(await entriesOf("dora"))).toBeGreaterThanOrEqual(500);
  expect(await entriesOf("elsa")).toEqual([]);
});

test("an hour at most is charged at once: the host may have slept, or its clock been set", async () => {
  await client.createAgent("hal");
  await runFor("hal", 100_000);
  await machineTime.charge();
  expect(secondsIn(await entriesOf("hal"))).toBe(3_600);
  // It was set forward by a day, and back again: what runs from now on is charged.
  await runFor("hal", -86_400);
  await machineTime.charge();
  expect(secondsIn(await entriesOf("hal"))).toBe(3_600);
  await runFor("hal", 60);
  await client.call("DELETE", "/agents/hal");
  expect(secondsIn(await entriesOf("hal"))).toBeGreaterThanOrEqual(3_660);
});

test("the timer charges what runs, and suspends what nobody pays for once it answers no message", async () => {
  expect(await timeOf(database, `machine-charge-${host}`)).toBe("*/5 * * * *");
  const poor = await newAccount(service);
  for (const name of ["fay", "gil"]) await poor.createAgent(name);
  const statusOf = async (name: string) => (await poor.call("GET", `/agents/${name}`)).body.status;
  const answering = await poor.fetch("POST", "/agents/gil/chat", { message: "count 10000 20" });
  await database
    .updateTable("accounts")
    .set({ balance: "1" })
    .where("id", "=", (await poor.call("GET", "/account")).body.id)
    .execute();
  await runFor("fay", 1_000);
  await ring(database, `machine-charge-${host}`);
  await expect.poll(() => statusOf("fay")).toBe("suspended");
  expect(Number((await poor.call("GET", "/billing")).body.balance)).toBeLessThan(0);
  expect(await statusOf("gil")).toBe("ready");
  expect((await poor.call("POST", "/agents/fay/chat", { message: "hello" })).status).toBe(402);
  await poor.call("POST", `/agents/gil/turns/${answering.headers.get("x-turn-id")}/cancel`);
  await answering.text();
  await ring(database, `machine-charge-${host}`);
  await expect.poll(() => statusOf("gil")).toBe("suspended");
  expect(await client.call("GET", "/agents/dora")).toMatchObject({ body: { status: "ready" } });
});

test("the timer of every minute releases what servers that are gone have held", async () => {
  const { body: account } = await client.call("GET", "/account");
  await database
    .insertInto("credit_holds")
    .values({
      id: randomUUID(),
      account_id: account.id,
      key_id: null,
      agent_id: randomUUID(),
      agent_name: "ada",
      turn_id: null,
      own: false,
      model: "demo/demo",
      amount: "5000000",
      leased_until: new Date(0),
    })
    .execute();
  await database.updateTable("accounts").set({ held: "5000000" }).where("id", "=", account.id).execute();
  const held = async () => (await client.call("GET", "/billing")).body.held;
  expect(await held()).toBe("5");
  await ring(database, `agent-sweep-${host}`);
  await expect.poll(held).toBe("0");
});

test("another host's agents are not charged by this host's server", async () => {
  await client.createAgent("elsewhere");
  const before = await meteredUntil("elsewhere");
  await new MachineTime(database, "another host", fromCredits(price)).charge();
  expect(await meteredUntil("elsewhere")).toEqual(before);
  await machineTime.charge();
  expect(await meteredUntil("elsewhere")).not.toEqual(before);
});
