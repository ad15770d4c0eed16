import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import {
  Kysely,
  type Migration,
  Migrator,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  sql,
} from "kysely";
import pg from "pg";
import { BerthError } from "../../contract/errors.ts";
import { Backoff, pause } from "../retry.ts";
import { asFault, isTimeout } from "./faults.ts";
import type { Tables } from "./tables.ts";

/** How long to wait for connections to end. */
const endTimeoutMs = 2_000;

export type Database = Kysely<Tables>;

/**
 * Opens a connection pool. `failed` is called for idle connections that break; they are replaced automatically. Queries
 * throw `database_unavailable` while the database is down, and `disk_full`.
 */
export function openDatabase(config: pg.PoolConfig, failed: (error: Error) => void): Database {
  return databaseOf(openPool(config, failed));
}

/** Like `openDatabase`, as a pool that reports its number of connections. */
export function openPool(config: pg.PoolConfig, failed: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({ max: 16, connectionTimeoutMillis: 5_000, keepAlive: true, ...config });
  // The pool's error carries the whole client. Errors during shutdown are expected.
  pool.on("error", ({ message }) => {
    if (!pool.ending) failed(new Error(message));
  });
  // A client that breaks between two queries of a transaction emits an error; the next query rejects.
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

export function databaseOf(pool: pg.Pool): Database {
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: withFaults(pool) }) });
}

/** The pool, with its errors translated to `BerthError`. A connection with a timed-out query is not reused. */
function withFaults(pool: pg.Pool): PostgresPool {
  const refuse = (error: unknown): never => {
    throw asFault(error);
  };
  return {
    connect: async () => {
      const client = await pool.connect().catch(refuse);
      let timedOut: Error | undefined;
      const query = async (text: string, values: unknown[]) => {
        if (timedOut) refuse(timedOut);
        return client.query(text, values).catch((error: Error) => {
          if (isTimeout(error)) timedOut = error;
          refuse(error);
        });
      };
      // Kysely only uses this part of the interface, except for cursors, which are not used.
      return { query, release: () => client.release(timedOut) } as unknown as PostgresPoolClient;
    },
    end: () => endPool(pool),
  };
}

async function endPool(pool: pg.Pool): Promise<void> {
  const ended = pool.end();
  const late = AbortSignal.timeout(endTimeoutMs);
  late.addEventListener("abort", () => {
    // Internals of pg that its types do not have: a client's socket.
    const { _clients: clients } = pool as unknown as { _clients: { connection: { stream: Socket } }[] };
    for (const { connection } of clients) connection.stream.destroy();
  });
  await Promise.race([ended, once(late, "abort")]);
}

const migrationFolder = new URL("./migrations/", import.meta.url);

/** In order. */
export async function migrationNames(): Promise<string[]> {
  const files = (await readdir(migrationFolder)).filter((name) => name.endsWith(".sql"));
  return files.map((name) => name.replace(/\.sql$/, "")).toSorted();
}

/** How long a migration waits for a lock: every query on the table queues behind it for that time. */
const migrationLockMs = 2_000;
/** How long a migration is tried again while others hold locks: longer than a backup's dump takes. */
const migrationMs = 60 * 60_000;

/**
 * Migrates the schema to the newest version, or to the migration `last`. Of servers that start at once, only the first
 * migrates. `database` has one connection. A migration that waits for a lock gives way to the queries behind it, and
 * retries.
 */
export async function migrate(database: Database, last?: string): Promise<void> {
  const until = performance.now() + migrationMs;
  await sql`set lock_timeout = ${sql.lit(migrationLockMs)}`.execute(database);
  for (const backoff = new Backoff(leastMigrationPauseMs, mostMigrationPauseMs); ; await pause(backoff.next())) {
    const error = await migrateOnce(database, last);
    if (error === undefined) break;
    if (!isLockTimeout(error) || performance.now() > until) throw error;
  }
  await sql`reset lock_timeout`.execute(database);
}

const leastMigrationPauseMs = 500;
const mostMigrationPauseMs = 10_000;

function isLockTimeout(error: unknown): boolean {
  const cause = error instanceof BerthError ? error.cause : error;
  return cause instanceof pg.DatabaseError && cause.code === "55P03";
}

async function migrateOnce(database: Database, last?: string): Promise<unknown> {
  const getMigrations = async () => {
    const migrations: Record<string, Migration> = {};
    for (const name of await migrationNames()) {
      const text = await readFile(new URL(`${name}.sql`, migrationFolder), "utf8");
      migrations[name] = { up: async (db) => void (await sql.raw(text).execute(db)) };
    }
    return migrations;
  };
  const migrator = new Migrator({ db: database, provider: { getMigrations } });
  const { error } = last === undefined ? await migrator.migrateToLatest() : await migrator.migrateTo(last);
  return error;
}

/** Resolves when the database answers; rejects after `timeoutMs`. */
export async function ping(database: Database, timeoutMs: number): Promise<void> {
  const late = new Promise<never>((_, reject) => setTimeout(reject, timeoutMs, new Error("no answer")).unref());
  await Promise.race([sql`select 1`.execute(database), late]);
}

/** Whether the error is PostgreSQL's violation of this unique constraint. */
export function isDuplicate(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.code === "23505" && error.constraint === constraint;
}
