import { createWriteStream } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { z } from "zod";

/** A dump's content in addition to its tables' rows. */
export const DumpRecord = z.object({
  /** The applied migrations, in order. */
  migrations: z.array(z.string()),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()) })),
  /** The next value of each id counter. */
  sequences: z.array(z.object({ table: z.string(), column: z.string(), next: z.string() })),
});
export type DumpRecord = z.infer<typeof DumpRecord>;

/** The dump's record. Each table is in a file of its own name. */
export const dumpRecordFile = "dump.json";

export const tableFile = (table: string) => `${table}.copy`;

/** An agent in a dump that has a machine. */
interface DumpedAgent {
  id: string;
  name: string;
}

/**
 * The schema's own bookkeeping, which migrations recreate, rows that are valid for a few minutes only, and the search's
 * index, which follows from the turns.
 */
const bookkeeping = /^(kysely_|acme_challenges$|host_leases$|search_|tickets$)/;

/** No row is read for longer than this, in milliseconds: a reader that hangs would keep old rows in the database. */
const statementTimeoutMs = 30 * 60_000;

/**
 * Writes all rows of all tables from one snapshot, while others keep writing: PostgreSQL's text format, a file for each
 * table. Leaves out the timers' tables, since timers follow from the rows. Returns this host's agents that have a
 * machine in that snapshot.
 */
export async function dumpDatabase(connection: pg.PoolConfig, folder: string, host: string): Promise<DumpedAgent[]> {
  await mkdir(folder, { mode: 0o700 });
  const client = new pg.Client({ ...connection, statement_timeout: statementTimeoutMs });
  await client.connect();
  client.on("error", () => {}); // The query rejects.
  try {
    // The first query fixes the snapshot for all.
    await client.query("begin isolation level repeatable read read only");
    const record = await describe(client);
    for (const { name, columns } of record.tables) {
      const text = `copy ${pg.escapeIdentifier(name)} (${columns.map(pg.escapeIdentifier).join(", ")}) to stdout`;
      await pipeline(client.query(copyTo(text)), createWriteStream(join(folder, tableFile(name)), { mode: 0o600 }));
    }
    const { rows } = await client.query<DumpedAgent>(
      "select id, name from agents where host = $1 and has_machine and desired <> 'deleted'",
      [host],
    );
    await client.query("commit");
    await writeFile(join(folder, dumpRecordFile), JSON.stringify(record), { mode: 0o600 });
    return rows;
  } finally {
    await client.end();
  }
}

async function describe(client: pg.Client): Promise<DumpRecord> {
  const migrations = await client.query<{ name: string }>("select name from kysely_migration order by name");
  const { rows } = await client.query<{ table: string; column: string; sequence: string | null }>(`
    select c.table_name as table, c.column_name as column,
      pg_get_serial_sequence(quote_ident(c.table_schema) || '.' || quote_ident(c.table_name), c.column_name) as sequence
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = current_schema() and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
    order by c.table_name, c.ordinal_position`);
  const tables = new Map<string, string[]>();
  const sequences: DumpRecord["sequences"] = [];
  for (const { table, column, sequence } of rows.filter(({ table }) => !bookkeeping.test(table))) {
    tables.set(table, [...(tables.get(table) ?? []), column]);
    if (sequence !== null) sequences.push({ table, column, next: await nextOf(client, sequence) });
  }
  return {
    migrations: migrations.rows.map(({ name }) => name),
    tables: [...tables].map(([name, columns]) => ({ name, columns })),
    sequences,
  };
}

/** Sequences are outside of transactions: the value may be later, which skips ids. */
async function nextOf(client: pg.Client, sequence: string): Promise<string> {
  const { rows } = await client.query<{ next: string }>(
    `select (last_value + case when is_called then 1 else 0 end)::text as next from ${sequence}`,
  );
  return rows[0]!.next;
}
