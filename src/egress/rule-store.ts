import { sql } from "kysely";
import type { Author } from "../contract/authors.ts";
import { type AuthorIds, authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import { usualRules } from "./agent-egress.ts";
import type { AgentRules, RuleLists } from "./policy.ts";

/** The agents' own lists of allowed and denied destinations. */
export class EgressRuleStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async of(agentId: string): Promise<AgentRules> {
    const row = await this.#database
      .selectFrom("network_rules")
      .select(["allow", "deny", "ask"])
      .where("agent_id", "=", agentId)
      .executeTakeFirst();
    return row ?? usualRules;
  }

  /** The author of the lists; null also for the default. */
  async authorOf(agentId: string): Promise<Author | null> {
    const rows = this.#database.selectFrom("network_rules").where("agent_id", "=", agentId);
    return (await rows.select(authorOf("network_rules").as("author")).executeTakeFirst())?.author ?? null;
  }

  /** Sets both lists, and `ask` if it is given. Does nothing if the agent was deleted in the meantime. */
  async set(
    agentId: string,
    { allow, deny, ask }: RuleLists & { ask?: boolean | undefined },
    by: AuthorIds,
  ): Promise<void> {
    await sql`
      insert into network_rules (agent_id, allow, deny, ask, person_id, key_id)
      select id, ${JSON.stringify(allow)}::jsonb, ${JSON.stringify(deny)}::jsonb, coalesce(${ask ?? null}::boolean, false),
        ${by.personId}::uuid, ${by.keyId}::uuid
      from agents where id = ${agentId}
      on conflict (agent_id) do update set allow = excluded.allow, deny = excluded.deny,
        ask = coalesce(${ask ?? null}::boolean, network_rules.ask), person_id = excluded.person_id, key_id = excluded.key_id`.execute(
      this.#database,
    );
  }
}
