import { randomUUID } from "node:crypto";
import { type Selectable, sql, type Transaction } from "kysely";
import { BerthError } from "../contract/errors.ts";
import { userNameKey } from "../contract/users.ts";
import type { LinkState, UserRows, UserState } from "../service/users.ts";
import { writeStartingEntry } from "./credit-entries.ts";
import { type Database, isDuplicate, type Tables } from "./database.ts";

/** The issuer under which the accounts of local users are kept: the service's address may change. */
export const localIssuer = "berth:local";

/** The local users and the links with which they set their passwords. */
export class UserStore implements UserRows {
  readonly #database: Database;
  readonly #startingCredits: number;

  /** `startingCredits` are the micro-credits that a new user's account begins with. */
  constructor(database: Database, startingCredits: number) {
    this.#database = database;
    this.#startingCredits = startingCredits;
  }

  async byName(name: string): Promise<UserState | null> {
    return fromRow(await selectUsers(this.#database).where("name_key", "=", userNameKey(name)).executeTakeFirst());
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

  /** Up to `limit` users, the oldest first, beginning after the user `after`. */
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

  /** Makes a user with an account of its own and a link for its password. Throws `user_exists`. */
  async create(name: string, link: LinkState): Promise<UserState> {
    const id = randomUUID();
    const accountId = randomUUID();
    await this.#database.transaction().execute(async (transaction) => {
      const account = { id: accountId, name, issuer: localIssuer, subject: id };
      await transaction.insertInto("accounts").values(account).execute();
      await writeStartingEntry(transaction, accountId, this.#startingCredits);
      await insertUser(transaction, { id, accountId, name, passwordHash: null });
      await insertLink(transaction, id, link);
    });
    return (await this.byId(id))!;
  }

  /** Takes the user's password away, ends what it has signed in, and its older links. Throws `user_not_found`. */
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

  /** Refuses the user and the keys of its account at once, or no longer. Throws `user_not_found`, `operator_not_disabled`. */
  async setDisabled(name: string, disabled: boolean): Promise<UserState> {
    const { id, operator } = await this.require(name);
    if (operator && disabled) {
      const message = "The operator's own user cannot be disabled: nobody could enable it again.";
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
      if (disabled) await endSessions(transaction, id);
    });
    return (await this.byId(id))!;
  }

  /** Stores the link for the operator's own user in place of older ones. False when there is one. */
  async offerFirst(link: LinkState): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      if (await hasOperator(transaction)) return false;
      await transaction.deleteFrom("user_links").where("user_id", "is", null).execute();
      await insertLink(transaction, null, link);
      return true;
    });
  }

  /** Whose password the link sets: a user's, or the operator's, who has no name yet. Null when it has ended. */
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
   * Uses a link up: sets its user's password, or makes the user of this name to whom the operator's account belongs.
   * False when it has ended. Throws `user_exists`, and the link goes on.
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
  const account = await transaction
    .updateTable("accounts")
    .set({ issuer: localIssuer, subject: id })
    .where("operator", "=", true)
    .returning("id")
    .executeTakeFirstOrThrow();
  await insertUser(transaction, { id, accountId: account.id, name, passwordHash });
  return true;
}

/**
 * Whether the operator has a user; others may have been added before. Those who ask too, or add one, wait until this
 * transaction has ended.
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
      throw new BerthError("user_exists", `There is a user ${name} already.`);
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
  await transaction
    .updateTable("accounts")
    .set({ tokens_from: new Date() })
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
