import { CompiledQuery, sql } from "kysely";
import { PgBoss } from "pg-boss";
import type { Database } from "../../src/store/database.ts";

/** Does at once what the service's timer of that name does at its time. */
export async function ring(database: Database, timer: string): Promise<void> {
  const boss = new PgBoss({
    schema: "timers",
    createSchema: false,
    migrate: false,
    supervise: false,
    schedule: false,
    db: { executeSql: async (text, values = []) => database.executeQuery(CompiledQuery.raw(text, [...values])) },
  });
  await boss.start();
  await boss.send(timer, {});
  await boss.stop({ graceful: false, close: false });
}

/** When the timer rings by itself, as cron has it. */
export async function timeOf(database: Database, timer: string): Promise<string | undefined> {
  const { rows } = await sql<{ cron: string }>`select cron from timers.schedule where name = ${timer}`.execute(
    database,
  );
  return rows[0]?.cron;
}
