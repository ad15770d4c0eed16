import { sql } from "kysely";
import type { Author } from "../contract/authors.ts";
import { type AuthorIds, authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";

/** Commands by their ids, files by the entity tags that they had when they were written. */
type Kind = "command" | "file" | "message";

/** The authors of what machines keep. A machine could say anything. */
export class AuthorStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Stores the author of commands and messages that are about to reach the machine, or of files that were written. The
   * last one is kept. A new command is open (src/commands/store.ts). Resolves with the author; null if it is unknown, or
   * if the agent was deleted in the meantime.
   */
  async insert(agentId: string, kind: Kind, refs: readonly string[], ids: AuthorIds): Promise<Author | null> {
    const { personId, keyId } = ids;
    const { rows } = await sql<{ author: Author | null }>`
      insert into machine_authors (agent_id, kind, ref, person_id, key_id, open)
      select id, ${kind}, ref, ${personId}::uuid, ${keyId}::uuid, ${kind === "command"}
      from agents, unnest(${[...new Set(refs)]}::text[]) ref
      where id = ${agentId}
      on conflict (agent_id, kind, ref) do update
      set person_id = excluded.person_id, key_id = excluded.key_id, created_at = excluded.created_at
      returning ${authorOf("machine_authors")} as author`.execute(this.#database);
    return rows[0]?.author ?? null;
  }

  /** Authors by id or entity tag. Unknown ones are left out. */
  async of(agentId: string, kind: Kind, refs: readonly string[]): Promise<Map<string, Author | null>> {
    if (refs.length === 0) return new Map();
    const rows = await this.#database
      .selectFrom("machine_authors")
      .select(["ref", authorOf("machine_authors").as("author")])
      .where("agent_id", "=", agentId)
      .where("kind", "=", kind)
      .where("ref", "in", refs)
      .execute();
    return new Map(rows.map(({ ref, author }) => [ref, author]));
  }
}
