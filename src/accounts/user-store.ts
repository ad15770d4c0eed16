import { randomUUID } from "node:crypto";
import { type Selectable, sql, type Transaction } from "kysely";
import { writeStartingEntry } from "../billing/credit-entry-store.ts";
import { BerthError } from "../contract/errors.ts";
import { userNameKey } from "../contract/users.ts";
import { type Database, isDuplicate } from "../core/database/database.ts";
import type { Tables } from "../core/database/tables.ts";
import { insertPerson } from "./people-store.ts";
import type { LinkState, UserState } from "./users.ts";

/** The issuer of local users. It is fixed, because the service's address may change. */
export const localIssuer = "berth:local";

/** Local users, and the links with which they set their passwords. */
export class UserStore {
  readonly #database: Database;
  readonly #startingCredits: number;

  /** `startingCredits`: the micro-credits of a new user's account. */
  constructor(database: Database, startingCredits: number) {
    this.#database = database;
    this.#startingCredits = startingCredits;
  }

  async byName(name: string): Promise<UserState | null> {
    return fromRow(
      await selectUsers(this.#database).where("users.name_key", "=", userNameKey(name)).executeTakeFirst(),
    );
  }

  /** Throws `user_not_found`. */
  async require(name: string): Promise<UserState> {
    const user = await this.byName(name);
    if (!user) throw new BerthError("user_not_found", `There is no user ${name}.`);
    return user;
  }

  async byId(id: string): Promise<UserState | null> {
    return fromRow(await selectUsers(this.#database).where("users.id", "=", id).executeTakeFirst());
  }

  /** Up to `limit` users after the user `after`, oldest first. */
  async list(limit: number, after: string | null): Promise<UserState[]> {
    const rows = await selectUsers(this.#database)
      .$if(after !== null, (query) =>
        query.where(({ eb, refTuple, selectFrom }) =>
          eb(
            refTuple("users.created_at", "users.id"),
            ">",
            selectFrom("users as cursor")
              .select(["cursor.created_at", "cursor.id"])
              .where("cursor.id", "=", after)
              .$asTuple("created_at", "id"),
          ),
        ),
      )
      .orderBy("users.created_at")
      .orderBy("users.id")
      .limit(limit)
      .execute();
    return rows.map((row) => fromRow(row)!);
  }

  /** Creates a user with their own account and a link to set a password. Throws `user_exists`. */
  async create(name: string, link: LinkState): Promise<UserState> {
    const id = randomUUID();
    const accountId = randomUUID();
    await this.#database.transaction().execute(async (transaction) => {
      await transaction.insertInto("accounts").values({ id: accountId, name }).execute();
      await writeStartingEntry(transaction, accountId, this.#startingCredits);
      await insertPerson(transaction, { issuer: localIssuer, subject: id, account_id: accountId, name });
      await insertUser(transaction, { id, accountId, name, passwordHash: null });
      await insertLink(transaction, id, link);
    });
    return (await this.byId(id))!;
  }

  /** Removes the user's password, ends their sessions and invalidates older links. Throws `user_not_found`. */
  async reset(name: string, link: LinkState): Promise<UserState> {
    const { id } = await this.require(name);
    await this.#database.transaction().execute(async (transaction) => {
      await transaction.updateTable("users").set({ password_hash: null }).where("id", "=", id).execute();
      await endSessions(transaction, id);
      await transaction.deleteFrom("user_links").where("user_id", "=", id).execute();
      await insertLink(transaction, id, link);
    });
    return (await this.byId(id))!;
  }

  /** Blocks or unblocks the user and the account's keys. Throws `user_not_found`, `operator_not_disabled`. */
  async setDisabled(name: string, disabled: boolean): Promise<UserState> {
    const { id, operator } = await this.require(name);
    if (operator && disabled) {
      const message = "The operator's own user cannot be disabled: no other user could enable it again.";
      throw new BerthError("operator_not_disabled", message);
    }
    const disabledAt = disabled ? new Date() : null;
    await this.#database.transaction().execute(async (transaction) => {
      const { account_id: accountId } = await transaction
        .updateTable("users")
        .set({ disabled_at: disabledAt })
        .where("id", "=", id)
        .returning("account_id")
        .executeTakeFirstOrThrow();
      await transaction.updateTable("accounts").set({ disabled_at: disabledAt }).where("id", "=", accountId).execute();
      await updatePerson(transaction, id, { disabled_at: disabledAt });
      if (disabled) await endSessions(transaction, id);
    });
    return (await this.byId(id))!;
  }

  /** Stores the link for the operator's user, replacing older ones. False if that user exists. */
  async offerFirst(link: LinkState): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      if (await hasOperator(transaction)) return false;
      await transaction.deleteFrom("user_links").where("user_id", "is", null).execute();
      await insertLink(transaction, null, link);
      return true;
    });
  }

  /** The user whose password the link sets; without a name, the operator's first user. Null if the link is invalid. */
  async findLink(tokenHash: Buffer): Promise<{ name: string | null } | null> {
    const link = await this.#database
      .selectFrom("user_links")
      .leftJoin("users", "users.id", "user_links.user_id")
      .select("users.name")
      .where("token_hash", "=", tokenHash)
      .where("used_at", "is", null)
      .where("expires_at", ">", new Date())
      .executeTakeFirst();
    return link ?? null;
  }

  /**
   * Ends everything that a local user's account has signed in with: sessions, the command line tool's logins, and
   * issued tokens.
   */
  async endSignIns(accountId: string): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      const users = transaction.selectFrom("users").select("id").where("account_id", "=", accountId);
      for (const { id } of await users.execute()) await endSessions(transaction, id);
    });
  }

  /**
   * Uses up a link: sets its user's password, or creates the operator's user with this name. False if the link is
   * invalid. Throws `user_exists`; the link then stays valid.
   */
  async useLink(tokenHash: Buffer, passwordHash: string, firstName: string): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const used = await transaction
        .updateTable("user_links")
        .set({ used_at: new Date() })
        .where("token_hash", "=", tokenHash)
        .where("used_at", "is", null)
        .where("expires_at", ">", new Date())
        .returning("user_id")
        .executeTakeFirst();
      if (!used) return false;
      if (used.user_id === null) return makeFirst(transaction, firstName, passwordHash);
      const { user_id: id } = used;
      await transaction.updateTable("users").set({ password_hash: passwordHash }).where("id", "=", id).execute();
      await endSessions(transaction, id);
      return true;
    });
  }
}

async function makeFirst(transaction: Transaction<Tables>, name: string, passwordHash: string): Promise<boolean> {
  if (await hasOperator(transaction)) return false;
  const id = randomUUID();
  const operators = transaction.selectFrom("accounts").select("id").where("operator", "=", true);
  const account = await operators.executeTakeFirstOrThrow();
  await insertPerson(transaction, { issuer: localIssuer, subject: id, account_id: account.id, name });
  await insertUser(transaction, { id, accountId: account.id, name, passwordHash });
  return true;
}

/**
 * Whether the operator has a user; others may have been added before. Concurrent calls, and insertions of users, wait
 * for the end of this transaction.
 */
async function hasOperator(transaction: Transaction<Tables>): Promise<boolean> {
  await sql`lock table users in share row exclusive mode`.execute(transaction);
  return (await selectUsers(transaction).where("operator", "=", true).executeTakeFirst()) !== undefined;
}

/** Throws `user_exists`. */
async function insertUser(
  transaction: Transaction<Tables>,
  user: { id: string; accountId: string; name: string; passwordHash: string | null },
): Promise<void> {
  const { id, name } = user;
  await transaction
    .insertInto("users")
    .values({ id, name, name_key: userNameKey(name), account_id: user.accountId, password_hash: user.passwordHash })
    .execute()
    .catch((error: unknown) => {
      if (!isDuplicate(error, "users_name_key_key")) throw error;
      throw new BerthError("user_exists", `There is already a user ${name}.`);
    });
}

async function insertLink(transaction: Transaction<Tables>, userId: string | null, link: LinkState): Promise<void> {
  await transaction
    .insertInto("user_links")
    .values({ token_hash: link.tokenHash, user_id: userId, expires_at: link.expiresAt })
    .execute();
}

/** Sessions, codes and tokens. */
async function endSessions(transaction: Transaction<Tables>, userId: string): Promise<void> {
  await transaction.deleteFrom("oidc_records").where("account_id", "=", userId).execute();
  await updatePerson(transaction, userId, { tokens_from: new Date() });
}

async function updatePerson(
  transaction: Transaction<Tables>,
  userId: string,
  change: { tokens_from: Date } | { disabled_at: Date | null },
): Promise<void> {
  await transaction
    .updateTable("people")
    .set(change)
    .where("issuer", "=", localIssuer)
    .where("subject", "=", userId)
    .execute();
}

function selectUsers(database: Database | Transaction<Tables>) {
  return database
    .selectFrom("users")
    .innerJoin("accounts", "accounts.id", "users.account_id")
    .selectAll("users")
    .select("accounts.operator");
}

function fromRow(row: (Selectable<Tables["users"]> & { operator: boolean }) | undefined): UserState | null {
  if (!row) return null;
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    operator: row.operator,
    passwordHash: row.password_hash,
    disabledAt: row.disabled_at,
    createdAt: row.created_at,
  };
}
