import { sql } from "kysely";
import type { PoolConfig } from "pg";
import { openDatabase } from "../../src/core/database/database.ts";
import type { EmbeddedPostgres } from "../../src/core/database/embedded.ts";

/** A new database in a PostgreSQL whose socket is in `folder`, as a pool's configuration and as an address. */
export async function newDatabase(
  postgres: EmbeddedPostgres,
  folder: string,
  name: string,
): Promise<{ pool: PoolConfig; databaseUrl: string }> {
  const admin = openDatabase(postgres.config, () => {});
  await sql`create database ${sql.id(name)}`.execute(admin);
  await admin.destroy();
  const { user, password } = postgres.config;
  const databaseUrl = `postgres://${user}:${password}@localhost/${name}?host=${encodeURIComponent(folder)}`;
  return { pool: { ...postgres.config, database: name }, databaseUrl };
}
