import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { type Hold, type Spender, unlimited } from "../../src/billing/ledger.ts";
import { LedgerStore } from "../../src/billing/ledger-store.ts";
import { MachineTime } from "../../src/billing/machine-time-store.ts";
import { type Database, openDatabase } from "../../src/core/database/database.ts";
import { startEmbeddedPostgres } from "../../src/core/database/embedded.ts";
import { KillableService } from "../support/killable-service.ts";
import { randomOf } from "../support/random.ts";

// Server and database are killed while machines are charged for and model calls settled. Afterwards each second and each
// call is in the ledger once.

const rounds = 8;
/** Micro-credits for a GiB and an hour: each second of a machine is worth an entry. */
const price = 3_600_000_000;

async function connect(service: KillableService): Promise<Database> {
  const { config } = await startEmbeddedPostgres(join(service.config.dataFolder, "postgres"));
  return openDatabase({ ...config, max: 4 }, () => {});
}

async function sumOf(database: Database) {
  const { rows } = await sql<Record<"seconds" | "passed" | "model" | "off", string>>`
    select coalesce(sum(seconds), 0) as seconds, coalesce(-sum(amount) filter (where kind = 'model'), 0) as model,
      (select extract(epoch from metered_until) from agents) as passed,
      (select balance from accounts) - sum(amount) as off
    from credit_entries`.execute(database);
  const { seconds, passed, model, off } = rows[0]!;
  return { seconds: Number(seconds), passed: Number(passed), model: Number(model), off: Number(off) };
}

test("whatever dies, each second of a machine and each model call is charged once", { timeout: 300_000 }, async () => {
  await using service = await KillableService.start({ machinePrice: "3600", startingCredits: "1000000" });
  await service.client.createAgent("ada");
  const database = await connect(service);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => database.destroy());
  const ledger = new LedgerStore(database, () => {});
  stack.defer(() => ledger.close());
  const { id: accountId } = (await service.client.call("GET", "/account")).body;
  const agent = await database.selectFrom("agents").select("id").executeTakeFirstOrThrow();
  const ids = { accountId, agentId: agent.id, turnId: null, keyId: null };
  const spender: Spender = { ...ids, agentName: "ada", limits: unlimited };

  const random = randomOf(7_420);
  const machineTime = new MachineTime(database, "here", price);
  const before = await sumOf(database);
  const used: number[] = [];
  const retryTransient = async <T>(what: () => Promise<T>): Promise<T> =>
    what().catch(() => sleep(100).then(() => retryTransient(what)));
  for (let round = 0; round < rounds; round++) {
    const holds: Hold[] = await Promise.all(
      [1, 2, 3].map(() => retryTransient(() => ledger.hold(spender, "demo/demo", 1_000))),
    );
    const charging = Array.from({ length: 10 }, () => machineTime.charge().catch(() => {}));
    const settling = holds.map(async (hold) => {
      await sleep(random() * 20);
      used.push(hold.amount);
      await ledger.settle(hold, hold.amount, { output: 1 });
    });
    await sleep(random() * 30);
    await service.killDatabase();
    if (round % 3 === 2) {
      await service.killServer();
      await service.startServer();
    }
    await Promise.all([...charging, ...settling]);
    await retryTransient(() => machineTime.charge());
  }
  await expect
    .poll(async () => (await sumOf(database)).model, { timeout: 60_000 })
    .toBe(used.reduce((a, b) => a + b, 0));
  const after = await sumOf(database);
  expect(after.off).toBe(0);
  // To the millisecond: what was charged is what has passed.
  expect(after.seconds - before.seconds).toBeCloseTo(after.passed - before.passed, 3);
  expect((await service.client.call("GET", "/agents/ada")).body.status).toBe("ready");
});
