import { sql } from "kysely";
import { maximumConversations, maximumConversationsOfKey } from "../contract/conversations.ts";
import { BerthError } from "../contract/errors.ts";
import type { AuthorIds } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";

/** A conversation to create. `isOfAgentKey`: for an external agent key. */
export interface NewConversation {
  title: string | null;
  author: AuthorIds;
  isOfAgentKey: boolean;
  /** The request that creates it; null: it is not repeated. */
  requestId: string | null;
  /** The replay with which it begins; null: none. */
  replay: string | null;
  /** The turn that it continues from; null: none. */
  forkedFrom: string | null;
}

/** Part of a transaction that has locked the agent's row. Returns the number. Throws `too_many_conversations`. */
export async function insertConversation(
  transaction: Database,
  agentId: string,
  { title, author, isOfAgentKey, requestId, replay, forkedFrom }: NewConversation,
): Promise<number> {
  await requireFew(transaction, agentId, isOfAgentKey ? author.keyId : null);
  const { rows } = await sql<{ number: number }>`
    with numbered as (
      update agents set last_conversation = greatest(conversation, last_conversation) + 1 where id = ${agentId}
      returning id, last_conversation, runtime
    )
    insert into conversations
      (agent_id, number, title, runtime, retold, beginning, forked_from, key_id, person_id, request_id)
    select id, last_conversation, ${title}, runtime, ${replay}::uuid, ${replay}::uuid, ${forkedFrom}::uuid,
      ${author.keyId}::uuid, ${author.personId}::uuid, ${requestId}::uuid
    from numbered returning number`.execute(transaction);
  return rows[0]!.number;
}

/** How many more conversations an agent may have, or a key with it. */
export async function roomFor(transaction: Database, agentId: string, key: string | null): Promise<number> {
  const { all, ofKey } = await countsOf(transaction, agentId, key);
  const room = maximumConversations - all;
  return key === null ? room : Math.min(room, maximumConversationsOfKey - ofKey);
}

async function countsOf(transaction: Database, agentId: string, key: string | null) {
  const { rows } = await sql<{ all: number; ofKey: number }>`
    select count(*)::integer as all, (count(*) filter (where key_id = ${key}::uuid))::integer as "ofKey"
    from conversations where agent_id = ${agentId}`.execute(transaction);
  return rows[0]!;
}

async function requireFew(transaction: Database, agentId: string, key: string | null): Promise<void> {
  const { all, ofKey } = await countsOf(transaction, agentId, key);
  if (key !== null && ofKey >= maximumConversationsOfKey) {
    throw tooMany(`An external agent key can have up to ${maximumConversationsOfKey} conversations with an agent`);
  }
  if (all >= maximumConversations) throw tooMany(`An agent can have up to ${maximumConversations} conversations`);
}

function tooMany(limit: string): BerthError {
  return new BerthError("too_many_conversations", `${limit}; delete one first.`);
}
