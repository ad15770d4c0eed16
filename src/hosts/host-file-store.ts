import { sql } from "kysely";
import { isUuid } from "../contract/ids.ts";
import type { Database } from "../core/database/database.ts";
import type { FileState } from "./host-files.ts";

/** The rows that name a host's files. */
export class HostFileStore {
  readonly #database: Database;
  readonly #host: string;

  constructor(database: Database, host: string) {
    this.#database = database;
    this.#host = host;
  }

  /** Whether this host is registered in the database. */
  async isKnown(): Promise<boolean> {
    const row = await this.#database.selectFrom("hosts").select("id").where("id", "=", this.#host).executeTakeFirst();
    return row !== undefined;
  }

  /** Records that the machines of this host belong to this database. */
  async register(): Promise<void> {
    const row = { id: this.#host };
    await this.#database
      .insertInto("hosts")
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /** The state of each id. No database assigns an id that is not a UUID. */
  async statesOf(ids: readonly string[]): Promise<Map<string, FileState>> {
    const asked = ids.filter(isUuid);
    const { rows } = await sql<{ id: string; state: FileState }>`
      select id, case
        when exists (select from agents where agents.id = found.id)
          or exists (select from snapshots where snapshots.id = found.id)
          or exists (select from agents where agents.snapshot = found.id) then 'named'
        when exists (select from removals where removals.id = found.id) then 'removed'
        else 'unknown' end as state
      from unnest(${asked}::uuid[]) as found (id)`.execute(this.#database);
    const states = new Map(rows.map(({ id, state }) => [id, state]));
    return new Map(ids.map((id) => [id, states.get(id) ?? "unknown"]));
  }

  /** Records that the files of this id may be removed once no row names them. Call it before they are created. */
  async allowRemoval(id: string): Promise<void> {
    await this.#database
      .insertInto("removals")
      .values({ id })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /** Returns the ids that the operator has accepted as files without a row. */
  async accepted(ids: readonly string[]): Promise<Set<string>> {
    const rows = await this.#database
      .selectFrom("accepted_orphans")
      .select("id")
      .where("id", "=", sql<string>`any(${ids.filter(isUuid)}::uuid[])`)
      .execute();
    return new Set(rows.map(({ id }) => id));
  }

  /** Records that the operator accepts these ids as files without a row. */
  async accept(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#database
      .insertInto("accepted_orphans")
      .values(ids.map((id) => ({ id })))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}
