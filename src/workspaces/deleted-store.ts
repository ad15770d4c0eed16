import { sql } from "kysely";
import { BerthError } from "../contract/errors.ts";
import type { Database } from "../core/database/database.ts";

/** A workspace that was deleted with its agents, and can be restored. */
export interface DeletedWorkspaceState {
  id: string;
  name: string;
  deletedAt: Date;
  removedAt: Date;
}

/** Deleted workspaces, for a number of days. */
export class DeletedWorkspaceStore {
  readonly #database: Database;
  readonly #host: string;
  readonly #days: number;

  /** `host`: whose agents `awake` and `beyond` return. */
  constructor(database: Database, host: string, days: number) {
    this.#database = database;
    this.#host = host;
    this.#days = days;
  }

  /** Those that the person owned, the newest first. */
  async ofOwner(personId: string): Promise<DeletedWorkspaceState[]> {
    const rows = await this.#owned(personId).orderBy("accounts.deleted_at", "desc").orderBy("accounts.id").execute();
    return rows.map(({ id, name, deletedAt, removedAt }) => ({ id, name, deletedAt: deletedAt!, removedAt }));
  }

  /** Throws `workspace_not_found` if the person does not own it, or too late. */
  async restore(personId: string, id: string): Promise<void> {
    const { numUpdatedRows } = await this.#database
      .updateTable("accounts")
      .set({ deleted_at: null, disabled_at: null })
      .where("id", "in", this.#owned(personId).clearSelect().select("accounts.id").where("accounts.id", "=", id))
      .executeTakeFirst();
    if (numUpdatedRows > 0n) return;
    throw new BerthError("workspace_not_found", "You have no such deleted workspace, or it was removed.");
  }

  /** The agents of this host that run, although their workspace was deleted. */
  async awake(): Promise<string[]> {
    const agents = this.#agents().where("agents.desired", "=", "running").where("agents.status", "!=", "failed");
    return (await agents.execute()).map(({ id }) => id);
  }

  /** The agents of this host whose workspaces can no longer be restored, and whose deletion has not begun. */
  async beyond(): Promise<string[]> {
    const agents = this.#agents().where(this.#isOver).where("agents.desired", "!=", "deleted");
    return (await agents.execute()).map(({ id }) => id);
  }

  /** The workspaces that can no longer be restored, and have no agents on any host. */
  async empty(): Promise<string[]> {
    const rows = await this.#database
      .selectFrom("accounts")
      .select("id")
      .where(this.#isOver)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom("agents").select("agents.id").whereRef("agents.account_id", "=", "accounts.id"))),
      )
      .execute();
    return rows.map(({ id }) => id);
  }

  #agents() {
    return this.#database
      .selectFrom("agents")
      .innerJoin("accounts", "accounts.id", "agents.account_id")
      .select("agents.id")
      .where("accounts.deleted_at", "is not", null)
      .where("agents.host", "=", this.#host);
  }

  get #isOver() {
    return sql<boolean>`accounts.deleted_at <= now() - make_interval(days => ${this.#days}::integer)`;
  }

  #owned(personId: string) {
    return this.#database
      .selectFrom("accounts")
      .innerJoin("memberships", "memberships.account_id", "accounts.id")
      .select(["accounts.id", "accounts.name", "accounts.deleted_at as deletedAt"])
      .select(sql<Date>`accounts.deleted_at + make_interval(days => ${this.#days}::integer)`.as("removedAt"))
      .where("memberships.person_id", "=", personId)
      .where("memberships.role", "=", "owner")
      .where("accounts.deleted_at", "is not", null)
      .where(({ not }) => not(this.#isOver));
  }
}
