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

  /** Sets both lists. Does nothing if the agent was deleted in the meantime. */
  async set(agentId: string, { allow, deny }: EgressLists): Promise<void> {
    const lists = { allow: JSON.stringify(allow), deny: JSON.stringify(deny) };
    await this.#database
      .insertInto("network_rules")
      .columns(["agent_id", "allow", "deny"])
      .expression((query) =>
        query
          .selectFrom("agents")
          .select(({ val, cast }) => [
            "agents.id",
            cast<string>(val(lists.allow), "jsonb").as("allow"),
            cast<string>(val(lists.deny), "jsonb").as("deny"),
          ])
          .where("agents.id", "=", agentId),
      )
      .onConflict((conflict) => conflict.column("agent_id").doUpdateSet(lists))
      .execute();
  }
}
