import { sql } from "kysely";
import type { Author } from "../contract/authors.ts";
import type { ChangeQueuedTurn } from "../contract/queue.ts";
import type { Attachment } from "../contract/uploads.ts";
import { type AuthorIds, authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import { announce, beginNext, cancelQueued, hold, lockQueue } from "./order-store.ts";

/** A message in an agent's queue. */
export interface QueuedMessage {
  id: string;
  message: string;
  attachments: Attachment[];
  createdBy: Author | null;
  queuedAt: Date;
}

/** The messages that wait until their agents have answered the ones before. */
export class QueueStore {
  readonly #database: Database;
  readonly #host: string;

  /** `host`: whose queues `stopped` returns. */
  constructor(database: Database, host: string) {
    this.#database = database;
    this.#host = host;
  }

  /** In the order in which they begin. */
  async list(agentId: string): Promise<QueuedMessage[]> {
    const rows = this.#database
      .selectFrom("turns")
      .select(["id", "message", "attachments", "queued_at as queuedAt"])
      .select(authorOf("turns").as("createdBy"))
      .where("agent_id", "=", agentId)
      .where("status", "=", "queued")
      .orderBy("place");
    return (await rows.execute()) as QueuedMessage[];
  }

  /** Whether a message of this key or person waits. */
  async hasOf(agentId: string, { keyId, personId }: AuthorIds): Promise<boolean> {
    const row = await this.#database
      .selectFrom("turns")
      .select("id")
      .where("agent_id", "=", agentId)
      .where("status", "=", "queued")
      .where(
        sql<boolean>`key_id is not distinct from ${keyId}::uuid and person_id is not distinct from ${personId}::uuid`,
      )
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Changes a message's text or place. False: it does not wait. */
  change(agentId: string, turnId: string, { message, position }: ChangeQueuedTurn): Promise<boolean> {
    return this.#locked(agentId, async (transaction) => {
      const queue = await this.#ids(transaction, agentId);
      if (!queue.includes(turnId)) return false;
      if (message !== undefined) {
        await transaction.updateTable("turns").set({ message }).where("id", "=", turnId).execute();
      }
      if (position !== undefined) {
        const moved = queue.filter((id) => id !== turnId).toSpliced(position - 1, 0, turnId);
        // A message that was moved behind others no longer interrupts.
        await sql`
          update turns set place = given.place, interrupts = interrupts and given.place = 1
          from unnest(${moved}::uuid[]) with ordinality given (id, place) where turns.id = given.id`.execute(
          transaction,
        );
      }
      return true;
    });
  }

  /** Cancels a message. False: it does not wait. */
  remove(agentId: string, turnId: string): Promise<boolean> {
    return this.#locked(
      agentId,
      async (transaction) => (await cancelQueued(transaction, agentId, sql`id = ${turnId}`)) > 0,
    );
  }

  /** Cancels all messages. */
  discard(agentId: string): Promise<unknown> {
    return this.#locked(agentId, (transaction) => cancelQueued(transaction, agentId, sql`true`));
  }

  /** Begins the next message unless a turn runs, and lets the queue continue. Returns the id of the turn that began. */
  resume(agentId: string): Promise<string | null> {
    return this.#locked(agentId, async (transaction) => {
      await hold(transaction, agentId, null);
      return beginNext(transaction, agentId);
    });
  }

  /** This host's agents whose queue should continue and does not: none, unless a turn was removed. */
  async stopped(): Promise<string[]> {
    const { rows } = await sql<{ id: string }>`
      select id from agents where host = ${this.#host} and queue_length > 0 and queue_held is null
        and not exists (select from turns where agent_id = agents.id and status = 'running')`.execute(this.#database);
    return rows.map(({ id }) => id);
  }

  async #ids(transaction: Database, agentId: string): Promise<string[]> {
    const rows = transaction.selectFrom("turns").select("id").where("agent_id", "=", agentId);
    return (await rows.where("status", "=", "queued").orderBy("place").execute()).map(({ id }) => id);
  }

  #locked<Result>(agentId: string, change: (transaction: Database) => Promise<Result>): Promise<Result> {
    return this.#database.transaction().execute(async (transaction) => {
      await lockQueue(transaction, agentId);
      const result = await change(transaction);
      await announce(transaction, agentId);
      return result;
    });
  }
}
