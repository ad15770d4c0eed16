import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Database } from "./database.ts";
import type { Sealing } from "./idempotency.ts";

/** What the identity provider signs its tokens and its cookies with. */
export type KeyPurpose = "tokens" | "cookies";

/**
 * The keys for a purpose, the newest first. Where there are none that `sealing` opens, `make` makes the first; of several
 * servers that start at once, one. They are kept sealed: with a copy of the database alone nobody makes tokens.
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

/** A key as its row has it. */
export function sealedKey(sealing: Sealing, purpose: KeyPurpose, key: object) {
  const id = randomUUID();
  const sealed = sealing.seal(JSON.stringify(key), contextOf(purpose, id)).toString("base64");
  return { id, purpose, value: JSON.stringify({ sealed }) };
}

/** Null for one that was sealed with another secret key. */
function opened<Key>(sealing: Sealing, purpose: KeyPurpose, { id, value }: { id: string; value: object }): Key | null {
  const { sealed } = value as { sealed?: string };
  const text = sealed === undefined ? null : sealing.open(Buffer.from(sealed, "base64"), contextOf(purpose, id));
  return text === null ? null : (JSON.parse(text) as Key);
}

/** A sealed key is of no use in another's row. */
function contextOf(purpose: KeyPurpose, id: string): string {
  return JSON.stringify(["provider_keys", purpose, id]);
}
