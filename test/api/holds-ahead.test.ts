import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { HoldsAhead } from "../../src/domain/holds-ahead.ts";
import type { Spender } from "../../src/domain/ledger.ts";
import { writeEntry } from "../../src/postgres/credit-entries.ts";
import { type Database, migrate, openDatabase } from "../../src/postgres/database.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/postgres/embedded.ts";
import { PostgresLedger } from "../../src/postgres/ledger.ts";
import { newFolder } from "../support/config.ts";

// Holds that are made before they are asked for, over a real PostgreSQL.

const model = "anthropic/a";

let folder: string;
let postgres: EmbeddedPostgres;
let database: Database;
let ledger: PostgresLedger;
let spender: Spender;
let ahead: HoldsAhead;
let turn: AbortController;

beforeAll(async () => {
  folder = await newFolder();
  postgres = await startEmbeddedPostgres(folder);
  database = openDatabase(postgres.config, () => {});
  await migrate(database);
  ledger = new PostgresLedger(database, () => {});
});
afterAll(async () => {
  await ledger.close();
  await database.destroy();
  await postgres.stop();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  const accountId = randomUUID();
  await database.insertInto("accounts").values({ id: accountId, name: "payer" }).execute();
  await writeEntry(database, { account_id: accountId, kind: "grant", amount: 1_000 });
  spender = { accountId, keyId: null, agentId: randomUUID(), agentName: "ada", turnId: randomUUID() };
  ahead = new HoldsAhead(ledger);
  turn = new AbortController();
});

async function state(): Promise<{ balance: number; held: number; holds: number }> {
  const { rows } = await sql<{ balance: number; held: number; holds: number }>`
    select balance::int, held::int, (select count(*)::int from credit_holds where account_id = accounts.id) as holds
    from accounts where id = ${spender.accountId}`.execute(database);
  return rows[0]!;
}

test("a turn's next call has its credits when it asks, with room to grow, until the turn is over", async () => {
  const first = await ahead.hold(spender, model, 100, turn.signal);
  expect(await state()).toEqual({ balance: 1_000, held: 100, holds: 1 });
  await first.settle(40, { output: 4 });
  expect(await state()).toEqual({ balance: 960, held: 150, holds: 1 });
  const second = await ahead.hold(spender, model, 120, turn.signal);
  await second.extend(30);
  expect(await state()).toEqual({ balance: 960, held: 150, holds: 1 });
  await second.extend(10);
  expect((await state()).held).toBe(160);
  await second.settle(160, { output: 16 });
  expect(await state()).toEqual({ balance: 800, held: 240, holds: 1 });
  turn.abort();
  await expect.poll(state).toEqual({ balance: 800, held: 0, holds: 0 });
});

test("a call that needs more than was foreseen, or another model, holds what it needs", async () => {
  await (await ahead.hold(spender, model, 100, turn.signal)).settle(0, {});
  const larger = await ahead.hold(spender, model, 900, turn.signal);
  expect(await state()).toEqual({ balance: 1_000, held: 900, holds: 1 });
  const other = await ahead.hold(spender, "anthropic/b", 100, turn.signal);
  expect((await state()).held).toBe(1_000);
  // What it needed and half as much again is more than there is: nothing is held ahead.
  await larger.settle(900, {});
  expect(await state()).toEqual({ balance: 100, held: 100, holds: 1 });
  await other.settle(100, {});
  expect(await state()).toEqual({ balance: 0, held: 0, holds: 0 });
});

test("of calls of one model at once, one is held ahead", async () => {
  const calls = await Promise.all([1, 2, 3].map(() => ahead.hold(spender, model, 100, turn.signal)));
  await Promise.all(calls.map((call) => call.settle(10, {})));
  expect(await state()).toEqual({ balance: 970, held: 150, holds: 1 });
});

test("outside of a turn, and when it was over before its call was, nothing is held ahead", async () => {
  await (await ahead.hold({ ...spender, turnId: null }, model, 100, null)).settle(10, {});
  expect(await state()).toEqual({ balance: 990, held: 0, holds: 0 });
  const late = await ahead.hold(spender, model, 100, turn.signal);
  turn.abort();
  await late.settle(10, {});
  expect(await state()).toEqual({ balance: 980, held: 0, holds: 0 });
  await (await ahead.hold(spender, model, 100, turn.signal)).settle(10, {});
  expect(await state()).toEqual({ balance: 970, held: 0, holds: 0 });
});

test("what is held ahead refuses nobody: whoever of the account needs it has it", async () => {
  await (await ahead.hold(spender, model, 600, turn.signal)).settle(0, {});
  expect((await state()).held).toBe(900);
  const other = { ...spender, agentId: randomUUID(), turnId: randomUUID() };
  const call = await ahead.hold(other, model, 500, new AbortController().signal);
  expect((await state()).held).toBe(500);
  await (await ahead.hold(spender, model, 300, turn.signal)).settle(0, {});
  expect((await state()).held).toBe(950);
  await call.extend(500);
  expect((await state()).held).toBe(1_000);
  await expect(call.extend(1)).rejects.toMatchObject({ code: "insufficient_credits" });
  expect((await state()).held).toBe(1_000);
});
