import { sql } from "kysely";
import type { Author } from "../contract/authors.ts";
import type { ChangeConversation } from "../contract/conversations.ts";
import { BerthError } from "../contract/errors.ts";
import { authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import { lockQueue } from "../queue/order-store.ts";
import { saidIn } from "../turns/past-store.ts";
import { retelling } from "../turns/retelling.ts";
import { insertRetelling, retoldText } from "../turns/retelling-rows.ts";
import { type TurnState, turnInProgress } from "../turns/turn.ts";
import { requireConversation } from "./activity-store.ts";
import { insertConversation, type NewConversation } from "./create-store.ts";

/** One of an agent's conversations. */
export interface ConversationState {
  number: number;
  title: string | null;
  isCurrent: boolean;
  forkedFrom: { conversation: number; turnId: string } | null;
  keyId: string | null;
  createdBy: Author | null;
  createdAt: Date;
  lastTurnAt: Date | null;
  /** The time by which lists are ordered, in microseconds. */
  activeAt: string;
}

/** A conversation to create. `turn`: the one that it continues from. */
interface AskedConversation extends Omit<NewConversation, "replay" | "forkedFrom"> {
  isCurrent: boolean;
  turn: ForkedTurn | null;
}

type ForkedTurn = Pick<TurnState, "id" | "conversation">;

/** The part of a list to read: `key`: only conversations that this key has created; `after`: `NUMBER@MICROSECONDS`. */
export interface ConversationFilter {
  key: string | null;
  since: Date | null;
  after: string | null;
  limit: number;
}

/** A conversation as a turn in it begins. */
export interface ConversationForTurn {
  /** The replay of what the runtime's session does not contain; null: none. */
  retold: string | null;
  /** Whether the machine was in another conversation, and has to resume this one. */
  isResumed: boolean;
}

/** How many events of a deleted conversation one statement removes: more could exceed the query timeout. */
const removalBatch = 10_000;

export class ConversationStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(agentId: string, number: number): Promise<ConversationState | null> {
    const row = await this.#of(agentId).where("conversations.number", "=", number).executeTakeFirst();
    return row ?? null;
  }

  /** The newest activity first. */
  list(agentId: string, { key, since, after, limit }: ConversationFilter): Promise<ConversationState[]> {
    const [number, active] = after?.split("@") ?? [];
    return this.#of(agentId)
      .$if(key !== null, (query) => query.where("conversations.key_id", "=", key!))
      .$if(since !== null, (query) => query.where("last_turn_at", ">", since!))
      .$if(after !== null, (query) =>
        query.where(
          sql<boolean>`(${activeAt}, number) < (timestamptz 'epoch' + ${active}::bigint * interval '1 microsecond', ${number}::integer)`,
        ),
      )
      .orderBy(activeAt, "desc")
      .orderBy("number", "desc")
      .limit(limit)
      .execute();
  }

  #of(agentId: string) {
    return this.#database
      .selectFrom("conversations")
      .innerJoin("agents", "agents.id", "conversations.agent_id")
      .select(["number", "title", "conversations.key_id as keyId", "last_turn_at as lastTurnAt"])
      .select("conversations.created_at as createdAt")
      .select(sql<boolean>`number = agents.conversation`.as("isCurrent"))
      .select(
        sql<ConversationState["forkedFrom"]>`(
          select json_build_object('conversation', origin.conversation, 'turnId', origin.id) from turns origin
          where origin.id = conversations.forked_from)`.as("forkedFrom"),
      )
      .select(authorOf("conversations").as("createdBy"))
      .select(sql<string>`(extract(epoch from ${activeAt}) * 1000000)::bigint::text`.as("activeAt"))
      .where("conversations.agent_id", "=", agentId);
  }

  /**
   * Creates a conversation, or finds the one that an earlier attempt of the request has created. Returns its number. Throws
   * `too_many_conversations`, and `turn_in_progress` for one that is to be current.
   */
  create(agentId: string, { isCurrent, turn, ...asked }: AskedConversation): Promise<number> {
    return this.#database.transaction().execute(async (transaction) => {
      await lockQueue(transaction, agentId);
      const { requestId } = asked;
      const made = requestId === null ? null : await madeBy(transaction, agentId, requestId);
      if (made !== null) return made;
      const replay = turn && (await this.#retellUntil(transaction, agentId, turn));
      const number = await insertConversation(transaction, agentId, { ...asked, replay, forkedFrom: turn?.id ?? null });
      if (isCurrent) await makeCurrent(transaction, agentId, number);
      return number;
    });
  }

  /** Throws `conversation_not_found`, and `turn_in_progress` for one that is to be current. */
  async change(agentId: string, number: number, { title, current }: ChangeConversation): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await lockQueue(transaction, agentId);
      await requireConversation(transaction, agentId, number);
      if (title !== undefined) await conversationIn(transaction, agentId, number).set({ title }).execute();
      if (current) await makeCurrent(transaction, agentId, number);
    });
  }

  /** Removes conversations from the list, except the current one and those with queued turns. Their turns stay. */
  async unlist(agentId: string, numbers: readonly number[]): Promise<void> {
    if (numbers.length === 0) return;
    await sql`
      delete from conversations where agent_id = ${agentId} and number = any(${numbers}::integer[])
        and number <> (select conversation from agents where id = ${agentId})
        and not exists (
          select from turns where agent_id = ${agentId} and turns.conversation = conversations.number
            and status in ('queued', 'running'))`.execute(this.#database);
  }

  /** Deletes a conversation with its turns. Throws `conversation_not_found`, `conversation_in_use`. */
  async remove(agentId: string, number: number): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await lockQueue(transaction, agentId);
      await requireConversation(transaction, agentId, number);
      await requireUnused(transaction, agentId, number);
      const turns = sql`select id from turns where agent_id = ${agentId} and conversation = ${number} and status <> 'queued'`;
      for (let removed = removalBatch; removed >= removalBatch; ) {
        const { numAffectedRows } = await sql`
          delete from turn_events where ctid = any(array(
            select turn_events.ctid from turn_events where turn_id in (${turns}) limit ${removalBatch}))`.execute(
          transaction,
        );
        removed = Number(numAffectedRows ?? 0);
      }
      await sql`delete from turns where id in (${turns})`.execute(transaction);
      await sql`delete from conversations where agent_id = ${agentId} and number = ${number}`.execute(transaction);
    });
  }

  /**
   * Takes a conversation out of the agent's list. Its turns stay in the history. Does nothing if there is none. Throws
   * `conversation_in_use`.
   */
  async forget(agentId: string, number: number): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await lockQueue(transaction, agentId);
      await requireUnused(transaction, agentId, number);
      await sql`delete from conversations where agent_id = ${agentId} and number = ${number}`.execute(transaction);
    });
  }

  /**
   * The conversation of a turn that begins; `turnId`: the turn's id if it is stored. Null: there is no such conversation.
   * If another runtime held it, a replay of it is stored for the agent's runtime.
   */
  async forTurn(agentId: string, number: number, turnId: string | null): Promise<ConversationForTurn | null> {
    const { rows } = await sql<FoundForTurn>`
      select agents.runtime as "agentRuntime", conversations.runtime, conversations.number is not null as "isThere",
        case when agents.conversation = ${number} then agents.retold else conversations.retold end as retold,
        agents.conversation = ${number} as "isCurrent", agents.conversation <> ${number} or (
          exists (select from (${completed}) own where conversation = ${number} limit 1)
          and (select conversation from (${completed}) last order by created_at desc, id desc limit 1) <> ${number}
        ) as "isResumed"
      from agents left join conversations on agent_id = agents.id and number = ${number}
      where agents.id = ${agentId}`.execute(this.#database);
    const [found] = rows;
    if (!found || !(found.isThere || found.isCurrent)) return null;
    const { agentRuntime, runtime, isThere, isResumed } = found;
    const isHeld = !isThere || runtime === agentRuntime;
    const retold = isHeld ? found.retold : await this.#retell(agentId, number, turnId);
    return { isResumed, retold: retold === null ? null : await retoldText(this.#database, retold) };
  }

  /** Stores a replay of a conversation up to a turn. Returns its id. */
  async #retellUntil(transaction: Database, agentId: string, turn: ForkedTurn): Promise<string | null> {
    return insertRetelling(transaction, await recordUntil(transaction, agentId, turn));
  }

  /** A record of a conversation up to a turn. */
  recordUntil(agentId: string, turn: ForkedTurn): Promise<string | null> {
    return recordUntil(this.#database, agentId, turn);
  }

  /** Stores a replay of a conversation for the agent's runtime. Returns its id; null if nothing was said. */
  #retell(agentId: string, number: number, turnId: string | null): Promise<string | null> {
    return this.#database.transaction().execute(async (transaction) => {
      await lockQueue(transaction, agentId);
      const { rows } = await sql<{ isHeld: boolean; retold: string | null; text: string | null; since: Date | null }>`
        select conversations.runtime is not distinct from agents.runtime as "isHeld", replay.id as retold, replay.text,
          replay.created_at as since
        from conversations join agents on agents.id = agent_id
          left join retold_conversations replay
            on replay.id = coalesce(
              case when agents.conversation = number then agents.retold else conversations.retold end, beginning)
        where agent_id = ${agentId} and number = ${number}`.execute(transaction);
      const [row] = rows;
      if (!row || row.isHeld) return row?.retold ?? null; // Another request has stored it.
      const { since, text: before } = row;
      const turns = await saidIn(transaction, agentId, number, { since, until: null, except: turnId });
      const retold = await insertRetelling(transaction, retelling(turns, before));
      await sql`
        update conversations set retold = ${retold}::uuid,
          runtime = (select runtime from agents where id = ${agentId})
        where agent_id = ${agentId} and number = ${number}`.execute(transaction);
      await sql`update agents set retold = ${retold}::uuid where id = ${agentId} and conversation = ${number}`.execute(
        transaction,
      );
      return retold;
    });
  }
}

interface FoundForTurn {
  agentRuntime: string;
  runtime: string | null;
  retold: string | null;
  isThere: boolean;
  isCurrent: boolean;
  isResumed: boolean;
}

/** Turns after which the machine was in their conversation. */
const completed = sql`
  select id, conversation, created_at from turns
  where agent_id = agents.id and status = 'completed' and not undone`;

const activeAt = sql<Date>`coalesce(conversations.last_turn_at, conversations.created_at)`;

/** Throws `conversation_in_use` for the current conversation, and for one with a running or queued turn. */
async function requireUnused(transaction: Database, agentId: string, number: number): Promise<void> {
  const agents = transaction.selectFrom("agents").select("id").where("id", "=", agentId);
  if (await agents.where("conversation", "=", number).executeTakeFirst()) {
    const message = `Conversation ${number} is the current one: make another one current, then delete it.`;
    throw new BerthError("conversation_in_use", message, { details: { reason: "current" } });
  }
  const turns = transaction
    .selectFrom("turns")
    .select("id")
    .where("agent_id", "=", agentId)
    .where("conversation", "=", number);
  const busy = await turns
    .where(({ eb, or, and }) =>
      or([eb("status", "=", "running"), and([eb("status", "=", "queued"), eb("names_conversation", "=", true)])]),
    )
    .limit(1)
    .executeTakeFirst();
  if (!busy) return;
  const message = `Conversation ${number} has a running or queued turn: cancel it, or wait for its end.`;
  throw new BerthError("conversation_in_use", message, { details: { reason: "turn", turnId: busy.id } });
}

async function madeBy(transaction: Database, agentId: string, requestId: string): Promise<number | null> {
  const rows = transaction.selectFrom("conversations").select("number").where("agent_id", "=", agentId);
  return (await rows.where("request_id", "=", requestId).executeTakeFirst())?.number ?? null;
}

/** Part of a transaction that has locked the agent's row. Throws `turn_in_progress`. */
async function makeCurrent(transaction: Database, agentId: string, number: number): Promise<void> {
  const turns = transaction.selectFrom("turns").select("id").where("agent_id", "=", agentId);
  const running = await turns.where("status", "=", "running").executeTakeFirst();
  if (running) throw turnInProgress(running.id);
  await sql`
    update agents set conversation = ${number},
      retold = (select retold from conversations where agent_id = ${agentId} and number = ${number})
    where id = ${agentId}`.execute(transaction);
}

function conversationIn(transaction: Database, agentId: string, number: number) {
  return transaction.updateTable("conversations").where("agent_id", "=", agentId).where("number", "=", number);
}

async function recordUntil(database: Database, agentId: string, turn: ForkedTurn): Promise<string | null> {
  const { rows } = await sql<{ text: string; since: Date }>`
      select replay.text, replay.created_at as since
      from conversations join agents on agents.id = agent_id
        join retold_conversations replay
          on replay.id in (beginning, case when agents.conversation = number then agents.retold else conversations.retold end)
      where agent_id = ${agentId} and number = ${turn.conversation}
        and replay.created_at <= (select created_at from turns where id = ${turn.id})
      order by replay.created_at desc limit 1`.execute(database);
  const { since = null, text: before = null } = rows[0] ?? {};
  const turns = await saidIn(database, agentId, turn.conversation, { since, until: turn.id, except: null });
  return retelling(turns, before);
}
