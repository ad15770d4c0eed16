import type { Selectable } from "kysely";
import type { Database } from "../../core/database/database.ts";
import type { Tables } from "../../core/database/tables.ts";
import type { ResponseState } from "./stored-responses.ts";

export class ResponseStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Has no effect if an earlier attempt has stored it. */
  async insert({ id, turnId, agentId, afterSeq, previousId, request, input, createdAt }: ResponseState): Promise<void> {
    await this.#database
      .insertInto("responses")
      .values({
        id,
        turn_id: turnId,
        agent_id: agentId,
        after_seq: afterSeq,
        previous_id: previousId,
        request: JSON.stringify(request),
        input: JSON.stringify(input),
        created_at: createdAt,
      })
      .onConflict((conflict) => conflict.column("id").doNothing())
      .execute();
  }

  /** A response of the account, with its agent's name; also null if its turn does not exist. */
  async find(accountId: string, id: string): Promise<{ response: ResponseState; agentName: string } | null> {
    const row = await this.#database
      .selectFrom("responses")
      .innerJoin("turns", "turns.id", "responses.turn_id")
      .innerJoin("agents", "agents.id", "responses.agent_id")
      .selectAll("responses")
      .select("agents.name as agent_name")
      .where("responses.id", "=", id)
      .where("agents.account_id", "=", accountId)
      .executeTakeFirst();
    return row ? { response: fromRow(row), agentName: row.agent_name } : null;
  }

  /** The newest response of a turn. */
  async lastOf(turnId: string): Promise<string | null> {
    const row = await this.#database
      .selectFrom("responses")
      .select("id")
      .where("turn_id", "=", turnId)
      .orderBy("after_seq", "desc")
      .orderBy("created_at", "desc")
      .executeTakeFirst();
    return row?.id ?? null;
  }

  async remove(id: string): Promise<void> {
    await this.#database.deleteFrom("responses").where("id", "=", id).execute();
  }
}

function fromRow(row: Selectable<Tables["responses"]>): ResponseState {
  return {
    id: row.id,
    turnId: row.turn_id,
    agentId: row.agent_id,
    afterSeq: row.after_seq,
    previousId: row.previous_id,
    request: row.request,
    input: row.input,
    isStored: true,
    createdAt: row.created_at,
  };
}
