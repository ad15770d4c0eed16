import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import type { KeptMachine } from "../../contract/backups.ts";
import { migrate, migrationNames, openDatabase } from "./database.ts";
import { DumpRecord, dumpRecordFile, tableFile } from "./dump.ts";

/** Changes to a backup's rows when they are restored. */
export interface Restoration {
  hostId: string;
  machines: readonly KeptMachine[];
  /** A new key of the operator, since backups contain none. */
  operatorKey: { prefix: string; hash: Buffer };
}

/**
 * Fills an empty database with a dump: its schema, its rows, and the changes of the restoration. All rows or none. The
 * next server migrates the schema. Throws if the database is not empty, and for a dump of a newer Berth.
 */
export async function loadDatabase(connection: pg.PoolConfig, folder: string, restoration: Restoration): Promise<void> {
  const record = DumpRecord.parse(JSON.parse(await readFile(join(folder, dumpRecordFile), "utf8")));
  const known = await migrationNames();
  const unknown = record.migrations.find((name, at) => known[at] !== name);
  if (unknown !== undefined || record.migrations.length === 0) {
    throw new Error("A newer Berth made this backup: restore it with one of that version, or newer.");
  }
  await requireEmpty(connection);
  const database = openDatabase({ ...connection, max: 1 }, () => {});
  try {
    await migrate(database, record.migrations.at(-1));
  } finally {
    await database.destroy();
  }
  const client = new pg.Client(connection);
  await client.connect();
  client.on("error", () => {}); // The query rejects.
  try {
    await client.query("begin");
    await load(client, folder, record);
    await restore(client, restoration);
    await queueForSearch(client);
    await setTriggers(client, record, "enable");
    await client.query("commit");
  } finally {
    await client.end();
  }
}

async function requireEmpty(connection: pg.PoolConfig): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    const { rows } = await client.query(
      "select 1 from information_schema.tables where table_schema = current_schema() limit 1",
    );
    if (rows.length > 0) throw new Error("The database is not empty: a backup is restored into a new one.");
  } finally {
    await client.end();
  }
}

async function load(client: pg.Client, folder: string, { tables, sequences, ...record }: DumpRecord): Promise<void> {
  // Triggers would write derived rows twice, and charge machines for the time since.
  await setTriggers(client, { ...record, tables, sequences }, "disable");
  const names = tables.map(({ name }) => pg.escapeIdentifier(name));
  // Migrations have inserted rows.
  await client.query(`truncate ${names.join(", ")} cascade`);
  const columnsOf = new Map(tables.map(({ name, columns }) => [name, columns]));
  for (const name of await inOrder(client, [...columnsOf.keys()])) {
    const columns = columnsOf.get(name)!.map(pg.escapeIdentifier).join(", ");
    const rows = client.query(copyFrom(`copy ${pg.escapeIdentifier(name)} (${columns}) from stdin`));
    await pipeline(createReadStream(join(folder, tableFile(name))), rows);
  }
  for (const { table, column, next } of sequences) {
    await client.query("select setval(pg_get_serial_sequence(quote_ident($1), $2), $3, false)", [table, column, next]);
  }
}

async function setTriggers(client: pg.Client, { tables }: DumpRecord, how: "enable" | "disable"): Promise<void> {
  for (const { name } of tables) await client.query(`alter table ${pg.escapeIdentifier(name)} ${how} trigger user`);
}

/** Orders each table after the tables that it references. */
async function inOrder(client: pg.Client, tables: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ table: string; other: string }>(`
    select distinct child.relname as table, parent.relname as other
    from pg_constraint join pg_class child on child.oid = conrelid join pg_class parent on parent.oid = confrelid
    where contype = 'f' and child.oid <> parent.oid`);
  const ordered: string[] = [];
  const visit = (table: string) => {
    if (ordered.includes(table)) return;
    for (const { other } of rows.filter((row) => row.table === table)) visit(other);
    ordered.push(table);
  };
  for (const table of tables) visit(table);
  return ordered;
}

/**
 * Suspends the agents as of their machines' snapshots. Turns that ended later are undone, as after a rollback. The time
 * since is not charged.
 */
async function restore(client: pg.Client, { hostId, machines, operatorKey }: Restoration): Promise<void> {
  await client.query(
    `update agents set
       generation = generation + 1,
       desired = case desired when 'running' then 'suspended' else desired end,
       status = case when status = 'ready' or status = 'provisioning' and has_machine then 'suspended' else status end,
       metered_until = null
     where host = $1 and (status <> 'provisioning' or has_machine)`,
    [hostId],
  );
  for (const { agent, snapshot, at, runtime, conversation, retold } of machines) {
    // The memory belongs to the runtime and the conversation of that time.
    await client.query(
      `update agents set restores = restores + 1, snapshot = $2, runtime = $3, conversation = $4 where id = $1`,
      [agent, snapshot, runtime, conversation],
    );
    if (retold !== undefined) await client.query("update agents set retold = $2 where id = $1", [agent, retold]);
    await client.query(
      "update turns set undone = true where agent_id = $1 and status <> 'running' and finished_at > $2",
      [agent, at],
    );
  }
  await failRunningTurns(client, hostId);
  // The servers that held them are gone: the next one releases them when it starts.
  await client.query("update credit_holds set leased_until = '-infinity'");
  await client.query(
    `insert into api_keys (id, account_id, name, kind, prefix, hash)
     select gen_random_uuid(), id, 'operator, of the restored backup', 'full', $1, $2 from accounts where operator`,
    [operatorKey.prefix, operatorKey.hash],
  );
}

/** The search finds the turns once they are stored for it. The schema of a backup from before the search queues them later. */
async function queueForSearch(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ exists: boolean }>("select to_regclass('search_queue') is not null as exists");
  if (!rows[0]!.exists) return;
  await client.query(
    `insert into search_queue (turn_id)
     select id from turns where status not in ('queued', 'running') order by created_at`,
  );
}

/** Fails turns that ran then, and keeps their partial responses. Their agents' queues are held. */
async function failRunningTurns(client: pg.Client, hostId: string): Promise<void> {
  const error = { code: "machine_lost", message: "The service was restored from a backup that was made in this turn." };
  await client.query(
    `with ended as (
       update turns set status = 'failed', finished_at = now(), undone = true
       where status = 'running' and agent_id in (select id from agents where host = $1) returning id
     )
     insert into turn_events (turn_id, seq, event)
     select id, coalesce((select max(seq) from turn_events where turn_id = ended.id), 0) + 1, $2::jsonb from ended`,
    [hostId, JSON.stringify({ type: "response.failed", error })],
  );
  await client.query(
    "update agents set queue_held = coalesce(queue_held, 'failed') where host = $1 and queue_length > 0",
    [hostId],
  );
}
