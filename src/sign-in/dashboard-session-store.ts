import { sql } from "kysely";
import type { Database } from "../core/database/database.ts";
import type { StoredSession } from "./dashboard-sessions.ts";

/** Browsers that are signed in to the dashboard. */
export class DashboardSessionStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async insert({ idHash, accountId, tokens }: StoredSession, expiresAt: Date): Promise<void> {
    const row = { id_hash: idHash, account_id: accountId, tokens, expires_at: expiresAt };
    await this.#database.insertInto("dashboard_sessions").values(row).execute();
  }

  /** Null if it has ended. */
  async find(idHash: Buffer): Promise<StoredSession | null> {
    const row = await this.#open().select(["account_id", "tokens"]).where("id_hash", "=", idHash).executeTakeFirst();
    return row ? { idHash, accountId: row.account_id, tokens: row.tokens } : null;
  }

  async ofAccount(accountId: string): Promise<StoredSession[]> {
    const rows = await this.#open().select(["id_hash", "tokens"]).where("account_id", "=", accountId).execute();
    return rows.map(({ id_hash, tokens }) => ({ idHash: id_hash, accountId, tokens }));
  }

  /** False if somebody is renewing its tokens. */
  async beginRenewal(idHash: Buffer, forMs: number): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable("dashboard_sessions")
      .set({ renewing_until: sql<Date>`now() + make_interval(secs => ${forMs / 1000})` })
      .where("id_hash", "=", idHash)
      .where(({ eb, or }) => or([eb("renewing_until", "is", null), eb("renewing_until", "<", sql<Date>`now()`)]))
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** `tokens`: null leaves them unchanged. */
  async endRenewal(idHash: Buffer, tokens: Buffer | null): Promise<void> {
    await this.#database
      .updateTable("dashboard_sessions")
      .set({ renewing_until: null, ...(tokens ? { tokens } : {}) })
      .where("id_hash", "=", idHash)
      .execute();
  }

  async remove(idHash: Buffer): Promise<void> {
    await this.#database.deleteFrom("dashboard_sessions").where("id_hash", "=", idHash).execute();
  }

  #open() {
    return this.#database.selectFrom("dashboard_sessions").where("expires_at", ">", sql<Date>`now()`);
  }
}
