import { sql } from "kysely";
import type { Database } from "./database.ts";

/**
 * The time for which machines ran, as their accounts are charged for it. Each change of an agent's status charges what has
 * run up until then (a trigger of migration 10); this does it for those that just go on.
 */
export class MachineTime {
  readonly #database: Database;
  readonly #host: string;
  readonly #price: number;

  /** `host`: whose machines `unpaid` lists. `price`: micro-credits for a GiB of memory and an hour. */
  constructor(database: Database, host: string, price: number) {
    this.#database = database;
    this.#host = host;
    this.#price = price;
  }

  /** Charges the machines of all agents that are ready up to now. At several servers at once, none is charged twice. */
  async charge(): Promise<void> {
    const ready = await this.#database.selectFrom("agents").select("id").where("status", "=", "ready").execute();
    // One after the other: each locks its agent and its account.
    for (const { id } of ready) {
      await this.#database
        .updateTable("agents")
        .set({ metered_until: sql`clock_timestamp()`, machine_price: String(this.#price) })
        .where("id", "=", id)
        .where("status", "=", "ready")
        .execute();
    }
  }

  /** The agents of this host that run though their account has used up its credits, or its monthly limit. */
  async unpaid(): Promise<{ id: string }[]> {
    return this.#database
      .selectFrom("agents")
      .innerJoin("accounts", "accounts.id", "agents.account_id")
      .select("agents.id")
      .where("agents.host", "=", this.#host)
      .where("agents.desired", "=", "running")
      .where("agents.status", "=", "ready")
      .where(({ or, eb }) =>
        or([eb("balance", "<=", "0"), sql<boolean>`spent_this_month(accounts) >= accounts.monthly_limit`]),
      )
      .execute();
  }
}
