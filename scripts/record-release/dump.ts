import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";

/**
 * The statements that make a database's tables and rows again in an empty database: the migrations as the release has
 * them, then the rows. The timers' tables are absent; a server makes them.
 */
export async function dumpSql(client: pg.Client, migrationsFolder: string): Promise<string> {
  const names = (await readdir(migrationsFolder)).sort();
  const migrations = await Promise.all(names.map((name) => readFile(join(migrationsFolder, name), "utf8")));
  const bookkeeping = [
    "create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null);",
    "create table kysely_migration_lock (id varchar(255) not null primary key, is_locked integer default 0 not null);",
  ];
  const schema = names.map((name, index) => `-- ${name}\n${migrations[index]!.trim()}`);
  // Migrations insert rows too, and triggers would add events.
  const begin = ["set session_replication_role = replica;", "truncate account_event_counter;"];
  return [...bookkeeping, ...schema, ...begin, ...(await rowsOf(client)), ""].join("\n\n");
}

async function rowsOf(client: pg.Client): Promise<string[]> {
  const { rows: tables } = await client.query<{ name: string; columns: string[]; sequences: (string | null)[] }>(`
    select c.table_name as name, array_agg(c.column_name::text order by c.ordinal_position) as columns,
      array_agg(pg_get_serial_sequence(quote_ident(c.table_name), c.column_name)) as sequences
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
    group by c.table_name order by c.table_name`);
  const statements: string[] = [];
  for (const { name, columns, sequences } of tables) {
    const table = pg.escapeIdentifier(name);
    const list = columns.map(pg.escapeIdentifier);
    const { rows } = await client.query<string[]>({
      text: `select ${list.map((column) => `${column}::text`).join(", ")} from ${table} order by ${table}::text`,
      rowMode: "array",
    });
    if (rows.length === 0) throw new Error(`the release's table ${name} has no row: add one`);
    const values = rows.map((row) => `(${row.map(literalOf).join(", ")})`).join(",\n");
    statements.push(`insert into ${table} (${list.join(", ")}) overriding system value values\n${values};`);
    for (const sequence of sequences.filter((each) => each !== null)) {
      statements.push(`select setval(${pg.escapeLiteral(sequence)}, (select max(id) from ${table}));`);
    }
  }
  return statements;
}

const literalOf = (value: string | null) => (value === null ? "null" : pg.escapeLiteral(value));
