import { sql } from "kysely";
import type { Author } from "../contract/authors.ts";
import { type AuthorIds, authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";

/** The authors of commands. Machines keep the commands. */
export class CommandAuthorStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Notes the author of a command that is about to be started. Answers the one of the first attempt; null if it is
   * unknown.
   */
  async insert(agentId: string, commandId: string, { personId, keyId }: AuthorIds): Promise<Author | null> {
    // An agent that was deleted in the meantime has no commands.
    const { rows } = await sql<{ author: Author | null }>`
      insert into command_authors (command_id, agent_id, person_id, key_id)
      select ${commandId}, id, ${personId}::uuid, ${keyId}::uuid from agents where id = ${agentId}
      on conflict (command_id) do update set command_id = excluded.command_id
      returning ${authorOf("command_authors")} as author`.execute(this.#database);
    return rows[0]?.author ?? null;
  }

  /** The authors of the agent's commands, by their ids. Unknown ones are left out. */
  async of(agentId: string, commandIds: readonly string[]): Promise<Map<string, Author | null>> {
    if (commandIds.length === 0) return new Map();
    const rows = await this.#database
      .selectFrom("command_authors")
      .select(["command_id", authorOf("command_authors").as("author")])
      .where("agent_id", "=", agentId)
      .where("command_id", "in", commandIds)
      .execute();
    return new Map(rows.map(({ command_id: id, author }) => [id, author]));
  }
}
