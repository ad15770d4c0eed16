import { join } from "node:path";
import type pg from "pg";
import type { Logger } from "pino";
import type { Config } from "./config/config.ts";
import { type Database, databaseOf, migrate, openDatabase, openPool } from "./core/database/database.ts";
import { startEmbeddedPostgres } from "./core/database/embedded.ts";
import { supervise } from "./core/database/supervise.ts";
import type { Stops } from "./core/stops.ts";
import { admitSessions, type SessionOwner } from "./hosts/lease-store.ts";

/** Queries that take longer than this fail as `database_unavailable`. */
const queryTimeoutMs = 10_000;
/** Below the time that a lease is good for. */
const leaseTimeoutMs = 3_000;

/** The database, and a pool for long-running queries. */
export interface Databases {
  database: Database;
  /** Without a timeout, for migrations and the removal of expired data. */
  maintenance: Database;
  /** For the hosts' leases alone: their renewal waits for no other query. */
  leases: Database;
  /** How many connections `database` has, how many of them rest, and how many queries wait for one. */
  connections: () => { open: number; idle: number; waiting: number };
  /** For a connection of one's own. */
  connection: pg.PoolConfig;
}

/**
 * Opens the configured database, whose sessions are `sessions`', or runs one in the data folder, and brings its schema up
 * to date.
 */
export async function openDatabases(
  config: Config,
  logger: Logger,
  cleanup: AsyncDisposableStack,
  { stops, sessions = null }: { stops: Stops; sessions?: SessionOwner | null },
): Promise<Databases> {
  const embedded =
    config.databaseUrl === null ? await startEmbeddedPostgres(join(config.dataFolder, "postgres")) : null;
  if (embedded) {
    // It has a time limit of its own.
    cleanup.use(supervise(embedded, (message, error) => logger.error({ err: error }, message)));
  }
  const connection: pg.PoolConfig = embedded?.config ?? { connectionString: config.databaseUrl! };
  // No other server can reach a built-in database.
  const admitted = embedded || !sessions ? connection : { ...connection, onConnect: admitSessions(sessions) };
  const failed = (error: Error) => logger.warn({ err: error }, "a database connection was lost");
  const maintenance = openDatabase({ ...admitted, max: 1 }, failed);
  cleanup.defer(stops.of("long queries", () => maintenance.destroy()));
  await migrate(maintenance);
  const leases = openDatabase({ ...connection, max: 2, query_timeout: leaseTimeoutMs }, failed);
  cleanup.defer(stops.of("leases", () => leases.destroy()));
  const pool = openPool({ ...admitted, query_timeout: queryTimeoutMs }, failed);
  const database = databaseOf(pool);
  cleanup.defer(stops.of("database", () => database.destroy()));
  const connections = () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount });
  return { database, maintenance, leases, connections, connection };
}
