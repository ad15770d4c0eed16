import { type Selectable, sql, type Transaction } from "kysely";
import { BerthError } from "../contract/errors.ts";
import { userNameKey } from "../contract/users.ts";
import { isWithin, type Role } from "../contract/workspaces.ts";
import { type Database, isDuplicate } from "../core/database/database.ts";
import { lockAccount } from "../core/database/lock-account.ts";
import type { Tables } from "../core/database/tables.ts";
import type { MemberState, PersonState, WorkspaceState } from "./workspaces.ts";

/** Workspaces of one person. */
const maximumWorkspaces = 100;
/** People's workspaces and their members. */
export class WorkspaceStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async person(id: string): Promise<PersonState | null> {
    const row = await this.#database.selectFrom("people").selectAll().where("id", "=", id).executeTakeFirst();
    return row ? toPerson(row) : null;
  }

  /** The person's workspaces, the personal one first, then by name. */
  async ofPerson(personId: string): Promise<WorkspaceState[]> {
    const rows = await this.#select(personId)
      .where("memberships.person_id", "=", personId)
      .where("accounts.disabled_at", "is", null)
      .orderBy("personal", "desc")
      .orderBy("accounts.name")
      .orderBy("accounts.id")
      .execute();
    return rows.map(toWorkspace);
  }

  /** The person's workspace of this id; null if they are not a member. */
  async find(personId: string, accountId: string): Promise<WorkspaceState | null> {
    const row = await this.#select(personId)
      .where("memberships.person_id", "=", personId)
      .where("accounts.id", "=", accountId)
      .executeTakeFirst();
    return row ? toWorkspace(row) : null;
  }

  /** The name of a workspace, and when it was created. */
  async byId(accountId: string): Promise<Pick<WorkspaceState, "id" | "name" | "createdAt">> {
    const { id, name, created_at } = await this.#database
      .selectFrom("accounts")
      .select(["id", "name", "created_at"])
      .where("id", "=", accountId)
      .executeTakeFirstOrThrow();
    return { id, name, createdAt: created_at };
  }

  /** Creates a workspace with its owner. Throws `workspace_exists`, `too_many_workspaces`. */
  async create(id: string, personId: string, name: string): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await requireFewWorkspaces(transaction, personId);
      await transaction
        .insertInto("accounts")
        .values({ id, name, name_key: userNameKey(name) })
        .execute()
        .catch((error: unknown) => refuseDuplicate(error, name));
      await transaction
        .insertInto("memberships")
        .values({ person_id: personId, account_id: id, role: "owner" })
        .execute();
    });
  }

  /** Throws `workspace_exists`. The name of a personal workspace need not be unique. */
  async rename(accountId: string, name: string): Promise<void> {
    await this.#database
      .updateTable("accounts")
      .set({ name, name_key: sql<string>`case when name_key is not null then ${userNameKey(name)} end` })
      .where("id", "=", accountId)
      .execute()
      .catch((error: unknown) => refuseDuplicate(error, name));
  }

  /**
   * Deletes a workspace with its members and keys; its name is free then. The row of one with a ledger stays. With
   * `force`, one with agents is disabled and kept. Returns whether it was kept. Throws `workspace_is_personal`,
   * `workspace_not_empty`.
   */
  async remove(accountId: string, { force }: { force: boolean }): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      // Waits for agents that are being inserted, and keeps others from being inserted.
      const { name_key: nameKey } = await transaction
        .selectFrom("accounts")
        .select("name_key")
        .where("id", "=", accountId)
        .forUpdate()
        .executeTakeFirstOrThrow();
      if (nameKey === null) throw new BerthError("workspace_is_personal", "A personal workspace cannot be deleted.");
      const agents = transaction.selectFrom("agents").select("name").where("account_id", "=", accountId).limit(1);
      if (await agents.executeTakeFirst()) {
        if (!force)
          throw new BerthError("workspace_not_empty", "The workspace has agents. Delete them first, or use force.");
        await disable(transaction, accountId);
        return true;
      }
      const entries = transaction.selectFrom("credit_entries").select("number").where("account_id", "=", accountId);
      if (!(await entries.limit(1).executeTakeFirst())) {
        await transaction.deleteFrom("accounts").where("id", "=", accountId).execute();
        return false;
      }
      await transaction
        .updateTable("accounts")
        .set({ disabled_at: new Date(), deleted_at: null, name_key: accountId })
        .where("id", "=", accountId)
        .execute();
      await transaction.deleteFrom("memberships").where("account_id", "=", accountId).execute();
      await transaction.deleteFrom("invitations").where("account_id", "=", accountId).execute();
      for (const table of ["workspace_secrets", "skills", "providers", "webhooks"] as const) {
        await transaction.deleteFrom(table).where("account_id", "=", accountId).execute();
      }
      await revokeKeys(transaction, accountId, null);
      return false;
    });
  }

  /** Up to `limit` members after the cursor `PERSON@MILLISECONDS`, oldest first. */
  async members(accountId: string, limit: number, after: string | null): Promise<MemberState[]> {
    const rows = await this.#members(accountId)
      .$if(after !== null, (query) => query.where(laterThan(accountId, after!)))
      .orderBy("memberships.created_at")
      .orderBy("memberships.person_id")
      .limit(limit)
      .execute();
    return rows.map(toMember);
  }

  /** Changes a member's role, on behalf of someone with the role `by`. Throws as `#requireChangeable`. */
  async setRole(accountId: string, personId: string, role: Role, by: Role): Promise<MemberState> {
    return this.#database.transaction().execute(async (transaction) => {
      await this.#requireChangeable(transaction, accountId, personId, role, by);
      await transaction
        .updateTable("memberships")
        .set({ role })
        .where("account_id", "=", accountId)
        .where("person_id", "=", personId)
        .execute();
      const row = this.#members(accountId, transaction).where("memberships.person_id", "=", personId);
      return toMember(await row.executeTakeFirstOrThrow());
    });
  }

  /**
   * Removes a member with their keys and open invitations, on behalf of someone with the role `by`. Throws as
   * `#requireChangeable`.
   */
  async removeMember(accountId: string, personId: string, by: Role): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      await this.#requireChangeable(transaction, accountId, personId, null, by);
      await transaction
        .deleteFrom("memberships")
        .where("account_id", "=", accountId)
        .where("person_id", "=", personId)
        .execute();
      await revokeKeys(transaction, accountId, personId);
      await transaction
        .updateTable("invitations")
        .set({ revoked_at: new Date() })
        .where("account_id", "=", accountId)
        .where("person_id", "=", personId)
        .where("accepted_at", "is", null)
        .execute();
    });
  }

  /**
   * Throws `member_not_found`; `forbidden` if the member or their new role has more rights than `by`; `last_owner`;
   * `workspace_is_personal` for the person whose personal workspace it is. Changes of one workspace wait for each other.
   */
  async #requireChangeable(
    transaction: Transaction<Tables>,
    accountId: string,
    personId: string,
    role: Role | null,
    by: Role,
  ): Promise<void> {
    await lockAccount(transaction, accountId);
    const members = transaction.selectFrom("memberships").where("account_id", "=", accountId);
    const member = await members.select("role").where("person_id", "=", personId).executeTakeFirst();
    if (!member) throw new BerthError("member_not_found", "The workspace has no such member.");
    if (!isWithin(member.role, by) || (role !== null && !isWithin(role, by))) {
      throw new BerthError("forbidden", `Your role in this workspace is ${by}: only owners change owners.`);
    }
    if (member.role !== "owner" || role === "owner") return;
    const home = transaction.selectFrom("people").select("id").where("id", "=", personId);
    if (await home.where("account_id", "=", accountId).executeTakeFirst())
      throw new BerthError("workspace_is_personal", "A person always owns their personal workspace.");
    const owners = await members.select("person_id").where("role", "=", "owner").limit(2).execute();
    if (owners.length < 2)
      throw new BerthError("last_owner", "The last owner stays. Make another member an owner first.");
  }

  #members(accountId: string, database: Database = this.#database) {
    return database
      .selectFrom("memberships")
      .innerJoin("people", "people.id", "memberships.person_id")
      .select(["people.id", "people.name", "people.email", "people.last_seen_at"])
      .select(["memberships.role", "memberships.created_at"])
      .where("memberships.account_id", "=", accountId);
  }

  #select(personId: string) {
    return this.#database
      .selectFrom("memberships")
      .innerJoin("accounts", "accounts.id", "memberships.account_id")
      .select(["accounts.id", "accounts.name", "accounts.created_at", "memberships.role"])
      .select(sql<boolean>`accounts.id = (select account_id from people where id = ${personId})`.as("personal"));
  }
}

/** The condition that a member comes after a cursor. That of a removed one counts as the first microsecond of its millisecond. */
function laterThan(accountId: string, cursor: string) {
  const [personId, milliseconds] = cursor.split("@");
  const exact = sql`(select created_at from memberships where account_id = ${accountId} and person_id = ${personId})`;
  const about = sql`to_timestamp(${milliseconds}::bigint / 1000.0)`;
  return sql<boolean>`(memberships.created_at, memberships.person_id) > (coalesce(${exact}, ${about}), ${personId}::uuid)`;
}

/** Concurrent calls for one person wait for each other. */
export async function requireFewWorkspaces(transaction: Transaction<Tables>, personId: string): Promise<void> {
  await transaction.selectFrom("people").select("id").where("id", "=", personId).forNoKeyUpdate().execute();
  const { count } = await transaction
    .selectFrom("memberships")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .where("person_id", "=", personId)
    .executeTakeFirstOrThrow();
  if (Number(count) < maximumWorkspaces) return;
  throw new BerthError("too_many_workspaces", `A person can be in at most ${maximumWorkspaces} workspaces.`);
}

/** Members, keys and invitations stay, and are good for nothing while the workspace is disabled. */
async function disable(transaction: Transaction<Tables>, accountId: string): Promise<void> {
  await transaction
    .updateTable("accounts")
    .set({ disabled_at: sql<Date>`now()`, deleted_at: sql<Date>`now()` })
    .where("id", "=", accountId)
    .execute();
}

/** The keys that the person made; null: all of the workspace's. */
async function revokeKeys(transaction: Transaction<Tables>, accountId: string, personId: string | null): Promise<void> {
  await transaction
    .updateTable("api_keys")
    .set({ revoked_at: new Date() })
    .where("account_id", "=", accountId)
    .where("revoked_at", "is", null)
    .$if(personId !== null, (query) => query.where("person_id", "=", personId))
    .execute();
}

function refuseDuplicate(error: unknown, name: string): never {
  if (!isDuplicate(error, "accounts_name_key_key")) throw error;
  throw new BerthError("workspace_exists", `There is already a workspace ${name}.`);
}

function toPerson(row: Selectable<Tables["people"]>): PersonState {
  return {
    id: row.id,
    name: row.name,
    email: row.email,
    emailVerified: row.email_verified,
    timeZone: row.time_zone,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
  };
}

function toWorkspace({
  id,
  name,
  role,
  personal,
  created_at: createdAt,
}: {
  id: string;
  name: string;
  role: Role;
  personal: boolean;
  created_at: Date;
}): WorkspaceState {
  return { id, name, role, personal, createdAt };
}

function toMember(row: {
  id: string;
  name: string;
  email: string | null;
  role: Role;
  created_at: Date;
  last_seen_at: Date | null;
}): MemberState {
  const { id, name, email, role } = row;
  return { id, name, email, role, joinedAt: row.created_at, lastSeenAt: row.last_seen_at };
}
