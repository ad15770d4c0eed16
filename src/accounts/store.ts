import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { writeStartingEntry } from "../billing/credit-entry-store.ts";
import type { Database } from "../core/database/database.ts";

export class AccountStore {
  readonly #database: Database;
  readonly #startingCredits: number;

  /** `startingCredits`: the micro-credits of a new account. */
  constructor(database: Database, startingCredits: number) {
    this.#database = database;
    this.#startingCredits = startingCredits;
  }

  /**
   * Creates the operator's account with its first key, unless there is one. `publish` hands out the key; if it rejects,
   * nothing is created. Returns whether the account was created.
   */
  async createOperator(key: { prefix: string; hash: Buffer }, publish: () => Promise<void>): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      // Another server that starts at the same time on this database waits here and then sees the first one's account.
      await sql`lock table accounts in share row exclusive mode`.execute(transaction);
      const exists = await transaction
        .selectFrom("accounts")
        .select("id")
        .where("operator", "=", true)
        .executeTakeFirst();
      if (exists) return false;
      const accountId = randomUUID();
      await transaction.insertInto("accounts").values({ id: accountId, name: "operator", operator: true }).execute();
      await writeStartingEntry(transaction, accountId, this.#startingCredits);
      await transaction
        .insertInto("api_keys")
        .values({ id: randomUUID(), account_id: accountId, name: "operator", kind: "full", ...key })
        .execute();
      await publish();
      return true;
    });
  }

  /** Gives starting credits to personal workspaces created before there were credits. */
  async startCredits(): Promise<void> {
    const accounts = this.#database
      .selectFrom("accounts")
      .select("id")
      .where("entries", "=", "0")
      .where("name_key", "is", null);
    for (const { id } of await accounts.execute()) {
      await writeStartingEntry(this.#database, id, this.#startingCredits);
    }
  }

  async isEnabled(accountId: string): Promise<boolean> {
    const accounts = this.#database.selectFrom("accounts").select("id").where("id", "=", accountId);
    return (await accounts.where("disabled_at", "is", null).executeTakeFirst()) !== undefined;
  }

  async nameOf(accountId: string): Promise<string> {
    const accounts = this.#database.selectFrom("accounts").select("name");
    return (await accounts.where("id", "=", accountId).executeTakeFirstOrThrow()).name;
  }

  /** Whether there are accounts other than this one. */
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
