import { sql } from "kysely";
import { searchedLength } from "../contract/search.ts";
import type { Database } from "../core/database/database.ts";
import { visibleTo } from "../core/database/private-agents.ts";
import type { Caller } from "../core/http/caller.ts";
import { replyOf } from "../turns/past-store.ts";

/** An ended turn whose texts are to be stored. */
export interface UnsearchedTurn {
  turnId: string;
  accountId: string;
  agentId: string;
  message: string;
  reply: string;
}

export interface SearchText {
  turnId: string;
  kind: "message" | "reply";
  text: string;
  words: string[];
}

/** A text that has all words of a search. */
export interface Candidate {
  turnId: string;
  kind: "message" | "reply";
  createdAt: Date;
  text: string;
  agent: string;
  conversation: number;
  title: string | null;
}

export interface Sought {
  /** A tsquery. */
  query: string;
  caller: Caller;
  /** Null: all agents. */
  agentId: string | null;
  /** The place in the list of results; null: the beginning. */
  after: SearchPlace | null;
}

export type SearchPlace = Pick<Candidate, "turnId" | "kind" | "createdAt">;

/** The most steered messages that are read of a turn, and the time of one statement of a search. */
const maximumSteered = 1_000;
export const searchMs = 3_000;

export class SearchStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Stores the texts of up to `limit` turns that are waiting, the newest first, in one transaction. Returns the number of
   * turns. Turns that another server is storing, or that are being removed, are left out.
   */
  storeNext(limit: number, textsOf: (turn: UnsearchedTurn) => Promise<SearchText[]>): Promise<number> {
    return this.#database.transaction().execute(async (transaction) => {
      const { rows } = await sql<{ id: string }>`
        select turns.id from search_queue join turns on turns.id = turn_id
        order by number desc limit ${limit}
        for update of search_queue skip locked for key share of turns skip locked`.execute(transaction);
      const ids = rows.map(({ id }) => id);
      const texts: SearchText[] = [];
      for (const turn of await unsearched(transaction, ids)) texts.push(...(await textsOf(turn)));
      await insertTexts(transaction, texts);
      await transaction
        .deleteFrom("search_queue")
        .where("turn_id", "in", ids.length > 0 ? ids : [null!])
        .execute();
      return ids.length;
    });
  }

  /**
   * Up to `limit` texts with all words of the search, the newest turn first. The statement fails if it takes
   * longer than `searchMs`.
   */
  find({ query, caller, agentId, after }: Sought, limit: number): Promise<Candidate[]> {
    const { accountId, agentIds, keyId } = caller;
    return this.#database.transaction().execute(async (transaction) => {
      await sql`set local statement_timeout = ${sql.lit(searchMs)}`.execute(transaction);
      const { rows } = await sql<Candidate>`
        select found.turn_id as "turnId", found.kind, found.created_at as "createdAt", found.text, agents.name as agent,
          turns.conversation, conversations.title
        from (
          select turn_id, kind, created_at, text from search_texts
          where words @@ ${query}::tsquery
            and agent_id in (select id from agents where account_id = ${accountId} and ${visibleTo(caller, "all")}
              and desired <> 'deleted'
              and ${agentIds === null ? sql`true` : sql`id = any(${agentIds}::uuid[])`}
              and ${agentId === null ? sql`true` : sql`id = ${agentId}`})
            and ${agentIds === null ? sql`true` : sql`exists (select from turns where id = turn_id and key_id = ${keyId})`}
            and ${after === null ? sql`true` : isAfter(after)}
          order by created_at desc, turn_id desc, kind desc limit ${limit}
        ) found
          join turns on turns.id = found.turn_id join agents on agents.id = turns.agent_id
          left join conversations on conversations.agent_id = turns.agent_id and number = turns.conversation
        order by found.created_at desc, found.turn_id desc, found.kind desc`.execute(transaction);
      return rows;
    });
  }
}

function isAfter({ createdAt, turnId, kind }: SearchPlace) {
  return sql`(created_at, turn_id, kind) < (${createdAt}, ${turnId}::uuid, ${kind})`;
}

async function unsearched(transaction: Database, ids: readonly string[]): Promise<UnsearchedTurn[]> {
  const { rows } = await sql<Omit<UnsearchedTurn, "reply"> & { reply: { text: string } }>`
    select turns.id as "turnId", account_id as "accountId", agent_id as "agentId",
      left(concat_ws(E'\n', left(message, ${searchedLength}), (
        select string_agg(text, E'\n' order by seq) from (
          select seq, left(event ->> 'message', ${searchedLength}) as text from turn_events
          where turn_id = turns.id and event ->> 'type' = 'response.steered' order by seq limit ${maximumSteered}
        ) steered
      )), ${searchedLength}) as message,
      ${replyOf(searchedLength)} as reply
    from turns join agents on agents.id = agent_id where turns.id = any(${ids}::uuid[])`.execute(transaction);
  return rows.map(({ reply, ...turn }) => ({ ...turn, reply: reply.text }));
}

/** The time is in milliseconds, as in cursors. */
async function insertTexts(transaction: Database, texts: readonly SearchText[]): Promise<void> {
  await sql`
    insert into search_texts (turn_id, kind, agent_id, created_at, text, words)
    select turns.id, given.kind, turns.agent_id, date_trunc('milliseconds', turns.created_at), given.text,
      array_to_tsvector(array(select jsonb_array_elements_text(given.words)))
    from jsonb_to_recordset(${JSON.stringify(texts)}::jsonb)
      as given ("turnId" uuid, kind text, text text, words jsonb)
      join turns on turns.id = given."turnId"
    on conflict do nothing`.execute(transaction);
}
