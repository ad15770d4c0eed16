import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Database } from "./database.ts";

/** What the identity provider signs its tokens and its cookies with. */
export type KeyPurpose = "tokens" | "cookies";

/**
 * The keys for a purpose, the newest first. Where there are none, `make` makes the first; of several servers that start
 * at once, one.
 */
export async function providerKeys<Key extends object>(
  database: Database,
  purpose: KeyPurpose,
  make: () => Promise<Key>,
): Promise<Key[]> {
  return database.transaction().execute(async (transaction) => {
    await sql`lock table provider_keys in share row exclusive mode`.execute(transaction);
    const rows = await transaction
      .selectFrom("provider_keys")
      .select("value")
      .where("purpose", "=", purpose)
      .orderBy("created_at", "desc")
      .execute();
    if (rows.length > 0) return rows.map(({ value }) => value as Key);
    const value = await make();
    await transaction
      .insertInto("provider_keys")
      .values({ id: randomUUID(), purpose, value: JSON.stringify(value) })
      .execute();
    return [value];
  });
}
