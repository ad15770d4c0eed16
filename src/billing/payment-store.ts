import type { EntryKind } from "../contract/billing.ts";
import { isUuid } from "../contract/ids.ts";
import type { Database } from "../core/database/database.ts";
import { writeEntry } from "./credit-entry-store.ts";

/** Payments as ledger entries. */
export class Payments {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Adds `micro` micro-credits to an account, once per reference. False if this was done before, or there is no
   * account.
   */
  async enter(entry: {
    accountId: string;
    kind: Extract<EntryKind, "top_up" | "refund">;
    micro: number;
    reference: string;
    note: string;
  }): Promise<boolean> {
    const { accountId, kind, micro, reference, note } = entry;
    const accounts = this.#database.selectFrom("accounts").select("id");
    const known = isUuid(accountId) && (await accounts.where("id", "=", accountId).executeTakeFirst());
    if (!known) return false;
    return writeEntry(this.#database, { account_id: accountId, kind, amount: micro, reference, note });
  }

  /** The account that made a payment; null if there is none. */
  async accountOf(payment: string): Promise<string | null> {
    const entries = this.#database.selectFrom("credit_entries").select("account_id");
    const paid = entries.where("kind", "=", "top_up").where("reference", "=", payment);
    return (await paid.executeTakeFirst())?.account_id ?? null;
  }
}
