import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import {
  type ColumnType,
  type Generated,
  type JSONColumnType,
  Kysely,
  type Migration,
  Migrator,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  sql,
} from "kysely";
import pg from "pg";
import type { StoredAdmission } from "../../accounts/tickets.ts";
import type { DesiredState } from "../../agents/agent.ts";
import type { ImportDetail } from "../../archives/imports.ts";
import type { TokenCounts } from "../../billing/ledger.ts";
import type { UsageState } from "../../billing/usage.ts";
import type { AgentStatus, Fault, ForkedFrom, ImportedFrom, InstallStep, Resources } from "../../contract/agents.ts";
import type { EntryKind } from "../../contract/billing.ts";
import type { TurnEvent, TurnStatus } from "../../contract/chat.ts";
import type { EgressOutcome, EgressRefusal } from "../../contract/egress.ts";
import { BerthError } from "../../contract/errors.ts";
import type { ClientFunction } from "../../contract/functions.ts";
import type { Credential } from "../../contract/keys.ts";
import type { McpServers } from "../../contract/mcp-servers.ts";
import type { ResponseRequest } from "../../protocols/openai/stored-responses.ts";
import { Backoff, pause } from "../retry.ts";
import { asFault, isTimeout } from "./faults.ts";

/** The tables as the migrations leave them. */
export interface Tables {
  accounts: {
    id: string;
    name: string;
    created_at: Generated<Date>;
    operator: Generated<boolean>;
    issuer: string | null;
    subject: string | null;
    disabled_at: Date | null;
    tokens_from: Date | null;
    /** Micro-credits, as bigints, which the driver returns as text. */
    balance: Generated<string>;
    held: Generated<string>;
    entries: Generated<string>;
    monthly_limit: string | null;
    month: Generated<Date | null>;
    month_spent: Generated<string>;
  };
  api_keys: {
    id: string;
    account_id: string;
    name: string | null;
    kind: "full" | "agent";
    prefix: string;
    hash: Buffer;
    /** A bigint, which comes as text. */
    credit_limit: string | null;
    spent: Generated<string>;
    held: Generated<string>;
    last_used_at: Date | null;
    created_at: Generated<Date>;
    expires_at: Date | null;
    revoked_at: Date | null;
  };
  rate_limits: { key: string; points: number; expire: string | null };
  key_agents: { key_id: string; agent_id: string };
  idempotency_keys: {
    owner: string;
    account_id: string;
    key_id: string | null;
    key: string;
    fingerprint: Buffer;
    resource_id: string;
    leased_until: Date;
    status: number | null;
    headers: JSONColumnType<Record<string, string>> | null;
    body: Buffer | null;
    created_at: Generated<Date>;
  };
  audit_entries: {
    id: string;
    account_id: string;
    at: Date;
    credential: Credential | null;
    key_id: string | null;
    address: string;
    operation: string;
    agent_id: string | null;
    agent_name: string | null;
    status: number;
    code: string | null;
    request_id: string;
  };
  agents: {
    id: string;
    account_id: string;
    name: string;
    runtime: string;
    model: string | null;
    instructions: string | null;
    mcp_servers: ColumnType<McpServers, string | undefined, string>;
    agents: ColumnType<string[], string | undefined, string>;
    auto_snapshot: Generated<number>;
    retold: string | null;
    conversation: Generated<number>;
    resources: JSONColumnType<Resources>;
    image: string | null;
    /** The id of the data folder with its machine. */
    host: string | null;
    has_machine: Generated<boolean>;
    desired: DesiredState;
    status: AgentStatus;
    generation: Generated<number>;
    restores: Generated<number>;
    snapshot: string | null;
    forked_from: JSONColumnType<ForkedFrom> | null;
    imported: JSONColumnType<ImportedFrom> | null;
    /** Large: no look-up reads it (`agentColumns` of `agents.ts`). */
    import_detail: JSONColumnType<ImportDetail> | null;
    importing: Generated<boolean>;
    restarts: Generated<number>;
    error: JSONColumnType<Fault> | null;
    install_steps: JSONColumnType<InstallStep[]>;
    created_at: Generated<Date>;
    last_active_at: Generated<Date>;
    metered_until: Generated<Date | null>;
    /** A bigint, which comes as text; in micro-credits. */
    machine_price: Generated<string>;
  };
  /** Requests that have begun a restart, a rollback or a conversation. */
  begun_requests: {
    id: string;
    agent_id: string;
    at: Generated<Date>;
  };
  /** Written only by functions of the database. */
  credit_entries: {
    account_id: string;
    number: string;
    at: Date;
    kind: EntryKind;
    amount: string;
    balance_after: string;
    agent_id: string | null;
    agent_name: string | null;
    turn_id: string | null;
    key_id: string | null;
    model: string | null;
    tokens: JSONColumnType<TokenCounts> | null;
    seconds: string | null;
    memory_mib: number | null;
    note: string | null;
    reference: string | null;
  };
  credit_holds: {
    id: string;
    account_id: string;
    key_id: string | null;
    agent_id: string;
    agent_name: string;
    turn_id: string | null;
    model: string;
    amount: string;
    leased_until: Date;
  };
  turns: {
    id: string;
    agent_id: string;
    key_id: string | null;
    conversation: number;
    message: string;
    instructions: string | null;
    functions: JSONColumnType<ClientFunction[]> | null;
    model: string | null;
    status: TurnStatus;
    usage: JSONColumnType<UsageState>;
    asked_by: string | null;
    undone: Generated<boolean>;
    first_turn: string | null;
    depth: number | null;
    created_at: Generated<Date>;
    finished_at: Date | null;
    /** Measured by the clean-up, some time after the end. */
    bytes: Generated<string | null>;
  };
  snapshots: {
    id: string;
    agent_id: string;
    name: string;
    reason: string;
    runtime: string;
    conversation: number;
    retold: string | null;
    has_memory: boolean;
    bytes: number;
    turn_id: string | null;
    undone: string[];
    created_at: Generated<Date>;
  };
  retold_conversations: { id: string; text: string; created_at: Generated<Date> };
  responses: {
    id: string;
    turn_id: string;
    agent_id: string;
    after_seq: number;
    previous_id: string | null;
    request: JSONColumnType<ResponseRequest>;
    input: JSONColumnType<unknown[]>;
    created_at: Generated<Date>;
  };
  port_shares: {
    id: string;
    agent_id: string;
    port: number;
    secret_hash: Buffer;
    created_at: Generated<Date>;
    expires_at: Date | null;
  };
  dashboard_sessions: {
    id_hash: Buffer;
    account_id: string;
    tokens: Buffer;
    renewing_until: Date | null;
    created_at: Generated<Date>;
    expires_at: Date;
  };
  agent_secrets: {
    agent_id: string;
    name: string;
    hosts: JSONColumnType<string[]>;
    headers: JSONColumnType<string[]>;
    placeholder: string;
    value: Buffer;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
  };
  agent_authorities: { agent_id: string; certificate: string; key: Buffer };
  users: {
    id: string;
    account_id: string;
    name: string;
    name_key: string;
    password_hash: string | null;
    disabled_at: Date | null;
    created_at: Generated<Date>;
  };
  user_links: { token_hash: Buffer; user_id: string | null; expires_at: Date; used_at: Date | null };
  oidc_records: {
    model: string;
    id_hash: Buffer;
    payload: JSONColumnType<object>;
    account_id: string | null;
    grant_id: string | null;
    uid: string | null;
    user_code_hash: Buffer | null;
    consumed_at: Date | null;
    expires_at: Date | null;
  };
  provider_keys: {
    id: string;
    purpose: "tokens" | "cookies";
    value: JSONColumnType<object>;
    created_at: Generated<Date>;
    retires_at: Generated<Date | null>;
  };
  network_rules: { agent_id: string; allow: JSONColumnType<string[]>; deny: JSONColumnType<string[]> };
  network_log: {
    id: string;
    agent_id: string;
    started_at: Date;
    finished_at: Date;
    reason: EgressRefusal | null;
    outcome: EgressOutcome | null;
    host: string;
    port: number | null;
    address: string | null;
    /** Bigints, which come as text. */
    bytes_sent: string;
    bytes_received: string;
    count: number;
  };
  turn_events: { turn_id: string; seq: number; event: JSONColumnType<TurnEvent> };
  host_leases: {
    host: string;
    server: string;
    url: string;
    /** A bigint, which comes as text. */
    epoch: Generated<string>;
    renewed_at: Generated<Date>;
    expires_at: Date;
  };
  tickets: { hash: string; admission: JSONColumnType<StoredAdmission>; expires_at: Date };
  hosts: { id: string; known_since: Generated<Date> };
  removals: { id: string; removed_at: Generated<Date> };
  accepted_orphans: { id: string; accepted_at: Generated<Date> };
}

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

/** As `openDatabase`, in two steps: the pool tells how many connections it has. */
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

/** Ends all connections, and cuts those that do not end in time. */
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

/** The names of all migrations, in their order. */
export async function migrationNames(): Promise<string[]> {
  const files = (await readdir(migrationFolder)).filter((name) => name.endsWith(".sql"));
  return files.map((name) => name.replace(/\.sql$/, "")).toSorted();
}

/** How long a migration waits for a lock: every query on the table queues behind it for that time. */
const migrationLockMs = 2_000;
/** How long a migration is tried again while others hold locks: longer than a backup's dump takes. */
const migrationMs = 60 * 60_000;

/**
 * Brings the schema up to date, or to what it was after the migration `last`. Servers that start at once take turns; only
 * the first migrates. `database` has one connection. A migration that waits for a lock gives way to the queries behind it,
 * and is tried again.
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
