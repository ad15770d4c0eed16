import type { Author } from "../contract/authors.ts";
import { type AuthorIds, authorColumns, authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import { type EgressLists, usualLists } from "./agent-egress.ts";

/** The agents' own lists of allowed and denied destinations. */
export class EgressRuleStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async of(agentId: string): Promise<EgressLists> {
    const row = await this.#database
      .selectFrom("network_rules")
      .select(["allow", "deny"])
      .where("agent_id", "=", agentId)
      .executeTakeFirst();
    return row ?? usualLists;
  }

  /** The author of the lists; null also for the default. */
  async authorOf(agentId: string): Promise<Author | null> {
    const rows = this.#database.selectFrom("network_rules").where("agent_id", "=", agentId);
    return (await rows.select(authorOf("network_rules").as("author")).executeTakeFirst())?.author ?? null;
  }

  /** Sets both lists. Does nothing if the agent was deleted in the meantime. */
  async set(agentId: string, { allow, deny }: EgressLists, by: AuthorIds): Promise<void> {
    const row = { allow: JSON.stringify(allow), deny: JSON.stringify(deny), ...authorColumns(by) };
    await this.#database
      .insertInto("network_rules")
      .columns(["agent_id", "allow", "deny", "person_id", "key_id"])
      .expression((query) =>
        query
          .selectFrom("agents")
          .select(({ val, cast }) => [
            "agents.id",
            cast<string>(val(row.allow), "jsonb").as("allow"),
            cast<string>(val(row.deny), "jsonb").as("deny"),
            cast<string | null>(val(by.personId), "uuid").as("person_id"),
            cast<string | null>(val(by.keyId), "uuid").as("key_id"),
          ])
          .where("agents.id", "=", agentId),
      )
      .onConflict((conflict) => conflict.column("agent_id").doUpdateSet(row))
      .execute();
  }
}
