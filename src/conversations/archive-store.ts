import { sql } from "kysely";
import type { AgentState } from "../agents/agent.ts";
import { type ArchivedConversation, maximumConversations } from "../contract/conversations.ts";
import type { Database } from "../core/database/database.ts";
import { insertRetelling } from "../turns/retelling-rows.ts";

/** The most characters of all replays in an archive, whose settings have up to 8 MiB. */
const maximumRetold = 1_000_000;

/** The conversations of an agent, the newest activity first. */
export async function archivedConversations(database: Database, agentId: string): Promise<ArchivedConversation[]> {
  const rows = await database
    .selectFrom("conversations")
    .innerJoin("agents", "agents.id", "agent_id")
    .leftJoin("retold_conversations as replay", (join) =>
      join
        .onRef("replay.id", "=", "conversations.retold")
        // The agent's settings have the current conversation's.
        .on(sql<boolean>`number <> agents.conversation`),
    )
    .select(["number", "title", "conversations.runtime", "conversations.created_at", "last_turn_at"])
    .select(["replay.text", "replay.created_at as retold_at"])
    .where("agent_id", "=", agentId)
    .orderBy(sql`coalesce(last_turn_at, conversations.created_at)`, "desc")
    .orderBy("number", "desc")
    .limit(maximumConversations)
    .execute();
  let room = maximumRetold;
  const fits = ({ length }: string) => {
    room -= length;
    return room >= 0;
  };
  return rows.map(({ text, retold_at: at, created_at: createdAt, last_turn_at: lastTurnAt, ...row }) => ({
    ...row,
    retold: text !== null && at && fits(text) ? { text, at: at.toISOString() } : null,
    createdAt: createdAt.toISOString(),
    lastTurnAt: lastTurnAt?.toISOString() ?? null,
  }));
}

/**
 * Stores the conversations of an imported agent: those of its archive, and those of its turns for an archive of an earlier
 * version.
 */
export async function addConversations(
  transaction: Database,
  { id, conversation, runtime }: AgentState,
  archived: readonly ArchivedConversation[],
): Promise<void> {
  await sql`
    insert into conversations (agent_id, number, title, runtime, created_at, last_turn_at)
    select distinct on (number) ${id}::uuid, number, title, runtime, "createdAt", "lastTurnAt"
    from jsonb_to_recordset(${JSON.stringify(archived)}::jsonb)
      as archived (number integer, title text, runtime text, "createdAt" timestamptz, "lastTurnAt" timestamptz)
    on conflict (agent_id, number) do update
      set title = excluded.title, created_at = excluded.created_at, last_turn_at = excluded.last_turn_at`.execute(
    transaction,
  );
  for (const { number, retold } of archived) {
    if (retold === null || number === conversation) continue;
    const replay = await insertRetelling(transaction, retold.text, new Date(retold.at));
    await sql`
      update conversations set retold = ${replay}::uuid where agent_id = ${id} and number = ${number}`.execute(
      transaction,
    );
  }
  if (archived.length === 0) await sql`select add_conversations_of_turns(${id})`.execute(transaction);
  await sql`
    update conversations set runtime = ${runtime} where agent_id = ${id} and number = ${conversation}`.execute(
    transaction,
  );
  await sql`
    update agents set last_conversation = greatest(last_conversation,
      (select max(number) from conversations where agent_id = ${id}),
      (select max(conversation) from turns where agent_id = ${id}))
    where id = ${id}`.execute(transaction);
}

/**
 * Stores the conversations that a fork's machine has sessions of: those of its source until `until`. Null: until now.
 */
export async function copyConversations(
  transaction: Database,
  source: string,
  { id, conversation, runtime }: AgentState,
  until: Date | null,
): Promise<void> {
  await sql`
    insert into conversations (agent_id, number, title, runtime, retold, beginning, created_at, last_turn_at)
    select ${id}::uuid, number, title, runtime, retold, beginning, created_at, last_turn_at from conversations
    where agent_id = ${source} and (number = ${conversation} or runtime = ${runtime})
      and created_at <= coalesce(${until}::timestamptz, now())
    on conflict (agent_id, number) do update
      set title = excluded.title, created_at = excluded.created_at, last_turn_at = excluded.last_turn_at`.execute(
    transaction,
  );
  await sql`
    update agents set last_conversation = (select last_conversation from agents where id = ${source}) where id = ${id}`.execute(
    transaction,
  );
}
