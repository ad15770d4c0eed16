import { type SqlBool, sql } from "kysely";
import { insertConversation, roomFor } from "../../conversations/create-store.ts";
import { type AuthorIds, authorColumns } from "../../core/database/authors.ts";
import type { Database } from "../../core/database/database.ts";
import { lockQueue } from "../../queue/order-store.ts";
import { insertRetelling } from "../../turns/retelling-rows.ts";

/** The state of a chat's conversation: the number of the user's messages in it, and a hash of them. */
export interface ChatState {
  depth: number;
  digest: Buffer;
}

/** A conversation that a message of a chat may continue. */
export interface ChatCandidate extends ChatState {
  conversation: number;
}

/** A conversation to create for a chat. */
interface NewChat extends ChatState {
  author: AuthorIds;
  isOfAgentKey: boolean;
  /** A front end's id, or `ofHistory`. Null: nothing continues it. */
  chat: string | null;
  title: string | null;
  /** The replay of the messages before; null: none. */
  replay: string | null;
}

/** In place of a chat's id: the messages before a message name the conversation. */
export const ofHistory = "";

const mostCandidates = 10;

export class ChatStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * The chat's conversations in this state, the last used first. If none is, the chat's only conversation with as many
   * messages: front ends add documents to a message, and leave them out later.
   */
  async candidates(agentId: string, author: AuthorIds, chat: string, state: ChatState): Promise<ChatCandidate[]> {
    const rows = await this.#database
      .selectFrom("client_chats")
      .select(["conversation", "depth", "digest", sql<number>`(count(*) over ())::integer`.as("all")])
      .where("agent_id", "=", agentId)
      .where("chat", "=", chat)
      .where(isOf(author))
      .orderBy("used_at", "desc")
      .execute();
    const sameDepth = rows.filter(({ depth }) => depth === state.depth);
    const same = sameDepth.filter(({ digest }) => digest.equals(state.digest));
    return same.length > 0 ? same.slice(0, mostCandidates) : sameDepth.filter(({ all }) => all === 1);
  }

  /** Conversations that no chat's id names, in this state, the last used first. */
  ofHistory(agentId: string, author: AuthorIds, { depth, digest }: ChatState): Promise<ChatCandidate[]> {
    return this.#database
      .selectFrom("client_chats")
      .select(["conversation", "depth", "digest"])
      .where("agent_id", "=", agentId)
      .where("chat", "=", ofHistory)
      .where("depth", "=", depth)
      .where("digest", "=", digest)
      .where(isOf(author))
      .orderBy("used_at", "desc")
      .limit(mostCandidates)
      .execute();
  }

  /** Changes a conversation's state. False: it is in another one since. */
  async advance(agentId: string, conversation: number, from: ChatState, to: ChatState): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable("client_chats")
      .set({ depth: to.depth, digest: to.digest, used_at: sql`now()` })
      .where("agent_id", "=", agentId)
      .where("conversation", "=", conversation)
      .where("depth", "=", from.depth)
      .where("digest", "=", from.digest)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /**
   * Creates a conversation. Of too many, those of the caller's chats that were used longest ago leave the list, as do those
   * that nothing continues; their turns stay in the history. Throws `too_many_conversations`.
   */
  create(
    agentId: string,
    { author, isOfAgentKey, chat, title, replay: text, depth, digest }: NewChat,
  ): Promise<number> {
    return this.#database.transaction().execute(async (transaction) => {
      await lockQueue(transaction, agentId);
      await forgetIdle(transaction, agentId, author, { where: sql`chat is null`, limit: null });
      const room = await roomFor(transaction, agentId, isOfAgentKey ? author.keyId : null);
      if (room < 1) await forgetIdle(transaction, agentId, author, { where: sql`true`, limit: 1 - room });
      const replay = await insertRetelling(transaction, text);
      const asked = { title, author, isOfAgentKey, requestId: null, replay, forkedFrom: null };
      const conversation = await insertConversation(transaction, agentId, asked);
      await transaction
        .insertInto("client_chats")
        .values({ agent_id: agentId, conversation, ...authorColumns(author), chat, depth, digest })
        .execute();
      return conversation;
    });
  }

  /** Notes that the conversation was used, by another way than its messages. */
  async used(agentId: string, conversation: number): Promise<void> {
    await this.#database
      .updateTable("client_chats")
      .set({ used_at: sql`now()` })
      .where("agent_id", "=", agentId)
      .where("conversation", "=", conversation)
      .execute();
  }

  /** Removes a conversation whose first message was refused. */
  async discard(agentId: string, conversation: number): Promise<void> {
    await sql`
      delete from conversations where agent_id = ${agentId} and number = ${conversation}
        and not exists (select from turns where agent_id = ${agentId} and turns.conversation = number)`.execute(
      this.#database,
    );
  }
}

function isOf({ keyId, personId }: AuthorIds) {
  return sql<SqlBool>`key_id is not distinct from ${keyId}::uuid and person_id is not distinct from ${personId}::uuid`;
}

/** Those with a turn that runs or waits stay, and those that a request may just have chosen. */
async function forgetIdle(
  transaction: Database,
  agentId: string,
  author: AuthorIds,
  { where, limit }: { where: ReturnType<typeof sql>; limit: number | null },
): Promise<void> {
  await sql`
    delete from conversations where agent_id = ${agentId} and number in (
      select conversation from client_chats
      where agent_id = ${agentId} and ${isOf(author)} and ${where} and used_at < now() - interval '1 minute'
        and conversation <> (select conversation from agents where id = ${agentId})
        and not exists (select from turns where turns.agent_id = ${agentId} and status in ('running', 'queued')
          and turns.conversation = client_chats.conversation)
      order by used_at limit ${limit}::integer)`.execute(transaction);
}
