import { randomUUID } from "node:crypto";
import { type Selectable, sql } from "kysely";
import type { AgentState } from "../agents/agent.ts";
import type { AgentStore } from "../agents/store.ts";
import type { TurnEvent } from "../contract/chat.ts";
import type { ArchivedConversation } from "../contract/conversations.ts";
import { addConversations, archivedConversations } from "../conversations/archive-store.ts";
import { authorColumns, nobody } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import type { Tables } from "../core/database/tables.ts";
import { EgressRuleStore } from "../egress/rule-store.ts";
import { changesOf } from "../turns/changes-store.ts";
import { faultOf, outputOf } from "../turns/past-store.ts";
import { keepRetelling, retoldText } from "../turns/retelling-rows.ts";
import { type TurnStore, toTurnState } from "../turns/store.ts";
import type { FinishedTurn, ImportedItem } from "../turns/transcript.ts";
import type { ImportedSettings } from "./imports.ts";

/** The number of turns per query. */
const page = 100;

type ImportedTurn = Extract<ImportedItem, { turn: object }>["turn"];
type ImportedEvents = Extract<ImportedItem, { events: object }>["events"];

/** Complete histories of exported and imported agents. */
export class HistoryStore {
  readonly #database: Database;
  readonly #agents: AgentStore;
  readonly #turns: TurnStore;

  constructor(database: Database, agents: AgentStore, turns: TurnStore) {
    this.#database = database;
    this.#agents = agents;
    this.#turns = turns;
  }

  /** The id of the agent's running turn. */
  async running(agentId: string): Promise<string | null> {
    const row = await this.#database
      .selectFrom("turns")
      .select("id")
      .where("agent_id", "=", agentId)
      .where("status", "=", "running")
      .executeTakeFirst();
    return row?.id ?? null;
  }

  /** The number of finished turns. */
  async count(agentId: string): Promise<number> {
    const { count } = await this.#database
      .selectFrom("turns")
      .select(({ fn }) => fn.countAll<string>().as("count"))
      .where("agent_id", "=", agentId)
      .where("status", "not in", ["queued", "running"])
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** The finished turns, oldest first. */
  async *finished(agentId: string): AsyncGenerator<FinishedTurn> {
    for (let after: string | null = null; ; ) {
      const rows: FinishedRow[] = await this.#database
        .selectFrom("turns")
        .selectAll()
        .select(faultOf.as("error"))
        .select(outputOf.as("output"))
        .select(changesOf.as("changes"))
        .where("agent_id", "=", agentId)
        .where("status", "not in", ["queued", "running"])
        .$if(after !== null, (query) =>
          query.where(sql<boolean>`(created_at, id) > (select created_at, id from turns where id = ${after})`),
        )
        .orderBy("created_at")
        .orderBy("id")
        .limit(page)
        .execute();
      for (const row of rows) yield toFinished(row);
      if (rows.length < page) return;
      after = rows.at(-1)!.id;
    }
  }

  async *events(turnId: string): AsyncGenerator<TurnEvent> {
    for (let after = 0; ; ) {
      const events = await this.#turns.events(turnId, after);
      for (const { event } of events) yield event;
      if (events.length === 0) return;
      after = events.at(-1)!.seq;
    }
  }

  retelling(id: string): Promise<string | null> {
    return retoldText(this.#database, id);
  }

  /** The conversations that are in the list, for an archive. */
  conversations(agentId: string): Promise<ArchivedConversation[]> {
    return archivedConversations(this.#database, agentId);
  }

  /** Stores an agent with its settings and its history in one transaction. Throws `agent_exists`. */
  async insert(agent: AgentState, settings: ImportedSettings, history: AsyncIterable<ImportedItem>): Promise<void> {
    await this.#agents.insertWith([agent], async (transaction) => {
      await new EgressRuleStore(transaction).set(agent.id, settings.network, nobody);
      await keepRetelling(transaction, agent.id, settings.retold);
      const detail = { import_detail: JSON.stringify(settings.detail) };
      await transaction.updateTable("agents").set(detail).where("id", "=", agent.id).execute();
      let turnId = "";
      for await (const item of history) {
        if ("turn" in item) turnId = await insertTurn(transaction, agent.id, item.turn);
        else await insertEvents(transaction, turnId, item.events);
      }
      await addConversations(transaction, agent, settings.conversations);
    });
  }
}

async function insertTurn(transaction: Database, agentId: string, turn: ImportedTurn): Promise<string> {
  const id = randomUUID();
  const { conversation, message, attachments, model, effort, status, undone, usage, createdAt, finishedAt } = turn;
  await transaction
    .insertInto("turns")
    .values({
      id,
      agent_id: agentId,
      ...authorColumns(nobody),
      conversation,
      message,
      attachments: JSON.stringify(attachments),
      model,
      effort,
      status,
      undone,
      usage: JSON.stringify(usage),
      created_at: createdAt,
      finished_at: finishedAt,
    })
    .execute();
  return id;
}

async function insertEvents(transaction: Database, turnId: string, events: ImportedEvents): Promise<void> {
  const rows = events.map(({ seq, json }) => ({ turn_id: turnId, seq, event: json }));
  await transaction.insertInto("turn_events").values(rows).execute();
}

type FinishedRow = Selectable<Tables["turns"]> & Pick<FinishedTurn, "error" | "output" | "changes">;

function toFinished(row: FinishedRow): FinishedTurn {
  const { error, output, changes, undone, created_at: createdAt, finished_at: finishedAt } = row;
  return { ...toTurnState(row), error, output, changes, undone, createdAt, finishedAt: finishedAt! };
}
