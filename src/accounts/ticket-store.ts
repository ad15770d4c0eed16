import type { Database } from "../core/database/database.ts";
import type { StoredAdmission } from "./tickets.ts";

/** Unused tickets. The clean-up removes expired ones. */
export class TicketStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async insert(hash: string, admission: StoredAdmission, expiresAt: Date): Promise<void> {
    const row = { hash, admission: JSON.stringify(admission), expires_at: expiresAt };
    await this.#database.insertInto("tickets").values(row).execute();
  }

  /** Removes a ticket; null if there is none, or it has expired. */
  async take(hash: string): Promise<StoredAdmission | null> {
    const taken = this.#database.deleteFrom("tickets").where("hash", "=", hash).returning(["admission", "expires_at"]);
    const row = await taken.executeTakeFirst();
    return row && row.expires_at.getTime() > Date.now() ? row.admission : null;
  }
}
