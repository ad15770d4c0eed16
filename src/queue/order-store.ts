import { type RawBuilder, sql } from "kysely";
import type { QueueHeld } from "../contract/agents.ts";
import type { Outcome } from "../contract/chat.ts";
import { beganTurn } from "../conversations/activity-store.ts";
import type { Database } from "../core/database/database.ts";

// Changes of an agent's queue: parts of a transaction that holds the lock of the agent's row (`lockQueue`). So of a turn
// that ends and a message that comes, the later one sees the earlier.

/** An agent's queue, by the columns of its row. */
interface QueueFacts {
  agentId: string;
  length: number;
  held: QueueHeld;
}

/** Locks an agent's row until the end of the transaction. */
export async function lockQueue(transaction: Database, agentId: string): Promise<void> {
  await transaction.selectFrom("agents").select("id").where("id", "=", agentId).forUpdate().execute();
}

/** The same for the agent of a turn. Null: it was deleted. */
export async function lockQueueOf(transaction: Database, turnId: string): Promise<QueueFacts | null> {
  const row = await transaction
    .selectFrom("agents")
    .select(["id as agentId", "queue_length as length", "queue_held as held"])
    .where("id", "=", ({ selectFrom }) => selectFrom("turns").select("agent_id").where("id", "=", turnId))
    .forUpdate()
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Begins the first message of the queue unless a turn of the agent runs. Returns the turn's id, null if none began. Its
 * time is that of its beginning, and so is its conversation unless it names one. Messages whose key has ended are
 * cancelled.
 */
export async function beginNext(transaction: Database, agentId: string): Promise<string | null> {
  await cancelQueued(
    transaction,
    agentId,
    sql`exists (select from api_keys where id = turns.key_id and (revoked_at is not null or expires_at <= now()))`,
  );
  const { rows } = await sql<{ id: string; conversation: number; message: string }>`
    update turns set status = 'running', place = null, interrupts = false, created_at = now(),
      conversation = case when names_conversation then conversation
        else (select conversation from agents where id = ${agentId}) end
    where id = (
      select id from turns where agent_id = ${agentId} and status = 'queued' order by place limit 1
    ) and not exists (select from turns where agent_id = ${agentId} and status = 'running')
    returning id, conversation, message`.execute(transaction);
  const [next] = rows;
  if (!next) return null;
  await beganTurn(transaction, { ...next, agentId });
  return next.id;
}

/**
 * Continues the queue after a turn of the agent: begins the next message, or holds the queue if the turn was cancelled or
 * failed. A message that interrupted the turn begins all the same. Returns the id of the turn that began, or null.
 */
export async function continueQueue(
  transaction: Database,
  { agentId, held }: QueueFacts,
  outcome: Outcome,
): Promise<string | null> {
  const holds = outcome === "completed" ? held : (held ?? outcome);
  if (holds !== held) await hold(transaction, agentId, holds);
  const begins = holds === null || (await isInterrupted(transaction, agentId));
  const next = begins ? await beginNext(transaction, agentId) : null;
  await announce(transaction, agentId);
  return next;
}

/** Cancels the messages of a queue for which a condition on `turns` holds. Returns how many. */
export async function cancelQueued(
  transaction: Database,
  agentId: string,
  condition: RawBuilder<unknown>,
): Promise<number> {
  const { rows } = await sql`
    with ended as (
      update turns set status = 'cancelled', place = null, finished_at = now()
      where agent_id = ${agentId} and status = 'queued' and ${condition} returning id
    )
    insert into turn_events (turn_id, seq, event)
    select id, (select max(seq) from turn_events where turn_id = ended.id) + 1,
      jsonb_build_object('type', 'response.cancelled') from ended
    returning turn_id`.execute(transaction);
  return rows.length;
}

/** Null: the queue continues. */
export async function hold(transaction: Database, agentId: string, held: QueueHeld): Promise<void> {
  await transaction.updateTable("agents").set({ queue_held: held }).where("id", "=", agentId).execute();
}

async function isInterrupted(transaction: Database, agentId: string): Promise<boolean> {
  const queue = transaction.selectFrom("turns").select("interrupts").where("agent_id", "=", agentId);
  const first = await queue.where("status", "=", "queued").orderBy("place").limit(1).executeTakeFirst();
  return first?.interrupts ?? false;
}

/**
 * Stores the queue's length with the agent, a `response.queued` for each message whose position is another one now, and
 * the account's event. An empty queue is not held.
 */
export async function announce(transaction: Database, agentId: string): Promise<void> {
  await sql`
    with queue as (
      select id, row_number() over (order by place) as position
      from turns where agent_id = ${agentId} and status = 'queued'
    ),
    moved as (
      insert into turn_events (turn_id, seq, event)
      select queue.id, last.seq + 1,
        jsonb_build_object('type', 'response.queued', 'for', 'turn', 'position', queue.position)
      from queue cross join lateral (
        select seq, event from turn_events where turn_id = queue.id order by seq desc limit 1
      ) last
      where last.event ->> 'position' is distinct from queue.position::text
    ),
    counted as (
      update agents set queue_length = (select count(*) from queue),
        queue_held = case when exists (select from queue) then queue_held end
      where id = ${agentId} returning account_id, name, queue_length, queue_held
    )
    select add_account_event(account_id, jsonb_build_object(
      'type', 'queue.changed', 'agent', name, 'length', queue_length, 'held', queue_held))
    from counted`.execute(transaction);
}
