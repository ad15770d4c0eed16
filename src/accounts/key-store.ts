import { type Selectable, sql } from "kysely";
import { BerthError } from "../contract/errors.ts";
import type { Database } from "../core/database/database.ts";
import { olderThan } from "../core/database/paging.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Caller } from "../core/http/caller.ts";
import type { KeyState } from "./keys.ts";

/** Keys of one account that are neither revoked nor expired. */
const maximumKeys = 1_000;

/** The accounts' API keys. */
export class KeyStore {
  readonly #database: Database;
  /** Keys whose last use is being written. */
  readonly #noting = new Set<string>();

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * The caller whose key has this hash; null if the key is unknown, expired or revoked, or its account disabled.
   * Records the last use, at most once a minute.
   */
  async findCaller(hash: Buffer): Promise<Caller | null> {
    const { rows } = await sql<CallerRow>`
      select key.id, key.account_id, key.kind, key.credit_limit, key.expires_at, account.operator,
        case when key.kind = 'agent' then array(
          select agent_id::text from key_agents where key_id = key.id
        ) end as agent_ids,
        key.last_used_at is null or key.last_used_at < now() - interval '1 minute' as note
      from api_keys key join accounts account on account.id = key.account_id
      where key.hash = ${hash} and ${opens}`.execute(this.#database);
    const [row] = rows;
    if (!row) return null;
    if (row.note) this.#noteUse(row.id);
    return {
      accountId: row.account_id,
      credential: row.kind,
      keyId: row.id,
      agentIds: row.agent_ids,
      creditLimitMicro: row.credit_limit === null ? null : Number(row.credit_limit),
      expiresAt: row.expires_at,
      token: null,
      operator: row.operator,
    };
  }

  /** False if the key is revoked or expired, or its account disabled. */
  async isValid(id: string): Promise<boolean> {
    const { rows } = await sql`
      select from api_keys key join accounts account on account.id = key.account_id
      where key.id = ${id} and ${opens}`.execute(this.#database);
    return rows.length > 0;
  }

  /** Up to `limit` of the account's unrevoked keys after the key `after`, newest first. */
  async list(accountId: string, limit: number, after: string | null): Promise<KeyState[]> {
    const rows = await this.#database
      .selectFrom("api_keys")
      .selectAll()
      .select(namedAgents)
      .where("account_id", "=", accountId)
      .where("revoked_at", "is", null)
      .$if(after !== null, (query) => query.where(olderThan("api_keys", after!)))
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .limit(limit)
      .execute();
    return rows.map(fromRow);
  }

  /** Throws `request_invalid` if the account has too many keys. */
  async insert(key: KeyState): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      // One at a time, so that their count is correct.
      await transaction.selectFrom("accounts").select("id").where("id", "=", key.accountId).forNoKeyUpdate().execute();
      const { count } = await transaction
        .selectFrom("api_keys")
        .select(({ fn }) => fn.countAll<string>().as("count"))
        .where("account_id", "=", key.accountId)
        .where("revoked_at", "is", null)
        .where(({ or, eb }) => or([eb("expires_at", "is", null), eb("expires_at", ">", new Date())]))
        .executeTakeFirstOrThrow();
      if (Number(count) >= maximumKeys) {
        throw new BerthError("request_invalid", `An account can have at most ${maximumKeys} keys. Revoke one first.`);
      }
      await transaction
        .insertInto("api_keys")
        .values({
          id: key.id,
          account_id: key.accountId,
          name: key.name,
          kind: key.kind,
          prefix: key.prefix,
          hash: key.hash,
          created_at: key.createdAt,
          expires_at: key.expiresAt,
          credit_limit: key.creditLimitMicro === null ? null : String(key.creditLimitMicro),
        })
        .execute();
      const agents = (key.agents ?? []).map(({ id }) => ({ key_id: key.id, agent_id: id }));
      if (agents.length > 0) await transaction.insertInto("key_agents").values(agents).execute();
    });
  }

  /** Gives the account's key a new secret. Returns the key; null if there is none, or it was revoked. */
  async replaceSecret(
    accountId: string,
    id: string,
    secret: { prefix: string; hash: Buffer },
  ): Promise<KeyState | null> {
    const row = await this.#database
      .updateTable("api_keys")
      .set(secret)
      .where("account_id", "=", accountId)
      .where("id", "=", id)
      .where("revoked_at", "is", null)
      .returningAll()
      .returning(namedAgents)
      .executeTakeFirst();
    return row ? fromRow(row) : null;
  }

  /** Revokes the account's key permanently. False if there is no such key, or it was already revoked. */
  async revoke(accountId: string, id: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable("api_keys")
      .set({ revoked_at: new Date() })
      .where("account_id", "=", accountId)
      .where("id", "=", id)
      .where("revoked_at", "is", null)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Not awaited: if the database is down, only a timestamp is lost. */
  #noteUse(id: string): void {
    if (this.#noting.has(id)) return;
    this.#noting.add(id);
    void this.#database
      .updateTable("api_keys")
      .set({ last_used_at: new Date() })
      .where("id", "=", id)
      .execute()
      .catch(() => {})
      .finally(() => this.#noting.delete(id));
  }
}

/** The condition on `key` and `account` for the key to be valid. */
const opens = sql`key.revoked_at is null and (key.expires_at is null or key.expires_at > now())
  and account.disabled_at is null`;

interface CallerRow {
  id: string;
  account_id: string;
  kind: "full" | "agent";
  credit_limit: string | null;
  expires_at: Date | null;
  operator: boolean;
  agent_ids: string[] | null;
  /** Whether its last use was recorded more than a minute ago. */
  note: boolean;
}

const namedAgents = sql<{ id: string; name: string }[]>`coalesce((
  select jsonb_agg(jsonb_build_object('id', agents.id, 'name', agents.name) order by agents.name)
  from key_agents join agents on agents.id = key_agents.agent_id
  where key_agents.key_id = api_keys.id), '[]'::jsonb)`.as("agents");

function fromRow(row: Selectable<Tables["api_keys"]> & { agents: { id: string; name: string }[] }): KeyState {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    kind: row.kind,
    agents: row.kind === "agent" ? row.agents : null,
    creditLimitMicro: row.credit_limit === null ? null : Number(row.credit_limit),
    prefix: row.prefix,
    hash: row.hash,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
  };
}
