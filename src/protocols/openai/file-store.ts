import { type Selectable, type SqlBool, sql } from "kysely";
import { BerthError } from "../../contract/errors.ts";
import { type FilePurpose, fileLimits, keyFileLimits } from "../../contract/openai-files.ts";
import { authorColumns } from "../../core/database/authors.ts";
import type { Database } from "../../core/database/database.ts";
import { lockAccount } from "../../core/database/lock-account.ts";
import type { Tables } from "../../core/database/tables.ts";
import type { Caller } from "../../core/http/caller.ts";

/** A file of OpenAI's Files API. */
export interface FileState {
  id: string;
  name: string;
  mediaType: string;
  purpose: FilePurpose;
  /** In bytes. */
  size: number;
  createdAt: Date;
  expiresAt: Date;
}

/** The part of a list to read. `after`: the id of the file before the page. */
export interface FilePage {
  purpose: FilePurpose | null;
  limit: number;
  order: "asc" | "desc";
  after: string | null;
}

export type FileOwner = Pick<Caller, "accountId" | "agentIds" | "keyId" | "personId">;

/** How many bytes are stored in a row. */
const chunkBytes = 1024 * 1024;

/** Files with their bytes. They are in the database, so that each server has them, and backups contain them. */
export class OpenAiFileStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Stores a file. Has no effect if an earlier attempt has stored it. Throws `uploads_full`. */
  async insert({ expiresAt, ...file }: Omit<FileState, "createdAt">, owner: FileOwner, bytes: Blob): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await lockAccount(transaction, owner.accountId);
      const { numInsertedOrUpdatedRows } = await transaction
        .insertInto("openai_files")
        .values({
          id: file.id,
          account_id: owner.accountId,
          ...authorColumns(owner),
          is_of_agent_key: owner.agentIds !== null,
          name: file.name,
          media_type: file.mediaType,
          purpose: file.purpose,
          size: file.size,
          expires_at: expiresAt,
        })
        .onConflict((conflict) => conflict.column("id").doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows === 0n) return;
      await requireWithin(transaction, owner);
      for (let number = 0; number * chunkBytes < bytes.size; number++) {
        const part = bytes.slice(number * chunkBytes, (number + 1) * chunkBytes);
        const values = { file_id: file.id, number, bytes: Buffer.from(await part.arrayBuffer()) };
        await transaction.insertInto("openai_file_chunks").values(values).execute();
      }
    });
  }

  async find(owner: FileOwner, id: string): Promise<FileState | null> {
    const row = await this.#of(owner).where("id", "=", id).executeTakeFirst();
    return row ? fromRow(row) : null;
  }

  async list(owner: FileOwner, { purpose, limit, order, after }: FilePage): Promise<FileState[]> {
    const start = sql`(select created_at, id from openai_files where id = ${after}::uuid)`;
    const rows = await this.#of(owner)
      .$if(purpose !== null, (query) => query.where("purpose", "=", purpose!))
      .$if(after !== null, (query) =>
        query.where(
          order === "asc" ? sql<SqlBool>`(created_at, id) > ${start}` : sql<SqlBool>`(created_at, id) < ${start}`,
        ),
      )
      .orderBy("created_at", order)
      .orderBy("id", order)
      .limit(limit)
      .execute();
    return rows.map(fromRow);
  }

  #of(owner: FileOwner) {
    return this.#database
      .selectFrom("openai_files")
      .selectAll()
      .where("account_id", "=", owner.accountId)
      .where(isOf(owner))
      .where("expires_at", ">", sql<Date>`now()`);
  }

  /** The bytes, in parts. */
  async *bytes(id: string): AsyncGenerator<Buffer> {
    for (let number = 0; ; number++) {
      const chunk = await this.#database
        .selectFrom("openai_file_chunks")
        .select("bytes")
        .where("file_id", "=", id)
        .where("number", "=", number)
        .executeTakeFirst();
      if (!chunk) return;
      yield chunk.bytes;
    }
  }

  async remove(id: string): Promise<void> {
    await this.#database.deleteFrom("openai_files").where("id", "=", id).execute();
  }
}

/** An external agent key sees its own files. Others see those of the person they act for, with all of that person's keys. */
function isOf({ agentIds, keyId, personId }: FileOwner) {
  return agentIds === null
    ? sql<SqlBool>`person_id is not distinct from ${personId}::uuid`
    : sql<SqlBool>`is_of_agent_key and key_id = ${keyId}::uuid`;
}

/** Throws `uploads_full`. Expired files that are not yet removed count. */
async function requireWithin(transaction: Database, { accountId, agentIds, keyId }: FileOwner): Promise<void> {
  const ofKey = sql`is_of_agent_key and key_id = ${keyId}::uuid`;
  const { rows } = await sql<{ files: number; bytes: string; keyFiles: number; keyBytes: string }>`
    select count(*)::integer as files, coalesce(sum(size), 0) as bytes,
      (count(*) filter (where ${ofKey}))::integer as "keyFiles", coalesce(sum(size) filter (where ${ofKey}), 0) as "keyBytes"
    from openai_files where account_id = ${accountId}`.execute(transaction);
  const { files, bytes, keyFiles, keyBytes } = rows[0]!;
  if (files > fileLimits.files || Number(bytes) > fileLimits.bytes) throw full("A workspace", fileLimits);
  if (agentIds !== null && (keyFiles > keyFileLimits.files || Number(keyBytes) > keyFileLimits.bytes))
    throw full("An external agent key", keyFileLimits);
}

function full(owner: string, { files, bytes }: typeof fileLimits): BerthError {
  const limits = `${files} files of ${bytes / 1024 ** 2} MiB together`;
  return new BerthError("uploads_full", `${owner} can have ${limits}. Delete files, or wait until they expire.`);
}

function fromRow(row: Selectable<Tables["openai_files"]>): FileState {
  return {
    id: row.id,
    name: row.name,
    mediaType: row.media_type,
    purpose: row.purpose as FilePurpose,
    size: Number(row.size),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
