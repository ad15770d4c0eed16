import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Database } from "./database.ts";

/** What a valid key stands for. */
export interface Caller {
  accountId: string;
  keyId: string;
}

/** Accounts and their keys. */
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
        .where("name", "=", "operator")
        .executeTakeFirst();
      if (exists) return false;
      const accountId = randomUUID();
      await transaction.insertInto("accounts").values({ id: accountId, name: "operator" }).execute();
      await transaction
        .insertInto("api_keys")
        .values({ id: randomUUID(), account_id: accountId, name: "operator", ...key })
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

  /** The caller whose key has this hash; null for an unknown, expired or revoked one. */
  async byKeyHash(hash: Buffer): Promise<Caller | null> {
    const row = await this.#database
      .selectFrom("api_keys")
      .select(["id", "account_id"])
      .where("hash", "=", hash)
      .where("revoked_at", "is", null)
      .where((where) => where.or([where("expires_at", "is", null), where("expires_at", ">", new Date())]))
      .executeTakeFirst();
    return row ? { accountId: row.account_id, keyId: row.id } : null;
  }
}
