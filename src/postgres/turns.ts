import type { SequencedEvent, TurnStatus } from "../contract/chat.ts";
import { BerthError } from "../contract/errors.ts";
import type { StoredTurn, TurnRows } from "../domain/turns.ts";
import { type Database, isDuplicate } from "./database.ts";

/** The turns and their events. */
export class TurnStore implements TurnRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async insert(turn: StoredTurn, first: SequencedEvent): Promise<void> {
    try {
      await this.#database.transaction().execute(async (transaction) => {
        await transaction
          .insertInto("turns")
          .values({ id: turn.id, agent_id: turn.agentId, message: turn.message, status: turn.status })
          .execute();
        await transaction.insertInto("turn_events").values(toRow(turn.id, first)).execute();
        await transaction
          .updateTable("agents")
          .set({ last_active_at: new Date() })
          .where("id", "=", turn.agentId)
          .execute();
      });
    } catch (error) {
      if (!isDuplicate(error, "one_running_turn")) throw error;
      const running = await this.#database
        .selectFrom("turns")
        .select("id")
        .where("agent_id", "=", turn.agentId)
        .where("status", "=", "running")
        .executeTakeFirst();
      throw new BerthError("turn_in_progress", "The agent is answering another message.", {
        details: { turnId: running?.id ?? null },
      });
    }
  }

  async find(agentId: string, turnId: string): Promise<StoredTurn | null> {
    const row = await this.#database
      .selectFrom("turns")
      .select(["id", "agent_id", "message", "status"])
      .where("agent_id", "=", agentId)
      .where("id", "=", turnId)
      .executeTakeFirst();
    return row ? { id: row.id, agentId: row.agent_id, message: row.message, status: row.status } : null;
  }

  async running(): Promise<StoredTurn[]> {
    const rows = await this.#database
      .selectFrom("turns")
      .select(["id", "agent_id", "message", "status"])
      .where("status", "=", "running")
      .execute();
    return rows.map((row) => ({ id: row.id, agentId: row.agent_id, message: row.message, status: row.status }));
  }

  async events(turnId: string, after: number): Promise<SequencedEvent[]> {
    return this.#database
      .selectFrom("turn_events")
      .select(["seq", "event"])
      .where("turn_id", "=", turnId)
      .where("seq", ">", after)
      .orderBy("seq")
      .execute();
  }

  async append(turnId: string, events: SequencedEvent[], status: TurnStatus): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      // A turn whose agent was deleted has no row any more, and its events no place.
      const turn = await transaction
        .selectFrom("turns")
        .select("id")
        .where("id", "=", turnId)
        .forUpdate()
        .executeTakeFirst();
      if (!turn) return;
      await transaction
        .insertInto("turn_events")
        .values(events.map((entry) => toRow(turnId, entry)))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      if (status === "running") return;
      await transaction
        .updateTable("turns")
        .set({ status, finished_at: new Date() })
        .where("id", "=", turnId)
        .execute();
    });
  }
}

function toRow(turnId: string, { seq, event }: SequencedEvent) {
  return { turn_id: turnId, seq, event: escaped(JSON.stringify(event)) };
}

/** Postgres' jsonb takes no null character, which a command's output may well hold: it stands as its symbol. */
function escaped(json: string): string {
  return json.replaceAll("\\u0000", "\\u2400");
}
