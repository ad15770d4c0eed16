import { CompiledQuery, sql } from "kysely";
import { PgBoss } from "pg-boss";
import type { Database } from "../../src/core/database/database.ts";

/** Runs the service's timer of that name now. */
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

/** The timer's schedule, in cron syntax. */
export async function timeOf(database: Database, timer: string): Promise<string | undefined> {
  const { rows } = await sql<{ cron: string }>`select cron from timers.schedule where name = ${timer}`.execute(
    database,
  );
  return rows[0]?.cron;
}
