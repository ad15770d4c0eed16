import { sql } from "kysely";
import { maximumConversations } from "../contract/conversations.ts";
import { type AuthorIds, authorColumns } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import type { PastMoment } from "../lifecycle/changes.ts";

// Parts of transactions that change an agent's current conversation. The trigger `conversations_kept` adds its row.

/**
 * Stores the author of a conversation that was just created. Of too many, those that were used longest ago leave the list;
 * their turns stay in the history.
 */
export async function createdConversation(
  transaction: Database,
  agentId: string,
  number: number,
  author: AuthorIds,
): Promise<void> {
  await transaction
    .updateTable("conversations")
    .set(authorColumns(author))
    .where("agent_id", "=", agentId)
    .where("number", "=", number)
    .execute();
  await sql`
    delete from conversations where agent_id = ${agentId} and number in (
      select number from conversations where agent_id = ${agentId} and number <> ${number}
      order by coalesce(last_turn_at, created_at) desc, number desc offset ${maximumConversations - 1}
    ) and not exists (
      select from turns where agent_id = ${agentId} and status = 'queued' and names_conversation
        and turns.conversation = conversations.number)`.execute(transaction);
}

/** After a rollback: replays that were made later may contain undone turns, and are made again. */
export async function restoreConversations(
  transaction: Database,
  agentId: string,
  { conversation, runtime, createdAt }: PastMoment,
): Promise<void> {
  await sql`
    update conversations set retold = null, runtime = null
    where agent_id = ${agentId} and number <> ${conversation} and exists (
      select from retold_conversations replay where replay.id = retold and replay.created_at > ${createdAt}
    )`.execute(transaction);
  await transaction
    .updateTable("conversations")
    .set({ runtime })
    .where("agent_id", "=", agentId)
    .where("number", "=", conversation)
    .execute();
}
