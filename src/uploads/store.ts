import { type Selectable, sql } from "kysely";
import type { Author } from "../contract/authors.ts";
import { BerthError } from "../contract/errors.ts";
import { type Attachment, maximumUploadedBytes } from "../contract/uploads.ts";
import { type AuthorIds, authorColumns, authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import { olderThan } from "../core/database/paging.ts";
import type { Tables } from "../core/database/tables.ts";
import type { UploadState } from "./uploads.ts";

/** How long an upload is kept: without a message that uses it, and after one. */
const keptHours = { unused: 24, used: 7 * 24 };

/** The condition on `uploads` that a turn which has not ended uses the upload. */
export const isInUse = sql<boolean>`exists (
  select from turns where turns.agent_id = uploads.agent_id and turns.status in ('queued', 'running')
    and turns.attachments @> jsonb_build_array(jsonb_build_object('id', uploads.id)))`;

/**
 * Uploads of all agents, with their bytes. They are in the database, so that each server has them, and backups contain
 * them.
 */
export class UploadStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Begins an upload. It is found once it is complete. */
  async begin(
    id: string,
    agentId: string,
    author: AuthorIds,
    file: { name: string; mediaType: string },
  ): Promise<void> {
    await this.#database
      .insertInto("uploads")
      .values({
        id,
        agent_id: agentId,
        ...authorColumns(author),
        name: file.name,
        media_type: file.mediaType,
        size: 0,
        expires_at: hoursFromNow(keptHours.unused),
      })
      .execute();
  }

  /**
   * Adds bytes to an upload, the `number`th that it gets. Throws `uploads_full`, and `upload_not_found` if it was deleted.
   */
  async add(id: string, accountId: string, number: number, bytes: Buffer): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await makeRoom(transaction, accountId, bytes.length);
      const { rows } = await sql`
        update uploads set size = size + ${bytes.length} where id = ${id} returning id`.execute(transaction);
      if (rows.length === 0) throw noUpload(id);
      await transaction.insertInto("upload_chunks").values({ upload_id: id, number, bytes }).execute();
    });
  }

  async complete(id: string, sha256: Buffer): Promise<UploadState> {
    await this.#database.updateTable("uploads").set({ sha256 }).where("id", "=", id).execute();
    const row = await this.#found().where("id", "=", id).executeTakeFirst();
    if (!row) throw noUpload(id);
    return toState(row);
  }

  async find(agentId: string, id: string): Promise<UploadState | null> {
    const row = await this.#found().where("agent_id", "=", agentId).where("id", "=", id).executeTakeFirst();
    return row ? toState(row) : null;
  }

  /** Up to `limit` of an agent's uploads after the upload `after`, newest first. */
  async list(agentId: string, limit: number, after: string | null): Promise<UploadState[]> {
    const rows = await this.#found()
      .where("agent_id", "=", agentId)
      .$if(after !== null, (query) => query.where(olderThan("uploads", after!)))
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    return rows.map(toState);
  }

  #found() {
    return this.#database
      .selectFrom("uploads")
      .selectAll()
      .select(authorOf("uploads").as("createdBy"))
      .where("sha256", "is not", null)
      .where(sql<boolean>`(expires_at > now() or ${isInUse})`);
  }

  /** The bytes, in parts. */
  async *bytes(id: string): AsyncGenerator<Buffer> {
    for (let number = 0; ; number++) {
      const chunk = await this.#database
        .selectFrom("upload_chunks")
        .select("bytes")
        .where("upload_id", "=", id)
        .where("number", "=", number)
        .executeTakeFirst();
      if (!chunk) return;
      yield chunk.bytes;
    }
  }

  /** False: a turn that has not ended uses it. */
  async remove(id: string): Promise<boolean> {
    const { rows } = await sql`
      delete from uploads where id = ${id} and not ${isInUse} returning id`.execute(this.#database);
    return rows.length > 0;
  }
}

/** Part of a turn's start: its uploads are kept for it and some time longer. Throws `upload_not_found`. */
export async function useUploads(transaction: Database, agentId: string, attachments: readonly Attachment[]) {
  const ids = [...new Set(attachments.map(({ id }) => id))];
  if (ids.length === 0) return;
  const expiresAt = hoursFromNow(keptHours.used);
  const used = await transaction
    .updateTable("uploads")
    .set({ used: true, expires_at: expiresAt })
    .where("agent_id", "=", agentId)
    .where("id", "in", ids)
    .returning("id")
    .execute();
  const missing = ids.find((id) => used.every((each) => each.id !== id));
  if (missing !== undefined) throw noUpload(missing);
}

/**
 * Makes sure that the workspace's uploads have capacity for that many bytes. Those that ended turns used are removed, the
 * oldest first. Throws `uploads_full`. Parallel uploads may exceed the limit by one part each.
 */
async function makeRoom(transaction: Database, accountId: string, bytes: number): Promise<void> {
  const { rows } = await sql<{ total: string }>`
    select coalesce(sum(size), 0) as total from uploads join agents on agents.id = agent_id
    where account_id = ${accountId}`.execute(transaction);
  const missing = Number(rows[0]!.total) + bytes - maximumUploadedBytes;
  if (missing <= 0) return;
  const { rows: removed } = await sql<{ size: string }>`
    delete from uploads where id in (
      select id from (
        select uploads.id, sum(size) over (order by uploads.created_at, uploads.id) - size as before
        from uploads join agents on agents.id = agent_id
        where account_id = ${accountId} and used and not ${isInUse}
      ) old where before < ${missing}
    ) returning size`.execute(transaction);
  if (removed.reduce((sum, { size }) => sum + Number(size), 0) >= missing) return;
  const limit = maximumUploadedBytes / 1024 ** 3;
  throw new BerthError(
    "uploads_full",
    `The workspace's uploads are limited to ${limit} GiB. Delete uploads, or wait until they expire.`,
  );
}

export function noUpload(id: string): BerthError {
  return new BerthError("upload_not_found", `The agent has no upload ${id}; it may have expired.`);
}

function hoursFromNow(hours: number): Date {
  return new Date(Date.now() + hours * 3_600_000);
}

type UploadRow = Selectable<Tables["uploads"]> & { createdBy: Author | null };

function toState(row: UploadRow): UploadState {
  return {
    id: row.id,
    agentId: row.agent_id,
    keyId: row.key_id,
    name: row.name,
    mediaType: row.media_type,
    size: Number(row.size),
    sha256: row.sha256!.toString("hex"),
    createdBy: row.createdBy,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
