import { type Selectable, sql } from "kysely";
import { type CreatePushSubscription, maximumPushSubscriptions } from "../contract/push.ts";
import type { Database } from "../core/database/database.ts";
import type { Tables } from "../core/database/tables.ts";

/** A browser that shows a person's notifications. */
export interface PushSubscriptionState {
  id: string;
  endpoint: string;
  p256dh: string;
  auth: string;
  name: string | null;
  createdAt: Date;
  sentAt: Date | null;
  error: string | null;
}

/** The browsers of people. Those that subscribed with another key of the server cannot be reached and do not count. */
export class PushStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Newest first. */
  async list(personId: string, serverKey: string): Promise<PushSubscriptionState[]> {
    const rows = await this.#of(personId)
      .selectAll()
      .where("server_key", "=", serverKey)
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .execute();
    return rows.map(toState);
  }

  /**
   * Adds a browser, or renews its keys. Its earlier rows of other people go: whoever knows `auth` has the browser, and
   * somebody else has signed in there.
   */
  async put(
    personId: string,
    id: string,
    serverKey: string,
    { endpoint, keys, name }: CreatePushSubscription,
  ): Promise<PushSubscriptionState> {
    return this.#database.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(hashtextextended(${`push ${personId}`}, 0))`.execute(transaction);
      await transaction
        .deleteFrom("push_subscriptions")
        .where("endpoint", "=", endpoint)
        .where("auth", "=", keys.auth)
        .where("person_id", "!=", personId)
        .execute();
      const row = await transaction
        .insertInto("push_subscriptions")
        .values({ id, person_id: personId, endpoint, ...keys, server_key: serverKey, name: name ?? null })
        .onConflict((conflict) =>
          conflict
            .columns(["person_id", "endpoint"])
            .doUpdateSet({ ...keys, server_key: serverKey, name: name ?? null, error: null }),
        )
        .returningAll()
        .executeTakeFirstOrThrow();
      await transaction
        .deleteFrom("push_subscriptions")
        .where("id", "in", (rows) =>
          rows
            .selectFrom("push_subscriptions")
            .select("id")
            .where("person_id", "=", personId)
            .orderBy(sql`id = ${row.id}`, "desc")
            .orderBy("created_at", "desc")
            .offset(maximumPushSubscriptions),
        )
        .execute();
      return toState(row);
    });
  }

  /** Whether it existed. */
  async remove(personId: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom("push_subscriptions")
      .where("person_id", "=", personId)
      .where("id", "=", id)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  async noteSent(id: string): Promise<void> {
    await this.#set(id, { sent_at: new Date(), error: null });
  }

  async noteFailed(id: string, error: string): Promise<void> {
    await this.#set(id, { error });
  }

  async #set(id: string, columns: { sent_at?: Date; error: string | null }): Promise<void> {
    await this.#database.updateTable("push_subscriptions").set(columns).where("id", "=", id).execute();
  }

  #of(personId: string) {
    return this.#database.selectFrom("push_subscriptions").where("person_id", "=", personId);
  }
}

function toState(row: Selectable<Tables["push_subscriptions"]>): PushSubscriptionState {
  const { id, endpoint, p256dh, auth, name, error } = row;
  return { id, endpoint, p256dh, auth, name, createdAt: row.created_at, sentAt: row.sent_at, error };
}
