import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Database } from "../core/database/database.ts";
import type { Sealing } from "../core/http/idempotency-store.ts";

/** `tokens` and `cookies` are the identity provider's; `push` signs messages to push services. */
export type KeyPurpose = "tokens" | "cookies" | "push";

/**
 * The keys for a purpose, newest first. If `sealing` can open none, `make` creates one; of several servers that start
 * at once, only one does. Keys are stored encrypted, so a copy of the database is not enough to forge tokens.
 */
export async function providerKeys<Key extends object>(
  database: Database,
  sealing: Sealing,
  purpose: KeyPurpose,
  make: () => Promise<Key>,
): Promise<Key[]> {
  return database.transaction().execute(async (transaction) => {
    await sql`lock table provider_keys in share row exclusive mode`.execute(transaction);
    const rows = await transaction
      .selectFrom("provider_keys")
      .select(["id", "value"])
      .where("purpose", "=", purpose)
      .where(isInUse)
      .orderBy("created_at", "desc")
      .execute();
    const keys = rows.map((row) => opened<Key>(sealing, purpose, row)).filter((key) => key !== null);
    if (keys.length > 0) return keys;
    const key = await make();
    await transaction
      .insertInto("provider_keys")
      .values(sealedKey(sealing, purpose, key))
      .execute();
    return [key];
  });
}

/** Replaces the identity provider's keys. The older ones are valid until `retiresAt`. */
export async function replaceProviderKeys(
  database: Database,
  sealing: Sealing,
  made: Record<"tokens" | "cookies", object>,
  retiresAt: Date,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await sql`lock table provider_keys in share row exclusive mode`.execute(transaction);
    await transaction.deleteFrom("provider_keys").where("retires_at", "<", new Date()).execute();
    await transaction
      .updateTable("provider_keys")
      .set({ retires_at: sql`least(retires_at, ${retiresAt})` })
      .where("purpose", "in", ["tokens", "cookies"])
      .execute();
    const rows = [sealedKey(sealing, "tokens", made.tokens), sealedKey(sealing, "cookies", made.cookies)];
    await transaction.insertInto("provider_keys").values(rows).execute();
  });
}

const isInUse = sql<boolean>`(retires_at is null or retires_at > now())`;

export function sealedKey(sealing: Sealing, purpose: KeyPurpose, key: object) {
  const id = randomUUID();
  const sealed = sealing.seal(JSON.stringify(key), contextOf(purpose, id)).toString("base64");
  return { id, purpose, value: JSON.stringify({ sealed }) };
}

/** Null if the key was encrypted with another secret key. */
function opened<Key>(sealing: Sealing, purpose: KeyPurpose, { id, value }: { id: string; value: object }): Key | null {
  const { sealed } = value as { sealed?: string };
  const text = sealed === undefined ? null : sealing.open(Buffer.from(sealed, "base64"), contextOf(purpose, id));
  return text === null ? null : (JSON.parse(text) as Key);
}

/** Binds ciphertext to its row. */
function contextOf(purpose: KeyPurpose, id: string): string {
  return JSON.stringify(["provider_keys", purpose, id]);
}
