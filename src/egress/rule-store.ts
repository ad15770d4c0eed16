import { sql } from "kysely";
import type { Author } from "../contract/authors.ts";
import { type AuthorIds, authorOf } from "../core/database/authors.ts";
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
  async set(agentId: string, { allow, deny }: EgressLists, { personId, keyId }: AuthorIds): Promise<void> {
    await sql`
      insert into network_rules (agent_id, allow, deny, person_id, key_id)
      select id, ${JSON.stringify(allow)}::jsonb, ${JSON.stringify(deny)}::jsonb, ${personId}::uuid, ${keyId}::uuid
      from agents where id = ${agentId}
      on conflict (agent_id) do update set
        allow = excluded.allow, deny = excluded.deny, person_id = excluded.person_id, key_id = excluded.key_id`.execute(
      this.#database,
    );
  }
}
