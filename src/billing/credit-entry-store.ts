import { type RawBuilder, sql } from "kysely";
import type { EntryKind } from "../contract/billing.ts";
import type { Database } from "../core/database/database.ts";
import type { TokenCounts } from "./ledger.ts";

/** A new entry. Omitted fields are null. The database sets number, time and balance. */
interface NewEntry {
  account_id: string;
  kind: EntryKind;
  /** Micro-credits; negative: spent. */
  amount: number;
  agent_id?: string;
  agent_name?: string;
  turn_id?: string | null;
  key_id?: string | null;
  model?: string;
  tokens?: TokenCounts;
  /** Micro-credits: the list price of a call that the workspace paid itself. */
  listed?: number;
  note?: string | null;
  /** The entry's purpose; an entry of a kind is written only once per reference. */
  reference?: string;
}

/** The entry in the form of the database's functions. */
export function entryRow(entry: NewEntry): RawBuilder<unknown> {
  return sql`jsonb_populate_record(null::credit_entries, ${JSON.stringify(entry)}::jsonb)`;
}

/** Adds an entry to an account's ledger. False if there already is one with its kind and reference. */
export async function writeEntry(database: Database, entry: NewEntry): Promise<boolean> {
  const { rows } = await sql<{ written: boolean }>`select write_credit_entry(${entryRow(entry)}) as written`.execute(
    database,
  );
  return rows[0]!.written;
}

/** Gives an account its starting credits, once. */
export async function writeStartingEntry(database: Database, accountId: string, micro: number): Promise<void> {
  await writeEntry(database, { account_id: accountId, kind: "starting", amount: micro, reference: accountId });
}
