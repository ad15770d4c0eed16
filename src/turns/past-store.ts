import { type Selectable, sql } from "kysely";
import type { Fault } from "../contract/agents.ts";
import type { Author } from "../contract/authors.ts";
import type { TurnChangesWithDiffs } from "../contract/changes.ts";
import { summaryCharacters, type TurnStatus } from "../contract/chat.ts";
import type { OutputValue } from "../contract/output.ts";
import { authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import { olderThan } from "../core/database/paging.ts";
import { visibleTo } from "../core/database/private-agents.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Viewer } from "../core/http/access.ts";
import { pathsOf, withPaths } from "./attachments.ts";
import {
  briefChangesOf,
  changesOf,
  changesWithDiffs,
  type TurnsSince,
  turnsAfterSnapshot,
  turnsFrom,
} from "./changes-store.ts";
import { maximumRetoldTurns, type RetoldTurn } from "./retelling.ts";
import { toTurnState } from "./store.ts";
import { noTurn, type PastTurn, type RecentTurn } from "./turn.ts";

/** The turns to list or to count; null: all. */
export interface TurnFilter {
  conversation: number | null;
  status: TurnStatus | null;
  /** Began or ended at this time or later. */
  since: Date | null;
}

/** Turns with their replies, for readers. */
export class PastTurnStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Up to `limit` turns of an agent after its turn `after`, newest first. */
  async list(
    agentId: string,
    limit: number,
    after: string | null,
    filter: Partial<TurnFilter> = {},
  ): Promise<PastTurn[]> {
    const rows = await this.#pastTurns(agentId)
      .select(briefChangesOf.as("changes"))
      .where(matches(filter))
      .$if(after !== null, (query) => query.where(olderThan("turns", after!)))
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    return rows.map(toPast);
  }

  /**
   * Up to `limit` turns that a conversation remembers, in the given order, from its turn `from` on. Null: from the first in
   * that order.
   */
  async remembered(
    agentId: string,
    conversation: number,
    { limit, order, from }: { limit: number; order: "asc" | "desc"; from: string | null },
  ): Promise<PastTurn[]> {
    const start = sql`(select created_at, id from turns where id = ${from}::uuid)`;
    const rows = await this.#pastTurns(agentId)
      .select(briefChangesOf.as("changes"))
      .where("conversation", "=", conversation)
      .where("undone", "=", false)
      .where("status", "!=", "queued")
      .$if(from !== null, (query) =>
        query.where(
          order === "asc" ? sql<boolean>`(created_at, id) >= ${start}` : sql<boolean>`(created_at, id) <= ${start}`,
        ),
      )
      .orderBy("created_at", order)
      .orderBy("id", order)
      .limit(limit)
      .execute();
    return rows.map(toPast);
  }

  /** The number of an agent's turns. */
  async count(agentId: string, filter: TurnFilter): Promise<number> {
    const { count } = await this.#database
      .selectFrom("turns")
      .select(({ fn }) => fn.countAll<string>().as("count"))
      .where("agent_id", "=", agentId)
      .where(matches(filter))
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /**
   * Up to `limit` turns of all of the caller's agents in the same order; `since`: running, or ended since then. Without
   * messages that left a queue before they began.
   */
  async ofAccount(viewer: Viewer, limit: number, after: string | null, since: Date | null): Promise<RecentTurn[]> {
    // Reads each agent's newest turns by its own index. An agent's turns end in the order in which they begin, so the
    // newest that ended before `since` ends its part of the list.
    const { rows } = await sql<RecentTurn>`
      select turns.id, turns.agent, left(turns.message, ${summaryCharacters.message}) as message, turns.status, turns.waiting, (${replyOf(summaryCharacters.reply)}) ->> 'text' as reply,
        (${faultOf}) as error, ${turnAuthor} as "createdBy", turns.created_at as "createdAt", turns.finished_at as "finishedAt"
      from (
        select own.*, agents.name as agent from agents cross join lateral (
          select * from turns where agent_id = agents.id
            and created_at > coalesce((
              select before.created_at from turns before where before.agent_id = agents.id
                and before.finished_at < ${since} order by before.created_at desc limit 1), '-infinity')
            and ${after === null ? sql`true` : olderThan("turns", after)}
            and not (status = 'cancelled' and created_at is not distinct from queued_at)
          order by created_at desc, id desc limit ${limit}
        ) own
        where agents.account_id = ${viewer.accountId} and ${visibleTo(viewer, "all")}
        order by own.created_at desc, own.id desc limit ${limit}
      ) turns
      order by turns.created_at desc, turns.id desc`.execute(this.#database);
    return rows;
  }

  /** A turn of the agent with its reply. Throws `turn_not_found`. */
  async read(agentId: string, turnId: string): Promise<PastTurn> {
    const row = await this.#pastTurns(agentId)
      .select(changesOf.as("changes"))
      .where("id", "=", turnId)
      .executeTakeFirst();
    return row ? toPast(row) : noTurn(turnId);
  }

  /** The files that a turn changed, with their diffs; null: not known. */
  changes(turnId: string): Promise<TurnChangesWithDiffs | null> {
    return changesWithDiffs(this.#database, turnId);
  }

  /** Up to `limit` ended turns of the agent from this one on. */
  from(agentId: string, turnId: string, limit: number): Promise<TurnsSince> {
    return turnsFrom(this.#database, agentId, turnId, limit);
  }

  /** Up to `limit` turns of a snapshot's agent that ended after it. */
  afterSnapshot(snapshotId: string, limit: number): Promise<TurnsSince> {
    return turnsAfterSnapshot(this.#database, snapshotId, limit);
  }

  #pastTurns(agentId: string) {
    return this.#database
      .selectFrom("turns")
      .selectAll()
      .select(replyOf(maximumReply).as("reply"))
      .select(faultOf.as("error"))
      .select(outputOf.as("output"))
      .select(askerOf.as("askedBy"))
      .select(turnAuthor.as("createdBy"))
      .where("agent_id", "=", agentId);
  }
}

function matches({ conversation = null, status = null, since = null }: Partial<TurnFilter>) {
  const conditions = [
    conversation === null ? sql`true` : sql`turns.conversation = ${conversation}`,
    status === null ? sql`true` : sql`turns.status = ${status === "waiting" ? "running" : status}`,
    status === "running" || status === "waiting" ? sql`turns.waiting = ${status === "waiting"}` : sql`true`,
    since === null ? sql`true` : sql`coalesce(turns.finished_at, turns.created_at) >= ${since}`,
  ];
  return sql<boolean>`${sql.join(conditions, sql` and `)}`;
}

/** The turns of a conversation that are remembered: after `since`, up to the turn `until`, without the turn `except`. */
export async function saidIn(
  database: Database,
  agentId: string,
  conversation: number,
  { since, until, except }: { since: Date | null; until: string | null; except: string | null },
): Promise<RetoldTurn[]> {
  const rows = await database
    .selectFrom("turns")
    .select(["id", "message", "attachments"])
    .select(replyOf(maximumReply).as("reply"))
    .where("agent_id", "=", agentId)
    .where("conversation", "=", conversation)
    .where("undone", "=", false)
    .where("status", "!=", "queued")
    .$if(since !== null, (query) => query.where("created_at", ">", since!))
    .$if(until !== null, (query) =>
      query.where(sql<boolean>`(created_at, id) <= (select created_at, id from turns where id = ${until}::uuid)`),
    )
    .$if(except !== null, (query) => query.where("id", "!=", except!))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(maximumRetoldTurns)
    .execute();
  return rows
    .map(({ id, message, attachments, reply }) => ({
      message: withPaths(message, pathsOf(id, attachments)),
      reply: reply.text,
    }))
    .toReversed();
}

/** The maximum length of a reply in a list of up to a hundred, in characters. */
const maximumReply = 64 * 1024;
/** Limits how many pieces of a reply are read before it is truncated. */
const maximumPieces = 20_000;

/** The first deltas of the reply's text, joined, up to that many characters, and their number. */
export const replyOf = (characters: number) => sql<{ text: string; pieces: number }>`(
  select json_build_object('text', coalesce(string_agg(delta, '' order by seq), ''), 'pieces', count(*)) from (
    select seq, delta, sum(length(delta)) over (order by seq) - length(delta) as before from (
      select seq, event ->> 'delta' as delta from turn_events
      where turn_id = turns.id and event ->> 'type' = 'response.output_text.delta'
      order by seq limit ${maximumPieces}
    ) pieces
  ) sized where before <= ${characters})`;

function cut({ text, pieces }: { text: string; pieces: number }): Pick<PastTurn, "reply" | "replyTruncated"> {
  return {
    reply: text.slice(0, maximumReply).toWellFormed(),
    replyTruncated: text.length > maximumReply || pieces === maximumPieces,
  };
}

type PastRow = Selectable<Tables["turns"]> & { reply: { text: string; pieces: number } } & Pick<
    PastTurn,
    "error" | "output" | "changes" | "askedBy" | "createdBy"
  >;

function toPast(row: PastRow): PastTurn {
  return {
    ...toTurnState(row),
    ...cut(row.reply),
    error: row.error,
    output: row.output,
    changes: row.changes,
    askedBy: row.askedBy,
    createdBy: row.createdBy,
    undone: row.undone,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
  };
}

/** Why a turn failed, from its last event. */
export const faultOf = sql<Fault | null>`(
  select event -> 'error' from turn_events
  where turn_id = turns.id and event ->> 'type' = 'response.failed' limit 1)`;

/** The output of a turn, from its last event. */
export const outputOf = sql<OutputValue | null>`(
  select event -> 'output' from turn_events
  where turn_id = turns.id and event ->> 'type' = 'response.completed' limit 1)`;

/** Whether those who see a turn may know the name of the agent (`agents`) that asked: it is not private, or both are. */
const isAskerShown = sql<boolean>`(
  not agents.private or (select own.private from agents own where own.id = turns.agent_id))`;

/**
 * The agent whose turn started this one; null if a client did, once that agent is deleted, or if it is private and this one
 * is not.
 */
const askerOf = sql<PastTurn["askedBy"]>`(
  select json_build_object('agent', agents.name, 'turnId', asker.id) from turns asker
  join agents on agents.id = asker.agent_id where asker.id = turns.asked_by
    and ${isAskerShown})`;

/** A turn that an agent started is the agent's. */
const turnAuthor = sql<Author | null>`(case when turns.asked_by is null then ${authorOf("turns")} else (
  select json_build_object('kind', 'automation', 'id', agents.id, 'name', case when ${isAskerShown} then agents.name end,
    'person', (select name from people where id = turns.person_id))
  from turns asker join agents on agents.id = asker.agent_id where asker.id = turns.asked_by) end)`;
