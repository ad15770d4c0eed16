import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Database } from "../database/database.ts";
import type { Claim, Found, KeptAnswer, KeyedRequest } from "./attempt.ts";

/** Encrypts secrets in the database. `context` names the owner; `open` needs the same one. */
export interface Sealing {
  seal(text: string, context: string): Buffer;
  /** Null if it was encrypted with another key or context. */
  open(sealed: Buffer, context: string): string | null;
}

/** How long a claim lasts without renewal. Like all times here, by the database's clock. */
const lease = sql<Date>`now() + interval '10 seconds'`;

export class IdempotencyStore {
  readonly #database: Database;
  readonly #sealing: Sealing;

  constructor(database: Database, sealing: Sealing) {
    this.#database = database;
    this.#sealing = sealing;
  }

  async claim(request: KeyedRequest): Promise<Found> {
    for (;;) {
      const row = await this.#find(request);
      if (!row) {
        const claim = await this.#begin(request);
        if (claim) return { state: "claimed", claim, again: false };
        continue; // Another request was first.
      }
      const { owner, resource_id: resourceId, status, headers, body } = row;
      if (row.outdated) {
        await this.#remove(owner);
        continue;
      }
      if (!row.fingerprint.equals(request.fingerprint)) return { state: "reused" };
      if (status !== null) {
        const text = body && this.#sealing.open(body, contextOf(request));
        if (body !== null && text === null) return { state: "unreadable" };
        return { state: "answered", resourceId, answer: { status, headers: headers ?? {}, body: text } };
      }
      if (!row.abandoned) return { state: "running" };
      const claim = await this.#takeOver(request, owner, resourceId);
      if (claim) return { state: "claimed", claim, again: true };
    }
  }

  async renew({ owner }: Claim): Promise<void> {
    await this.#unanswered(owner).set({ leased_until: lease }).execute();
  }

  async move({ owner }: Claim, resourceId: string): Promise<void> {
    await this.#unanswered(owner).set({ resource_id: resourceId }).execute();
  }

  async answer({ owner, request }: Claim, { status, headers, body }: KeptAnswer): Promise<boolean> {
    const sealed = body === null ? null : this.#sealing.seal(body, contextOf(request));
    const { numUpdatedRows } = await this.#unanswered(owner)
      .set({ status, headers: JSON.stringify(headers), body: sealed })
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  async release({ owner }: Claim): Promise<void> {
    await this.#unanswered(owner)
      .set({ leased_until: new Date(0) })
      .execute();
  }

  async #find({ accountId, keyId, personId, key }: KeyedRequest) {
    return this.#database
      .selectFrom("idempotency_keys")
      .select(["owner", "resource_id", "fingerprint", "status", "headers", "body"])
      .select(sql<boolean>`created_at < now() - interval '24 hours'`.as("outdated"))
      .select(sql<boolean>`leased_until < now()`.as("abandoned"))
      .where("account_id", "=", accountId)
      .where("key_id", keyId === null ? "is" : "=", keyId)
      .where("person_id", personId === null ? "is" : "=", personId)
      .where("key", "=", key)
      .executeTakeFirst();
  }

  async #begin(request: KeyedRequest): Promise<Claim | null> {
    const claim = { request, owner: randomUUID(), resourceId: randomUUID() };
    const { numInsertedOrUpdatedRows } = await this.#database
      .insertInto("idempotency_keys")
      .values({
        owner: claim.owner,
        resource_id: claim.resourceId,
        leased_until: lease,
        account_id: request.accountId,
        key_id: request.keyId,
        person_id: request.personId,
        key: request.key,
        fingerprint: request.fingerprint,
      })
      .onConflict((conflict) => conflict.columns(["account_id", "key_id", "person_id", "key"]).doNothing())
      .executeTakeFirst();
    return numInsertedOrUpdatedRows === 1n ? claim : null;
  }

  /** Of several requests that find the owner gone, one takes over. */
  async #takeOver(request: KeyedRequest, gone: string, resourceId: string): Promise<Claim | null> {
    const owner = randomUUID();
    const { numUpdatedRows } = await this.#unanswered(gone)
      .set({ owner, leased_until: lease })
      .where("leased_until", "<", sql<Date>`now()`)
      .executeTakeFirst();
    return numUpdatedRows > 0n ? { request, owner, resourceId } : null;
  }

  #unanswered(owner: string) {
    return this.#database.updateTable("idempotency_keys").where("owner", "=", owner).where("status", "is", null);
  }

  async #remove(owner: string): Promise<void> {
    await this.#database.deleteFrom("idempotency_keys").where("owner", "=", owner).execute();
  }
}

/** Binds ciphertext to its row. */
function contextOf({ accountId, keyId, key }: KeyedRequest): string {
  return JSON.stringify(["idempotency", accountId, keyId, key]);
}
