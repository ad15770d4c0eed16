import { sql } from "kysely";
import type { Spender } from "../../src/billing/ledger.ts";
import type { Database } from "../../src/core/database/database.ts";

/** Inconsistencies in these accounts, each query in one snapshot of the database. */
export async function ledgerFaults(database: Database, spenders: readonly Spender[]): Promise<unknown[]> {
  const ids = spenders.map(({ accountId }) => accountId);
  const { rows } = await sql`
    select account.id, account.balance, account.held, account.own_held, account.entries, summed.*, holds.* from accounts account,
      lateral (select coalesce(sum(amount), 0) as amount, count(*) as count, coalesce(max(number), 0) as last,
        coalesce(sum(coalesce(listed, -amount)) filter (where kind = 'model'), 0) as spent
        from credit_entries where account_id = account.id) summed,
      lateral (select coalesce(sum(amount) filter (where not own), 0) as kept,
        coalesce(sum(amount) filter (where own), 0) as own from credit_holds where account_id = account.id) holds
    where account.id = any(${ids}::uuid[]) and (
      account.balance, account.held, account.own_held, account.entries, account.entries, account.month_spent
    ) <> (summed.amount, holds.kept, holds.own, summed.count, summed.last, summed.spent)`.execute(database);
  const { rows: keys } = await sql`
    select key.id, key.spent, key.held from api_keys key
    where key.account_id = any(${ids}::uuid[]) and (key.spent, key.held) <> (
      (select coalesce(sum(coalesce(listed, -amount)), 0) from credit_entries where key_id = key.id),
      (select coalesce(sum(amount), 0) from credit_holds where key_id = key.id))`.execute(database);
  const { rows: entries } = await sql`
    select account_id, number from (
      select *, sum(amount) over (partition by account_id order by number) as running from credit_entries) entry
    where account_id = any(${ids}::uuid[]) and balance_after <> running`.execute(database);
  return [...rows, ...keys, ...entries];
}
