import type { JSONColumnType } from "kysely";
import type { EntryKind } from "../contract/billing.ts";
import type { TokenCounts } from "./ledger.ts";

/** The tables of billing, after all migrations. */
export interface BillingTables {
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
    listed: string | null;
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
    own: boolean;
    leased_until: Date;
  };
}
