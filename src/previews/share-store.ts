import { type Selectable, sql } from "kysely";
import { type AuthorIds, authorColumns, authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import type { Tables } from "../core/database/tables.ts";
import type { ShareState } from "./shares.ts";

/** Public links to agents' ports. */
export class ShareStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** `full`: the agent has `most` shares already. `gone`: it is deleted, or has become private to another person. */
  async insert(
    agentId: string,
    { id, port, expiresAt }: Omit<ShareState, "createdBy" | "createdAt">,
    by: AuthorIds,
    hash: Buffer,
    most: number,
  ): Promise<ShareState | "full" | "gone"> {
    return this.#database.transaction().execute(async (transaction) => {
      // Serialized, so that the count is correct, and an agent that becomes private keeps no share of others.
      const agents = transaction
        .selectFrom("agents")
        .select("id")
        .where("id", "=", agentId)
        .where(({ eb, or }) => or([eb("private", "=", false), eb("person_id", "=", by.personId)]));
      if (!(await agents.forNoKeyUpdate().executeTakeFirst())) return "gone";
      await transaction
        .deleteFrom("port_shares")
        .where("agent_id", "=", agentId)
        .where("expires_at", "<=", sql<Date>`now()`)
        .execute();
      const own = transaction.selectFrom("port_shares").where("agent_id", "=", agentId);
      const { count } = await own.select(({ fn }) => fn.countAll<string>().as("count")).executeTakeFirstOrThrow();
      if (Number(count) >= most) return "full";
      const row = { id, agent_id: agentId, port, secret_hash: hash, expires_at: expiresAt, ...authorColumns(by) };
      const inserted = transaction.insertInto("port_shares").values(row).returningAll().returning(author);
      return fromRow(await inserted.executeTakeFirstOrThrow());
    });
  }

  /** The oldest first. */
  async list(agentId: string): Promise<ShareState[]> {
    const rows = this.#open().selectAll().select(author).where("agent_id", "=", agentId);
    return (await rows.orderBy("created_at").execute()).map(fromRow);
  }

  /** False if the agent has no such share. */
  async remove(agentId: string, id: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom("port_shares")
      .where("agent_id", "=", agentId)
      .where("id", "=", id)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** The id of the share with this secret; null without one. */
  async bySecret(agentId: string, port: number, hash: Buffer): Promise<string | null> {
    const row = await this.#open()
      .select("id")
      .where("agent_id", "=", agentId)
      .where("port", "=", port)
      .where("secret_hash", "=", hash)
      .executeTakeFirst();
    return row?.id ?? null;
  }

  async isOpen(id: string): Promise<boolean> {
    return (await this.#open().select("id").where("id", "=", id).executeTakeFirst()) !== undefined;
  }

  #open() {
    return this.#database
      .selectFrom("port_shares")
      .where(({ eb, or }) => or([eb("expires_at", "is", null), eb("expires_at", ">", sql<Date>`now()`)]));
  }
}

const author = authorOf("port_shares").as("createdBy");

type ShareRow = Selectable<Tables["port_shares"]> & Pick<ShareState, "createdBy">;

function fromRow({ id, port, createdBy, created_at, expires_at }: ShareRow): ShareState {
  return { id, port, createdBy, createdAt: created_at, expiresAt: expires_at };
}
