import type { Author } from "../contract/authors.ts";
import { type AuthorIds, authorColumns, authorOf } from "../core/database/authors.ts";
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
  async insert(agentId: string, commandId: string, by: AuthorIds): Promise<Author | null> {
    const row = { command_id: commandId, agent_id: agentId, ...authorColumns(by) };
    const noted = await this.#database
      .insertInto("command_authors")
      .columns(["command_id", "agent_id", "person_id", "key_id"])
      .expression((query) =>
        // An agent that was deleted in the meantime has no commands.
        query
          .selectFrom("agents")
          .select(({ val, cast, ref }) => [
            cast<string>(val(row.command_id), "uuid").as("command_id"),
            ref("agents.id").as("agent_id"),
            cast<string | null>(val(row.person_id), "uuid").as("person_id"),
            cast<string | null>(val(row.key_id), "uuid").as("key_id"),
          ])
          .where("agents.id", "=", agentId),
      )
      .onConflict((conflict) => conflict.column("command_id").doUpdateSet({ command_id: commandId }))
      .returning(authorOf("command_authors").as("author"))
      .executeTakeFirst();
    return noted?.author ?? null;
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
