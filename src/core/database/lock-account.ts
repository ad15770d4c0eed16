import type { Transaction } from "kysely";
import type { Tables } from "./tables.ts";

/** Until the end of the transaction, others that lock this account wait. */
export async function lockAccount(transaction: Transaction<Tables>, accountId: string): Promise<void> {
  await transaction.selectFrom("accounts").select("id").where("id", "=", accountId).forNoKeyUpdate().execute();
}
