import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import fc from "fast-check";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Hold, type Spender, type TurnSpending, unlimited } from "../../src/billing/ledger.ts";
import { LedgerStore } from "../../src/billing/ledger-store.ts";
import { type Database, migrate, openDatabase } from "../../src/core/database/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { newFolder } from "../support/config.ts";
import { ledgerFaults } from "../support/ledger-faults.ts";

// The ledger alone, over a real PostgreSQL and the connections of several servers.

const servers = 3;
/** Small, so that what there is and what is asked for are of one size. */
const starting = 1_000;

let folder: string;
let postgres: EmbeddedPostgres;
const databases: Database[] = [];
let database: Database;

beforeAll(async () => {
  folder = await newFolder();
  postgres = await startEmbeddedPostgres(folder);
  for (let n = 0; n < servers; n++) databases.push(openDatabase(postgres.config, () => {}));
  database = databases[0]!;
  await migrate(database);
});
afterAll(async () => {
  for (const each of databases) await each.destroy();
  await postgres.stop();
  await rm(folder, { recursive: true });
});

function openLedger(at: Database = database): LedgerStore {
  return new LedgerStore(at, () => {});
}

/** One of the account's keys with a limit, or none. */
async function newAccount(
  changes: { micro?: number; monthlyLimit?: number; keyLimit?: number; limits?: TurnSpending } = {},
): Promise<Spender> {
  const { micro = starting, monthlyLimit = null, keyLimit, limits = unlimited } = changes;
  const accountId = randomUUID();
  await database
    .insertInto("accounts")
    .values({ id: accountId, name: "payer", monthly_limit: monthlyLimit === null ? null : String(monthlyLimit) })
    .execute();
  const keyId = keyLimit === undefined ? null : await newKey(accountId, keyLimit);
  await grant(accountId, micro);
  return { accountId, keyId, agentId: randomUUID(), agentName: "ada", turnId: randomUUID(), limits };
}

async function newKey(accountId: string, limit: number): Promise<string> {
  const id = randomUUID();
  const secret = { prefix: "berth_ak_", hash: Buffer.from(id) };
  await database
    .insertInto("api_keys")
    .values({ id, account_id: accountId, kind: "agent", credit_limit: String(limit), ...secret })
    .execute();
  return id;
}

async function grant(accountId: string, amount: number): Promise<void> {
  const entry = JSON.stringify({ account_id: accountId, kind: "grant", amount });
  await sql`select write_credit_entry(jsonb_populate_record(null::credit_entries, ${entry}::jsonb))`.execute(database);
}

async function stateOf({ accountId }: Spender) {
  const { rows } = await sql<{ balance: number; held: number; spent: number }>`
    select balance::int, held::int, spent_this_month(accounts)::int as spent from accounts where id = ${accountId}`.execute(
    database,
  );
  return rows[0]!;
}

async function keyOf({ keyId }: Spender) {
  const { rows } = await sql<{ spent: number; held: number }>`
    select spent::int, held::int from api_keys where id = ${keyId}`.execute(database);
  return rows[0]!;
}

/** The server that made the holds is gone, and their lease over. */
async function expire(holds: readonly Hold[]): Promise<void> {
  const ids = holds.map(({ id }) => id);
  await database
    .updateTable("credit_holds")
    .set({ leased_until: new Date(0) })
    .where("id", "in", ids)
    .execute();
}

const refused = { code: "insufficient_credits" };

test("a call's credits are held, and what it used is written instead", async () => {
  await using stack = new AsyncDisposableStack();
  const ledger = openLedger();
  stack.defer(() => ledger.close());
  const spender = await newAccount();
  const hold = await ledger.hold(spender, "demo/demo", 300);
  expect(hold.left).toBe(700);
  expect(await stateOf(spender)).toEqual({ balance: 1_000, held: 300, spent: 0 });
  await ledger.extend(hold, 200);
  expect(hold.amount).toBe(500);
  expect(await stateOf(spender)).toEqual({ balance: 1_000, held: 500, spent: 0 });
  await ledger.settle(hold, 120, { input: 7, output: 2 });
  await ledger.settle(hold, 500, { input: 9 });
  expect(await stateOf(spender)).toEqual({ balance: 880, held: 0, spent: 120 });
  const entries = await database
    .selectFrom("credit_entries")
    .selectAll()
    .where("account_id", "=", spender.accountId)
    .orderBy("number")
    .execute();
  expect(entries.map(({ number, kind, amount, balance_after }) => [number, kind, amount, balance_after])).toEqual([
    ["1", "grant", "1000", "1000"],
    ["2", "model", "-120", "880"],
  ]);
  expect(entries[1]).toMatchObject({
    agent_id: spender.agentId,
    agent_name: "ada",
    turn_id: spender.turnId,
    model: "demo/demo",
    tokens: { input: 7, output: 2 },
    reference: hold.id,
  });
  const free = await ledger.hold(spender, "demo/demo", 880);
  await ledger.settle(free, 0, {});
  expect(await stateOf(spender)).toEqual({ balance: 880, held: 0, spent: 120 });
});

test.each([
  ["the balance", { micro: 99 }, "balance"],
  ["the monthly limit", { monthlyLimit: 99 }, "monthly_limit"],
  ["the key's limit", { keyLimit: 99 }, "key_limit"],
  ["the turn's limit", { limits: { turn: 99, caused: null } }, "turn_limit"],
  [
    "the limit of turns with one cause",
    { limits: { turn: null, caused: { by: randomUUID(), limit: 99 } } },
    "caused_limit",
  ],
])("no more is held than %s has, of two at once by one only", async (_case, changes, reason) => {
  await using stack = new AsyncDisposableStack();
  const ledgers = databases.map((each) => openLedger(each));
  for (const each of ledgers) stack.defer(() => each.close());
  const spender = await newAccount(changes);
  const tries = await Promise.allSettled([...ledgers, ...ledgers].map((each) => each.hold(spender, "demo/demo", 50)));
  const held = tries.filter((each) => each.status === "fulfilled");
  expect(held).toHaveLength(1);
  const failed = tries.filter((each) => each.status === "rejected");
  for (const { reason: error } of failed) expect(error).toMatchObject({ ...refused, details: { reason } });
  const hold = held[0]!.value;
  await expect(ledgers[0]!.extend(hold, 50)).rejects.toMatchObject({ ...refused, details: { reason } });
  expect([hold.amount, (await stateOf(spender)).held]).toEqual([50, 50]);
  await ledgers[0]!.extend(hold, 49);
  await ledgers[0]!.settle(hold, 99, {});
  await expect(ledgers[1]!.hold(spender, "demo/demo", 1)).rejects.toMatchObject({ ...refused, details: { reason } });
});

test.each([
  ["the balance", { micro: 99 }, { reason: "balance" }],
  ["the monthly limit", { monthlyLimit: 99 }, { reason: "monthly_limit", limit: "0.000099" }],
  ["the key's limit", { keyLimit: 99 }, { reason: "key_limit", limit: "0.000099" }],
])("no turn begins when %s is used up", async (_case, changes, details) => {
  await using stack = new AsyncDisposableStack();
  const ledger = openLedger();
  stack.defer(() => ledger.close());
  const spender = await newAccount(changes);
  await ledger.settle(await ledger.hold(spender, "demo/demo", 99), 99, {});
  const { accountId, keyId } = spender;
  await expect(ledger.requireCredits(accountId, keyId)).rejects.toMatchObject({ ...refused, details });
});

test("a hold names the limits that are four fifths spent", async () => {
  await using stack = new AsyncDisposableStack();
  const ledger = openLedger();
  stack.defer(() => ledger.close());
  const limits = { turn: 200, caused: { by: randomUUID(), limit: 100 } };
  const spender = await newAccount({ monthlyLimit: 102, keyLimit: 101, limits });
  const first = await ledger.hold(spender, "demo/demo", 80);
  expect(first.near).toEqual([]);
  await ledger.settle(first, 80, {});
  const second = await ledger.hold(spender, "demo/demo", 1);
  expect(second.near).toEqual([{ reason: "caused_limit", limit: 100, used: 80 }]);
  await ledger.settle(second, 1, {});
  const third = await ledger.hold(spender, "demo/demo", 1);
  expect(third.near.map(({ reason }) => reason)).toEqual(["key_limit", "caused_limit"]);
});

test("turns with one cause share a limit, and the sums of ended turns are removed", async () => {
  await using stack = new AsyncDisposableStack();
  const ledger = openLedger();
  stack.defer(() => ledger.close());
  const limits = { turn: null, caused: { by: randomUUID(), limit: 100 } };
  const one = await newAccount({ limits });
  const other = { ...one, turnId: randomUUID() };
  await ledger.settle(await ledger.hold(one, "demo/demo", 60), 50, {});
  const hold = await ledger.hold(other, "demo/demo", 50);
  await expect(ledger.hold(one, "demo/demo", 1)).rejects.toMatchObject({ details: { reason: "caused_limit" } });
  await ledger.settle(hold, 40, {});
  expect((await ledger.hold({ ...one, turnId: randomUUID() }, "demo/demo", 10)).left).toBe(0);
  const { rows } = await sql`select 1 from turn_credits where first_turn = ${limits.caused.by}`.execute(database);
  expect(rows).toHaveLength(3);
  await ledger.sweep();
  const after = await sql`select 1 from turn_credits where first_turn = ${limits.caused.by}`.execute(database);
  expect(after.rows).toHaveLength(0);
});

test.each([
  ["the balance", { monthlyLimit: 2_000, keyLimit: 2_000 }, 990],
  ["the monthly limit", { monthlyLimit: 500, keyLimit: 600 }, 490],
  ["the key's limit", { keyLimit: 600 }, 590],
])("a hold says how much more could be held, by %s", async (_case, changes, left) => {
  await using stack = new AsyncDisposableStack();
  const ledger = openLedger();
  stack.defer(() => ledger.close());
  const spender = await newAccount(changes);
  await ledger.settle(await ledger.hold(spender, "demo/demo", 7), 7, {});
  expect((await ledger.hold(spender, "demo/demo", 3)).left).toBe(left);
});

test("a call with the workspace's own provider costs no credits, and counts for limits", async () => {
  await using stack = new AsyncDisposableStack();
  const ledger = openLedger();
  stack.defer(() => ledger.close());
  const spender = await newAccount({ micro: 10, keyLimit: 1_000, monthlyLimit: 900 });
  const own = await ledger.hold(spender, "acme/llama", 500, true);
  expect(await stateOf(spender)).toEqual({ balance: 10, held: 0, spent: 0 });
  expect(await keyOf(spender)).toEqual({ spent: 0, held: 500 });
  // The balance is free for other calls; the monthly limit is not.
  await ledger.settle(await ledger.hold(spender, "demo/demo", 10), 0, {});
  const over = { ...refused, details: { reason: "monthly_limit" } };
  await expect(ledger.extend(own, 401)).rejects.toMatchObject(over);
  await ledger.extend(own, 400);
  await ledger.settle(own, 600, { input: 3 });
  expect(await stateOf(spender)).toEqual({ balance: 10, held: 0, spent: 600 });
  expect(await keyOf(spender)).toEqual({ spent: 600, held: 0 });
  await expect(ledger.hold(spender, "acme/llama", 301, true)).rejects.toMatchObject(over);
  // A server that died had this one.
  await expire([await ledger.hold(spender, "acme/llama", 300, true)]);
  await ledger.sweep();
  expect(await ledgerFaults(database, [spender])).toEqual([]);
  const entries = database.selectFrom("credit_entries").select(["amount", "listed", "model"]);
  expect(await entries.where("account_id", "=", spender.accountId).where("kind", "=", "model").execute()).toEqual([
    { amount: "0", listed: "600", model: "acme/llama" },
  ]);
});

test("a month's spending counts in its month only", async () => {
  await using stack = new AsyncDisposableStack();
  const ledger = openLedger();
  stack.defer(() => ledger.close());
  const spender = await newAccount({ monthlyLimit: 100 });
  await ledger.settle(await ledger.hold(spender, "demo/demo", 100), 100, {});
  await expect(ledger.hold(spender, "demo/demo", 1)).rejects.toMatchObject(refused);
  await sql`update accounts set month = month - interval '1 month' where id = ${spender.accountId}`.execute(database);
  expect((await stateOf(spender)).spent).toBe(0);
  await ledger.requireCredits(spender.accountId, null);
  await ledger.settle(await ledger.hold(spender, "demo/demo", 100), 60, {});
  expect((await stateOf(spender)).spent).toBe(60);
});

test("a dead server's holds are released, and its usage is charged", async () => {
  await using stack = new AsyncDisposableStack();
  const ledger = openLedger();
  stack.defer(() => ledger.close());
  const spender = await newAccount({ keyLimit: 10_000 });
  const left = await ledger.hold(spender, "demo/demo", 900);
  await expect(ledger.hold(spender, "demo/demo", 900)).rejects.toMatchObject(refused);
  await expire([left]);
  const other = await ledger.hold(spender, "demo/demo", 800);
  expect(await stateOf(spender)).toEqual({ balance: 1_000, held: 800, spent: 0 });
  await expire([other]);
  await ledger.sweep();
  expect([await stateOf(spender), await keyOf(spender)]).toEqual([
    { balance: 1_000, held: 0, spent: 0 },
    { spent: 0, held: 0 },
  ]);
  // It was not gone: its call has continued.
  await ledger.extend(other, 100);
  expect((await stateOf(spender)).held).toBe(900);
  await ledger.settle(left, 700, {});
  await ledger.settle(other, 850, {});
  expect([await stateOf(spender), await keyOf(spender)]).toEqual([
    { balance: -550, held: 0, spent: 1_550 },
    { spent: 1_550, held: 0 },
  ]);
});

test("a hold stays as long as the server that made it lives", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const logged: string[] = [];
  const ledger = new LedgerStore(database, (message) => logged.push(message));
  const spender = await newAccount();
  const holds = [await ledger.hold(spender, "demo/demo", 1), await ledger.hold(spender, "demo/demo", 2)];
  await ledger.settle(holds.shift()!, 1, {});
  await expire(holds);
  vi.advanceTimersByTime(20_000);
  const leased = database.selectFrom("credit_holds").select("leased_until").where("id", "=", holds[0]!.id);
  await expect
    .poll(async () => (await leased.executeTakeFirstOrThrow()).leased_until.getTime())
    .toBeGreaterThan(Date.now());
  await ledger.sweep();
  expect((await stateOf(spender)).held).toBe(2);
  await ledger.close();
  await expire(holds);
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  await ledger.sweep();
  expect([(await stateOf(spender)).held, logged]).toEqual([0, []]);
});

test("a settlement that the database rejects is logged and its hold ends", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const logged: string[] = [];
  const ledger = new LedgerStore(database, (message) => logged.push(message));
  const spender = await newAccount();
  const hold = await ledger.hold(spender, "demo/demo", 5);
  await ledger.settle(hold, 1e19, {});
  await expect.poll(() => logged.at(-1)).toBe("a model call's usage is lost");
  await expire([hold]);
  vi.advanceTimersByTime(20_000);
  await ledger.close();
  vi.useRealTimers();
  await ledger.sweep();
  expect((await stateOf(spender)).held).toBe(0);
});

test("an entry is written once for its reference, and never changed", async () => {
  const { accountId } = await newAccount();
  const entry = JSON.stringify({ account_id: accountId, kind: "top_up", amount: 5, reference: randomUUID() });
  const write = () =>
    sql<{ written: boolean }>`
      select write_credit_entry(jsonb_populate_record(null::credit_entries, ${entry}::jsonb)) as written`.execute(
      database,
    );
  const written = await Promise.all([write(), write(), write()]);
  expect(written.map(({ rows }) => rows[0]!.written).sort()).toEqual([false, false, true]);
  for (const change of [
    sql`update credit_entries set amount = 6`,
    sql`delete from credit_entries`,
    sql`truncate credit_entries`,
  ]) {
    await expect(change.execute(database)).rejects.toThrow("credit_entries is only ever added to");
  }
});

test("usage during a database outage is charged afterwards", async () => {
  const own = await newFolder();
  let away = await startEmbeddedPostgres(own);
  const logged: string[] = [];
  const there = openDatabase(away.config, () => {});
  const ledger = new LedgerStore(there, (message) => logged.push(message));
  await migrate(there);
  const home = database;
  database = there;
  const spender = await newAccount();
  const hold = await ledger.hold(spender, "demo/demo", 10);
  await away.stop();
  await expect(ledger.hold(spender, "demo/demo", 10)).rejects.toMatchObject({ code: "database_unavailable" });
  await ledger.settle(hold, 10, { input: 1 });
  expect(logged).toEqual(["a model call's usage could not be written; trying again"]);
  away = await startEmbeddedPostgres(own);
  await ledger.settle(hold, 10, { input: 1 });
  await expect.poll(() => stateOf(spender).catch(() => null)).toEqual({ balance: 990, held: 0, spent: 10 });
  const last = await ledger.hold(spender, "demo/demo", 10);
  await away.stop();
  await ledger.settle(last, 10, { input: 1 });
  await ledger.close();
  expect(logged.at(-1)).toBe("a model call's usage is lost");
  database = home;
  await there.destroy();
  await rm(own, { recursive: true });
});

type Step =
  | { do: "hold" | "extend"; account: number; micro: number; isOwn: boolean }
  | { do: "settle"; part: number }
  | { do: "grant"; account: number; micro: number }
  | { do: "abandon" | "outlive" | "sweep" | "check" };

const account = fc.nat(1);
const micro = fc.integer({ min: 1, max: 400 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom("hold" as const, "extend" as const),
      account,
      micro,
      isOwn: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("settle" as const), part: fc.constantFrom(0, 0.3, 1) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("grant" as const), account, micro }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("abandon" as const, "outlive" as const, "sweep" as const, "check" as const),
    }),
  },
);

/** The accounts of one run, and by how much each was overdrawn by calls that continued after their holds were released. */
interface Run {
  spenders: readonly Spender[];
  late: Map<Spender, number>;
}

/** Does the steps in their order at one of the servers; what a call uses is never more than its hold. */
async function work(steps: readonly Step[], ledger: LedgerStore, run: Run): Promise<void> {
  const { spenders, late } = run;
  const holds: Hold[] = [];
  const unlessShort = (error: unknown) => {
    expect(error).toMatchObject(refused);
  };
  for (const each of steps) {
    if (each.do === "hold") {
      const spender = spenders[each.account]!;
      const hold = await ledger.hold(spender, "demo/demo", each.micro, each.isOwn).catch(unlessShort);
      if (hold) holds.push(hold);
    } else if (each.do === "extend") {
      if (holds[0]) await ledger.extend(holds[0], each.micro).catch(unlessShort);
    } else if (each.do === "settle") {
      const hold = holds.shift();
      if (hold) await ledger.settle(hold, Math.round(hold.amount * each.part), { output: 1 });
    } else if (each.do === "grant") {
      await grant(spenders[each.account]!.accountId, each.micro);
    } else if (each.do === "abandon") {
      const hold = holds.pop();
      if (hold) await expire([hold]);
    } else if (each.do === "outlive") {
      const hold = holds.pop();
      if (!hold) continue;
      await expire([hold]);
      late.set(hold.spender, (late.get(hold.spender) ?? 0) + hold.amount);
      await ledger.settle(hold, hold.amount, { output: 1 });
    } else if (each.do === "sweep") {
      await ledger.sweep();
    } else {
      await expectSound(run);
    }
  }
}

/** All adds up, and what is spent and held is covered and within the limits. */
async function expectSound({ spenders, late }: Run): Promise<void> {
  expect(await ledgerFaults(database, spenders)).toEqual([]);
  for (const spender of spenders) {
    const { balance, held } = await stateOf(spender);
    // Asked for afterwards: it may have become more meanwhile.
    const overdrawn = () => late.get(spender) ?? 0;
    expect(balance - held + overdrawn()).toBeGreaterThanOrEqual(0);
    if (spender.keyId === null) continue;
    const { spent, held: heldOfKey } = await keyOf(spender);
    expect(spent + heldOfKey - overdrawn()).toBeLessThanOrEqual(limitOfKeys);
  }
}

const limitOfKeys = 700;

test("however many hold, settle, die and are granted credits at once, all adds up and nobody overspends", async () => {
  const workers = fc.array(fc.array(step, { minLength: 5, maxLength: 25 }), { minLength: 4, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(workers, async (programs) => {
      await using stack = new AsyncDisposableStack();
      const ledgers = databases.map((each) => openLedger(each));
      for (const each of ledgers) stack.defer(() => each.close());
      const spenders = [await newAccount({ keyLimit: limitOfKeys }), await newAccount()];
      const run = { spenders, late: new Map() };
      await Promise.all(programs.map((steps, n) => work(steps, ledgers[n % servers]!, run)));
      await expectSound(run);
    }),
    { numRuns: 40, endOnFailure: true },
  );
});
