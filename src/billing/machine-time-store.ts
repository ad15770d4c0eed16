import { sql } from "kysely";
import type { Database } from "../core/database/database.ts";

/**
 * Charges accounts for machine time. Each change of an agent's status charges the time until then (a trigger in
 * migration 10); this class charges machines that keep running.
 */
export class MachineTime {
  readonly #database: Database;
  readonly #host: string;
  readonly #price: number;

  /**
   * `host`: the host that this server leads, whose machines are charged. `price`: micro-credits per GiB of memory and hour.
   */
  constructor(database: Database, host: string, price: number) {
    this.#database = database;
    this.#host = host;
    this.#price = price;
  }

  /**
   * Charges this host's machines of ready agents up to now. Other hosts' servers charge theirs: a host that has lost
   * its server may have lost its machines. Concurrent servers never charge one twice.
   */
  async charge(): Promise<void> {
    const ready = await this.#database
      .selectFrom("agents")
      .select("id")
      .where("host", "=", this.#host)
      .where("status", "=", "ready")
      .execute();
    // Sequential: each locks its agent and its account.
    for (const { id } of ready) {
      await this.#database
        .updateTable("agents")
        .set({ metered_until: sql`clock_timestamp()`, machine_price: String(this.#price) })
        .where("id", "=", id)
        .where("status", "=", "ready")
        .execute();
    }
  }

  /** This host's running agents whose account has used up its credits or monthly limit. */
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
