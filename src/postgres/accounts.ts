import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Database } from "./database.ts";

/** The accounts. */
export class Accounts {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Makes the operator's account with its first key, unless there is one; `publish` hands the key out, and if it
   * rejects nothing was made. Answers whether it was made.
   */
  async createOperator(key: { prefix: string; hash: Buffer }, publish: () => Promise<void>): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      // Two servers may start at once on one database: the second waits here, and then sees the first one's account.
      await sql`lock table accounts in share row exclusive mode`.execute(transaction);
      const exists = await transaction
        .selectFrom("accounts")
        .select("id")
        .where("operator", "=", true)
        .executeTakeFirst();
      if (exists) return false;
      const accountId = randomUUID();
      await transaction.insertInto("accounts").values({ id: accountId, name: "operator", operator: true }).execute();
      await transaction
        .insertInto("api_keys")
        .values({ id: randomUUID(), account_id: accountId, name: "operator", kind: "full", ...key })
        .execute();
      await publish();
      return true;
    });
  }

  /** Whether there is another account than this. */
  async othersThan(accountId: string): Promise<boolean> {
    const other = await this.#database
      .selectFrom("accounts")
      .select("id")
      .where("id", "!=", accountId)
      .limit(1)
      .executeTakeFirst();
    return other !== undefined;
  }
}
