import { type RawBuilder, sql, type Transaction } from "kysely";
import { BerthError } from "../../contract/errors.ts";
import type { Viewer } from "../http/access.ts";
import type { Database } from "./database.ts";
import { visibleTo } from "./private-agents.ts";
import type { Tables } from "./tables.ts";

/** Tables of what agents of a workspace can use, by name, and of the agents that each row lists. */
const tables = { workspace_secrets: "workspace_secret_agents", skills: "skill_agents" } as const;

/**
 * The agents that can use something of their workspace: all (the column `all_agents`), or those of rows by the agents'
 * ids. So a right ends with its agent, and a new agent of the same name has none.
 */
export class AllowedAgents {
  readonly #of: RawBuilder<unknown>;
  readonly #rows: RawBuilder<unknown>;

  constructor(of: keyof typeof tables) {
    this.#of = sql.table(of);
    this.#rows = sql.table(tables[of]);
  }

  /** The names of the listed agents that the viewer sees, of a row. */
  names(viewer: Viewer): RawBuilder<string[]> {
    return sql<string[]>`array(
      select agents.name from ${this.#rows} allowed join agents on agents.id = allowed.agent_id
      where allowed.account_id = ${this.#of}.account_id and allowed.name = ${this.#of}.name
        and ${visibleTo(viewer, "oversee")}
      order by agents.name)`;
  }

  /** Condition: an agent of the statement's `agents` can use a row of the table with this name or alias. */
  allows(alias: string): RawBuilder<boolean> {
    const column = (name: string) => sql.ref(`${alias}.${name}`);
    return sql<boolean>`(${column("all_agents")} or exists (
      select from ${this.#rows} allowed
      where allowed.account_id = ${column("account_id")} and allowed.name = ${column("name")}
        and allowed.agent_id = agents.id))`;
  }

  /** How many agents are listed. */
  async count(transaction: Transaction<Tables>, accountId: string, name: string): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from ${this.#rows}
      where account_id = ${accountId} and name = ${name}`.execute(transaction);
    return rows[0]!.count;
  }

  /** Replaces the list. */
  async set(transaction: Transaction<Tables>, accountId: string, name: string, ids: readonly string[]): Promise<void> {
    await sql`delete from ${this.#rows} where account_id = ${accountId} and name = ${name}`.execute(transaction);
    if (ids.length === 0) return;
    await sql`
      insert into ${this.#rows} (account_id, name, agent_id)
      select ${accountId}, ${name}, unnest(${ids}::uuid[])`.execute(transaction);
  }

  /** Lets an agent use what another one of the same workspace is listed for. */
  async copy(transaction: Database, from: string, to: string): Promise<void> {
    // The lock skips a row that is being deleted, whose list the foreign key would refuse.
    await sql`
      insert into ${this.#rows} (account_id, name, agent_id)
      select used.account_id, used.name, ${to}::uuid
      from ${this.#rows} allowed join ${this.#of} used using (account_id, name)
      where allowed.agent_id = ${from} for key share of used`.execute(transaction);
  }
}

/** The ids of the agents, which stay until the end of the transaction. Throws `request_invalid`. */
export async function requireAgents(
  transaction: Transaction<Tables>,
  viewer: Viewer,
  names: readonly string[],
): Promise<string[]> {
  if (names.length === 0) return [];
  const rows = await transaction
    .selectFrom("agents")
    .select(["id", "name"])
    .where("account_id", "=", viewer.accountId)
    .where("name", "in", names)
    .where(visibleTo(viewer, "oversee"))
    .orderBy("id")
    .forKeyShare()
    .execute();
  const missing = names.find((name) => !rows.some((row) => row.name === name));
  if (missing !== undefined) throw new BerthError("request_invalid", `agents: there is no agent ${missing}.`);
  return rows.map(({ id }) => id);
}
