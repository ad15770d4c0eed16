import { type RawBuilder, sql } from "kysely";
import type { EntryKind } from "../contract/billing.ts";
import type { TokenCounts } from "../service/ledger.ts";
import type { Database } from "./database.ts";

/** An entry that is to be written: what is not told is null. Number, time and balance are the database's to set. */
interface NewEntry {
  account_id: string;
  kind: EntryKind;
  /** Micro-credits; below 0: spent. */
  amount: number;
  agent_id?: string;
  agent_name?: string;
  turn_id?: string | null;
  key_id?: string | null;
  model?: string;
  tokens?: TokenCounts;
  note?: string | null;
  /** What it is written for, once. */
  reference?: string;
}

/** The entry as the functions of the database take it. */
export function entryRow(entry: NewEntry): RawBuilder<unknown> {
  return sql`jsonb_populate_record(null::credit_entries, ${JSON.stringify(entry)}::jsonb)`;
}

/** Adds an entry to an account's ledger. False when there is one of its kind and reference already. */
export async function writeEntry(database: Database, entry: NewEntry): Promise<boolean> {
  const { rows } = await sql<{ written: boolean }>`select write_credit_entry(${entryRow(entry)}) as written`.execute(
    database,
  );
  return rows[0]!.written;
}

/** Gives an account what it begins with, once. */
export async function writeStartingEntry(database: Database, accountId: string, micro: number): Promise<void> {
  await writeEntry(database, { account_id: accountId, kind: "starting", amount: micro, reference: accountId });
}
