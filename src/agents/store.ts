import { type Insertable, sql } from "kysely";
import type { ImportDetail } from "../archives/imports.ts";
import type { AgentSettings } from "../contract/agents.ts";
import { BerthError } from "../contract/errors.ts";
import { uuidOf } from "../contract/ids.ts";
import { type Database, isDuplicate } from "../core/database/database.ts";
import { lockAccount } from "../core/database/lock-account.ts";
import { lockPrivacy, visibleTo } from "../core/database/private-agents.ts";
import type { Tables } from "../core/database/tables.ts";
import type { ListedAccess, Viewer } from "../core/http/access.ts";
import type { Caller } from "../core/http/caller.ts";
import type { AgentState } from "./agent.ts";
import { agentColumns, joinedColumns, toColumns, toState } from "./rows.ts";

export class AgentStore {
  readonly #database: Database;
  readonly #host: string;
  readonly #maximum: number;

  /**
   * `host`: the id of the data folder that new agents' machines belong to. `maximum`: the number of agents that an account
   * can have.
   */
  constructor(database: Database, host: string, maximum: number) {
    this.#database = database;
    this.#host = host;
    this.#maximum = maximum;
  }

  /** Throws `agent_exists`, `too_many_agents`. */
  insert(agent: AgentState): Promise<void> {
    return this.insertWith([agent], async () => {});
  }

  /**
   * Inserts agents together with what `then` adds: all of it or nothing. Throws `agent_exists`, and `too_many_agents` if
   * the account reaches its maximum in the meantime.
   */
  async insertWith(agents: readonly AgentState[], then: (transaction: Database) => Promise<void>): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      for (const agent of agents) await this.#insert(agent, transaction);
      await then(transaction);
      // Last: settlements of the account's credits wait for this lock, and `then` may take minutes.
      const accounts = [...new Set(agents.map(({ accountId }) => accountId))].toSorted();
      for (const accountId of accounts) {
        await lockAccount(transaction, accountId);
        await this.#requireFew(transaction, accountId, 0);
      }
    });
  }

  async #insert(agent: AgentState, database: Database): Promise<void> {
    try {
      await database
        .insertInto("agents")
        .values({ ...toColumns(agent), host: this.#host } as Insertable<Tables["agents"]>)
        .execute();
    } catch (error) {
      if (!isDuplicate(error, "agents_account_id_name_key")) throw error;
      throw new BerthError("agent_exists", `There is already an agent ${agent.name}.`);
    }
  }

  async byId(id: string): Promise<AgentState | null> {
    const row = await this.#database.selectFrom("agents").select(agentColumns).where("id", "=", id).executeTakeFirst();
    return row ? toState(row, this.#host) : null;
  }

  async byName(accountId: string, name: string): Promise<AgentState | null> {
    const row = await this.#database
      .selectFrom("agents")
      .select(agentColumns)
      .where("account_id", "=", accountId)
      .where("name", "=", name)
      .executeTakeFirst();
    return row ? toState(row, this.#host) : null;
  }

  async byAccountDigits(digits: string, name: string): Promise<AgentState | null> {
    const id = (rest: string) => uuidOf(digits.padEnd(32, rest));
    const row = await this.#database
      .selectFrom("agents")
      .select(agentColumns)
      .where("account_id", ">=", id("0"))
      .where("account_id", "<=", id("f"))
      .where("name", "=", name)
      .executeTakeFirst();
    return row ? toState(row, this.#host) : null;
  }

  /** Up to `limit` agents of the caller's by name, after the name `after`. */
  async list(
    caller: Viewer & Pick<Caller, "agentIds">,
    limit: number,
    after: string | null,
    least: ListedAccess,
  ): Promise<AgentState[]> {
    const { accountId, agentIds: ids } = caller;
    const rows = await this.#database
      .selectFrom("agents")
      .leftJoin("people", "people.id", "agents.person_id")
      .select(joinedColumns)
      .where("agents.account_id", "=", accountId)
      .where(visibleTo(caller, least))
      .$if(ids !== null, (query) => query.where("agents.id", "=", sql<string>`any(${ids}::uuid[])`))
      .$if(after !== null, (query) => query.where("agents.name", ">", after))
      .orderBy("agents.name")
      .limit(limit)
      .execute();
    return rows.map((row) => toState(row, this.#host));
  }

  /** Throws `too_many_agents` if the account cannot have `more` agents. */
  requireFew(accountId: string, more: number): Promise<void> {
    return this.#requireFew(this.#database, accountId, more);
  }

  async #requireFew(database: Database, accountId: string, more: number): Promise<void> {
    const { count } = await database
      .selectFrom("agents")
      .select(({ fn }) => fn.countAll<string>().as("count"))
      .where("account_id", "=", accountId)
      .executeTakeFirstOrThrow();
    if (Number(count) + more <= this.#maximum) return;
    const message = `An account can have up to ${this.#maximum} agents; delete one first.`;
    throw new BerthError("too_many_agents", message);
  }

  async importDetail(id: string): Promise<ImportDetail | null> {
    const row = await this.#database
      .selectFrom("agents")
      .select("import_detail")
      .where("id", "=", id)
      .executeTakeFirst();
    return row?.import_detail ?? null;
  }

  /** The ids of this host's agents whose machines have not received the files of an import yet. */
  async importing(): Promise<Set<string>> {
    const rows = this.#database.selectFrom("agents").select("id").where("host", "=", this.#host);
    return new Set((await rows.where("importing", "=", true).execute()).map(({ id }) => id));
  }

  async countByStatus(): Promise<Partial<Record<AgentState["status"], number>>> {
    const rows = await this.#database
      .selectFrom("agents")
      .select(["status", ({ fn }) => fn.countAll<string>().as("count")])
      .where("host", "=", this.#host)
      .groupBy("status")
      .execute();
    return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]));
  }

  /** The account and the maker (null: they are gone) of a private agent without a row. Null if none is known. */
  async formerPrivate(id: string): Promise<Pick<AgentState, "accountId" | "personId" | "personName"> | null> {
    const row = await this.#database
      .selectFrom("private_names")
      .leftJoin("people", "people.id", "private_names.person_id")
      .select(["private_names.account_id as accountId", "people.id as personId", "people.name as personName"])
      .where("agent_id", "=", id)
      .executeTakeFirst();
    return row ?? null;
  }

  /** Those of these agents that are private now. */
  async privateOf(ids: readonly string[]): Promise<Pick<AgentState, "id" | "private" | "personId">[]> {
    return this.#database
      .selectFrom("agents")
      .select(["id", "private", "person_id as personId"])
      .where("id", "=", sql<string>`any(${ids}::uuid[])`)
      .where("private", "=", true)
      .execute();
  }

  /** Changes the owner's settings. Returns the changed agent; null if it is gone or being deleted. */
  async configure(id: string, settings: Partial<AgentSettings>): Promise<AgentState | null> {
    const row = await this.#database.transaction().execute(async (transaction) => {
      if (settings.private) await lockPrivacy(transaction, id);
      return transaction
        .updateTable("agents")
        .set(toColumns(settings))
        .where("id", "=", id)
        .where("status", "!=", "deleting")
        .returning(agentColumns)
        .executeTakeFirst();
    });
    return row ? toState(row, this.#host) : null;
  }

  async byNames(accountId: string, names: readonly string[]): Promise<AgentState[]> {
    if (names.length === 0) return [];
    const rows = await this.#database
      .selectFrom("agents")
      .select(agentColumns)
      .where("account_id", "=", accountId)
      .where("name", "in", names)
      .execute();
    return rows.map((row) => toState(row, this.#host));
  }
}
