import { type Selectable, sql } from "kysely";
import { BerthError } from "../contract/errors.ts";
import { lesserRole, type Role } from "../contract/workspaces.ts";
import type { Database } from "../core/database/database.ts";
import { lockAccount } from "../core/database/lock-account.ts";
import { olderThan } from "../core/database/paging.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Caller } from "../core/http/caller.ts";
import type { KeyState } from "./keys.ts";
import { MinuteNotes } from "./minute-notes.ts";

/** Keys of one account that are neither revoked nor expired. */
const maximumKeys = 1_000;

export class KeyStore {
  readonly #database: Database;
  readonly #used = new MinuteNotes();

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * The caller whose key has this hash; null if the key is unknown, expired or revoked, or its account disabled.
   * Records the last use, at most once a minute.
   */
  async findCaller(hash: Buffer): Promise<Caller | null> {
    const { rows } = await sql<CallerRow>`
      select key.id, key.account_id, key.kind, key.credit_limit, key.expires_at, key.person_id, key.role,
        membership.role as maker_role,
        account.operator and (key.person_id is null or person.account_id = account.id) as operator,
        case when key.kind = 'agent' then array(
          select agent_id::text from key_agents where key_id = key.id
        ) end as agent_ids,
        key.last_used_at is null or key.last_used_at < now() - interval '1 minute' as note
      from ${keysWithMakers}
      where key.hash = ${hash} and ${opens}`.execute(this.#database);
    const [row] = rows;
    if (!row) return null;
    if (row.note) this.#noteUse(row.id);
    const role = roleOf(row);
    return {
      accountId: row.account_id,
      personId: row.person_id,
      role,
      credential: row.kind,
      keyId: row.id,
      agentIds: row.agent_ids,
      creditLimitMicro: row.credit_limit === null ? null : Number(row.credit_limit),
      expiresAt: row.expires_at,
      token: null,
      operator: row.operator && role === "owner",
    };
  }

  /** The key's role now; null if it is revoked or expired, or its account disabled. */
  async roleOf(id: string): Promise<Role | null> {
    const { rows } = await sql<Pick<CallerRow, "role" | "maker_role">>`
      select key.role, membership.role as maker_role from ${keysWithMakers}
      where key.id = ${id} and ${opens}`.execute(this.#database);
    return rows[0] ? roleOf(rows[0]) : null;
  }

  /** Up to `limit` unrevoked keys after the key `after`, newest first: the account's, or those that the maker made. */
  async list({ accountId, maker }: KeyOwner, limit: number, after: string | null): Promise<KeyState[]> {
    const rows = await this.#database
      .selectFrom("api_keys")
      .selectAll()
      .select(namedAgents)
      .where("account_id", "=", accountId)
      .where("revoked_at", "is", null)
      .$if(maker !== undefined, (query) => query.where("person_id", "is not distinct from", maker!))
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
      await lockAccount(transaction, key.accountId);
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
          person_id: key.personId,
          role: key.role,
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

  /** Revokes a key of the owner's permanently. False if there is no such key, or it was already revoked. */
  async revoke({ accountId, maker }: KeyOwner, id: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#database
      .updateTable("api_keys")
      .set({ revoked_at: new Date() })
      .where("account_id", "=", accountId)
      .where("id", "=", id)
      .where("revoked_at", "is", null)
      .$if(maker !== undefined, (query) => query.where("person_id", "is not distinct from", maker!))
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  #noteUse(id: string): void {
    const write = this.#database.updateTable("api_keys").set({ last_used_at: new Date() }).where("id", "=", id);
    this.#used.note(id, () => write.execute());
  }
}

/** The owner of keys: a workspace, or one person in it. */
export interface KeyOwner {
  accountId: string;
  /** Only keys that this person made (null: without a maker); undefined: all of the account's. */
  maker?: string | null;
}

/** A key has no higher role than its maker has now. */
function roleOf({ role, maker_role: makerRole }: Pick<CallerRow, "role" | "maker_role">): Role {
  return makerRole === null ? role : lesserRole(role, makerRole);
}

const keysWithMakers = sql`api_keys key
  join accounts account on account.id = key.account_id
  left join people person on person.id = key.person_id
  left join memberships membership on membership.person_id = key.person_id and membership.account_id = key.account_id`;

/** The condition on the rows of `keysWithMakers` for the key to be valid. */
const opens = sql`key.revoked_at is null and (key.expires_at is null or key.expires_at > now())
  and account.disabled_at is null
  and (key.person_id is null or (membership.role is not null and person.disabled_at is null))`;

interface CallerRow {
  id: string;
  account_id: string;
  person_id: string | null;
  role: Role;
  /** Null for a key without a maker. */
  maker_role: Role | null;
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
    personId: row.person_id,
    role: row.role,
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
