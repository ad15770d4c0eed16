import { type Selectable, sql } from "kysely";
import { BerthError } from "../../contract/errors.ts";
import { maximumUnbound } from "../../contract/openai-conversations.ts";
import { insertConversation } from "../../conversations/create-store.ts";
import type { AuthorIds } from "../../core/database/authors.ts";
import type { Database } from "../../core/database/database.ts";
import { lockAccount } from "../../core/database/lock-account.ts";
import type { Tables } from "../../core/database/tables.ts";
import { lockQueue } from "../../queue/order-store.ts";
import { retelling } from "../../turns/retelling.ts";
import { insertRetelling } from "../../turns/retelling-rows.ts";
import { earlierOf, type KeptItem, requireKeepable } from "./conversation-items.ts";
import { turnsOf } from "./earlier.ts";

/** A conversation of OpenAI's API. */
export interface BoundConversation extends AuthorIds {
  id: string;
  metadata: Record<string, string>;
  items: KeptItem[];
  /** The agent's conversation; null: no response yet. */
  place: { agentId: string; agentName: string; conversation: number } | null;
  createdAt: Date;
}

type NewRow = Pick<BoundConversation, "id" | "metadata" | "items"> & { accountId: string; author: AuthorIds };

export class OpenAiConversationStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Has no effect if an earlier attempt has stored it. Throws `too_many_conversations`. */
  insert({ id, accountId, author, metadata, items }: NewRow): Promise<void> {
    return this.#database.transaction().execute(async (transaction) => {
      await lockAccount(transaction, accountId);
      const { rows } = await sql<{ count: number; isThere: boolean }>`
        select count(*)::integer as count, coalesce(bool_or(id = ${id}), false) as "isThere" from openai_conversations
        where account_id = ${accountId} and agent_id is null
          and key_id is not distinct from ${author.keyId}::uuid
          and person_id is not distinct from ${author.personId}::uuid`.execute(transaction);
      const { count, isThere } = rows[0]!;
      if (count >= maximumUnbound && !isThere) {
        const message = `Up to ${maximumUnbound} conversations can wait for their first response; delete one first.`;
        throw new BerthError("too_many_conversations", message);
      }
      await transaction
        .insertInto("openai_conversations")
        .values({
          id,
          account_id: accountId,
          key_id: author.keyId,
          person_id: author.personId,
          metadata: JSON.stringify(metadata),
          items: JSON.stringify(items),
        })
        .onConflict((conflict) => conflict.column("id").doNothing())
        .execute();
    });
  }

  async find(accountId: string, id: string): Promise<BoundConversation | null> {
    const row = await this.#database
      .selectFrom("openai_conversations as own")
      .leftJoin("agents", "agents.id", "own.agent_id")
      .selectAll("own")
      .select("agents.name as agent_name")
      .where("own.id", "=", id)
      .where("own.account_id", "=", accountId)
      .executeTakeFirst();
    return row ? fromRow(row) : null;
  }

  async setMetadata(id: string, metadata: Record<string, string>): Promise<void> {
    await this.#database
      .updateTable("openai_conversations")
      .set({ metadata: JSON.stringify(metadata), used_at: sql`now()` })
      .where("id", "=", id)
      .execute();
  }

  /**
   * Changes the kept items of a conversation without a response. False: it has one, or does not exist. Throws
   * `request_invalid` if there are too many.
   */
  changeItems(id: string, change: (items: KeptItem[]) => KeptItem[]): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const row = await transaction
        .selectFrom("openai_conversations")
        .select("items")
        .where("id", "=", id)
        .where("agent_id", "is", null)
        .forUpdate()
        .executeTakeFirst();
      if (!row) return false;
      const items = change(row.items);
      requireKeepable(items);
      await transaction
        .updateTable("openai_conversations")
        .set({ items: JSON.stringify(items), used_at: sql`now()` })
        .where("id", "=", id)
        .execute();
      return true;
    });
  }

  /**
   * Creates the agent's conversation for one without a response. Returns the agent and the number, also of one that
   * another request has bound; null: it was deleted. Throws `too_many_conversations`.
   */
  bind(id: string, agentId: string, author: AuthorIds, isOfAgentKey: boolean) {
    return this.#database.transaction().execute(async (transaction) => {
      await lockQueue(transaction, agentId);
      const row = await transaction
        .selectFrom("openai_conversations")
        .select(["agent_id", "conversation", "items"])
        .where("id", "=", id)
        .forUpdate()
        .executeTakeFirst();
      if (!row) return null;
      if (row.agent_id !== null) return { agentId: row.agent_id, conversation: row.conversation! };
      const replay = await insertRetelling(transaction, retelling(turnsOf(earlierOf(row.items)), null));
      const asked = { title: null, author, isOfAgentKey, requestId: null, replay, forkedFrom: null };
      const conversation = await insertConversation(transaction, agentId, asked);
      await transaction
        .updateTable("openai_conversations")
        .set({ agent_id: agentId, conversation, used_at: sql`now()` })
        .where("id", "=", id)
        .execute();
      return { agentId, conversation };
    });
  }

  async remove(id: string): Promise<void> {
    await this.#database.deleteFrom("openai_conversations").where("id", "=", id).execute();
  }
}

function fromRow(row: Selectable<Tables["openai_conversations"]> & { agent_name: string | null }): BoundConversation {
  return {
    id: row.id,
    keyId: row.key_id,
    personId: row.person_id,
    metadata: row.metadata,
    items: row.items,
    place:
      row.agent_id === null
        ? null
        : { agentId: row.agent_id, agentName: row.agent_name!, conversation: row.conversation! },
    createdAt: row.created_at,
  };
}
