import { type Selectable, sql } from "kysely";
import type { Database } from "../core/database/database.ts";
import type { Tables } from "../core/database/tables.ts";

/** The identity provider's records. `model` is the provider's name for their kind. */
export class ProviderRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Keeps a stored user code: a record found by its id is stored again without it. */
  async upsert(
    model: string,
    idHash: Buffer,
    payload: object,
    index: {
      accountId: string | null;
      grantId: string | null;
      uid: string | null;
      userCodeHash: Buffer | null;
      expiresAt: Date | null;
    },
  ): Promise<void> {
    const values = {
      payload: JSON.stringify(payload),
      account_id: index.accountId,
      grant_id: index.grantId,
      uid: index.uid,
      expires_at: index.expiresAt,
    };
    await this.#database
      .insertInto("oidc_records")
      .values({ model, id_hash: idHash, user_code_hash: index.userCodeHash, ...values })
      .onConflict((conflict) =>
        conflict.columns(["model", "id_hash"]).doUpdateSet({
          ...values,
          user_code_hash: sql`coalesce(excluded.user_code_hash, oidc_records.user_code_hash)`,
        }),
      )
      .execute();
  }

  async find(model: string, idHash: Buffer): Promise<StoredRecord | null> {
    return fromRow(await this.#of(model).where("id_hash", "=", idHash).executeTakeFirst());
  }

  async findByUid(model: string, uid: string): Promise<StoredRecord | null> {
    return fromRow(await this.#of(model).where("uid", "=", uid).executeTakeFirst());
  }

  async findByUserCode(model: string, userCodeHash: Buffer): Promise<StoredRecord | null> {
    return fromRow(await this.#of(model).where("user_code_hash", "=", userCodeHash).executeTakeFirst());
  }

  /** False if it was already consumed; of two concurrent calls, only one returns true. */
  async consume(model: string, idHash: Buffer): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable("oidc_records")
      .set({ consumed_at: new Date() })
      .where("model", "=", model)
      .where("id_hash", "=", idHash)
      .where("consumed_at", "is", null)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async destroy(model: string, idHash: Buffer): Promise<void> {
    const records = this.#database.deleteFrom("oidc_records").where("model", "=", model);
    await records.where("id_hash", "=", idHash).execute();
  }

  async revokeByGrantId(model: string, grantId: string): Promise<void> {
    const records = this.#database.deleteFrom("oidc_records").where("model", "=", model);
    await records.where("grant_id", "=", grantId).execute();
  }

  /** Whether a user has allowed a client to act, and has not ended it. */
  async hasGrant(accountId: string, clientId: string): Promise<boolean> {
    const grants = this.#of("Grant").where("account_id", "=", accountId).where("expires_at", ">", new Date());
    const found = await grants.where(sql`payload ->> 'clientId'`, "=", clientId).limit(1).executeTakeFirst();
    return found !== undefined;
  }

  #of(model: string) {
    return this.#database.selectFrom("oidc_records").selectAll().where("model", "=", model);
  }
}

/** A record of the provider: a session, a code, a refresh token, … */
export interface StoredRecord {
  /** The SHA-256 of its id. */
  idHash: Buffer;
  payload: object;
  consumedAt: Date | null;
}

function fromRow(row: Selectable<Tables["oidc_records"]> | undefined): StoredRecord | null {
  return row ? { idHash: row.id_hash, payload: row.payload, consumedAt: row.consumed_at } : null;
}
