import { sql } from "kysely";
import { BerthError } from "../contract/errors.ts";
import type { Database } from "../core/database/database.ts";
import type { TurnState } from "../turns/turn.ts";
import { titleOf } from "./title.ts";

/** Records that a turn began in its conversation, and gives the conversation a title if it has none. */
export async function beganTurn(
  transaction: Database,
  { agentId, conversation, message }: Pick<TurnState, "agentId" | "conversation" | "message">,
): Promise<void> {
  await sql`
    insert into conversations (agent_id, number, title, runtime, last_turn_at)
    select id, ${conversation}, ${titleOf(message)}, runtime, now() from agents where id = ${agentId}
    on conflict (agent_id, number) do update
      set title = coalesce(conversations.title, excluded.title), last_turn_at = excluded.last_turn_at`.execute(
    transaction,
  );
}

/** Throws `conversation_not_found`. Part of a transaction that has locked the agent's row. */
export async function requireConversation(transaction: Database, agentId: string, number: number): Promise<void> {
  const rows = transaction.selectFrom("conversations").select("number").where("agent_id", "=", agentId);
  if (!(await rows.where("number", "=", number).executeTakeFirst())) noConversation(number);
}

export function noConversation(number: number): never {
  throw new BerthError("conversation_not_found", `The agent has no conversation ${number}.`);
}
