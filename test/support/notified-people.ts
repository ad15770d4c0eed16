import { randomUUID } from "node:crypto";
import type { Database } from "../../src/core/database/database.ts";

/** Adds people to an account who get notifications at a topic of an ntfy server each. Returns their ids and topics. */
export async function addNotifiedPeople(
  database: Database,
  accountId: string,
  { count, ntfyUrl }: { count: number; ntfyUrl: string },
): Promise<{ id: string; topic: string }[]> {
  const people = Array.from({ length: count }, () => ({ id: randomUUID(), topic: randomUUID() }));
  for (const { id, topic } of people) {
    const home = randomUUID();
    await database.insertInto("accounts").values({ id: home, name: "home" }).execute();
    const person = { id, issuer: "test", subject: id, account_id: home, name: "person" };
    await database.insertInto("people").values(person).execute();
    await database.insertInto("memberships").values({ person_id: id, account_id: accountId, role: "owner" }).execute();
    await database
      .insertInto("profiles")
      .values({ person_id: id, ntfy_url: `${ntfyUrl}/${topic}`, notify: "all" })
      .execute();
  }
  return people;
}
