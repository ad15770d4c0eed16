import { type Selectable, sql, type Transaction } from "kysely";
import type { SecretLogin } from "../contract/secret-logins.ts";
import type { Database } from "../core/database/database.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Caller } from "../core/http/caller.ts";
import type { Sealing } from "../core/http/idempotency-store.ts";
import type { Attempt, LoginTokens, NewLoginTokens, OAuthClient } from "./mcp-oauth.ts";
import { contextOfSecret } from "./placeholder.ts";

/** How long a server has for one refresh, in seconds. Another one tries then. */
const leaseSeconds = 60;
/** Between two tries to refresh tokens while the authorization server does not answer, in seconds. */
const refreshAgainSeconds = 5;
/** How long a person has to finish an attempt, in seconds. */
export const attemptSeconds = 600;
/** How many wrong codes end an attempt. */
const maximumWrongCodes = 5;

type LoginRow = Selectable<Tables["secret_logins"]>;
type Beginner = Pick<Caller, "personId" | "keyId">;

/** The columns of a login that its view has. */
export type ViewedLogin = Pick<
  LoginRow,
  "url" | "tokens" | "scopes" | "expires_at" | "connected_at" | "attempt_ends_at" | "reason"
> & { id: string; isPending: boolean };

/** A login as servers use it. `tokens` null: there are none, or they were encrypted with another secret key. */
export interface StoredSecretLogin {
  tokens: LoginTokens | null;
  version: string;
  reason: string | null;
  isUnreadable: boolean;
}

/** An attempt that the browser has come back for. */
export interface ReturnedAttempt {
  id: string;
  attemptId: string;
  accountId: string;
  name: string;
  /** Null: it was encrypted with another secret key. */
  attempt: Attempt | null;
}

/** An attempt of a caller, and the client that the person has set. */
export interface BegunLogin {
  url: string;
  client: OAuthClient | null;
  attempt: Attempt;
  stateHash: Buffer;
}

/** Sign-ins to MCP servers. Attempts, clients and tokens are stored encrypted and bound to their rows. */
export class SecretLoginStore {
  readonly #database: Database;
  readonly #sealing: Sealing;

  constructor(database: Database, sealing: Sealing) {
    this.#database = database;
    this.#sealing = sealing;
  }

  async find(id: string): Promise<StoredSecretLogin | null> {
    const row = await this.#database.selectFrom("secret_logins").selectAll().where("id", "=", id).executeTakeFirst();
    if (!row) return null;
    const tokens = this.#tokensOf(row);
    return { tokens, version: row.version, reason: row.reason, isUnreadable: row.tokens !== null && tokens === null };
  }

  /** The address and the client of a secret's login; null: the secret has none. */
  async settings(accountId: string, name: string): Promise<{ url: string; client: OAuthClient | null } | null> {
    const row = await this.#of(this.#database, accountId, name);
    return row ? { url: row.url, client: this.#opened<OAuthClient>(row.id, "client", row.client) } : null;
  }

  /** The tokens of a secret's login; null: there are none. */
  async tokens(accountId: string, name: string): Promise<LoginTokens | null> {
    const row = await this.#of(this.#database, accountId, name);
    return row ? this.#tokensOf(row) : null;
  }

  /** Begins an attempt, in place of one that is not finished. Tokens stay in use until it is. */
  async begin(
    transaction: Transaction<Tables>,
    { accountId, name, by }: { accountId: string; name: string; by: Beginner },
    { url, client, attempt, stateHash }: BegunLogin,
  ): Promise<void> {
    const { id } =
      (await this.#of(transaction, accountId, name)) ??
      (await transaction
        .insertInto("secret_logins")
        .values({ account_id: accountId, name, url, scopes: "[]" })
        .returning("id")
        .executeTakeFirstOrThrow());
    await transaction
      .updateTable("secret_logins")
      .set({
        client: client && this.#sealed(id, "client", client),
        attempt: this.#sealed(id, "attempt", attempt),
        attempt_id: sql<string>`gen_random_uuid()`,
        state_hash: stateHash,
        attempt_ends_at: later(attemptSeconds),
        begun_by_person: by.personId,
        begun_by_key: by.personId === null ? by.keyId : null,
        code_hash: null,
        wrong_codes: 0,
        reason: null,
      })
      .where("id", "=", id)
      .execute();
  }

  /** The attempt with this state, once. Null: there is none, it has ended, or its beginner may not connect any more. */
  async takeReturned(stateHash: Buffer): Promise<ReturnedAttempt | null> {
    const row = await this.#database
      .updateTable("secret_logins")
      .set({ state_hash: null })
      .where("state_hash", "=", stateHash)
      .where(isPending)
      .where(mayConnect)
      .returningAll()
      .executeTakeFirst();
    return row ? this.#toAttempt(row) : null;
  }

  /** Keeps an attempt that came back in another browser until the code is sent. */
  async hold({ id, attemptId }: ReturnedAttempt, attempt: Attempt, codeHash: Buffer): Promise<void> {
    const sealed = this.#sealed(id, "attempt", attempt);
    await this.#ofAttempt(id, attemptId).set({ attempt: sealed, code_hash: codeHash }).execute();
  }

  /**
   * The attempt that the caller confirms, once. `other`: another person began it. `waiting`: the browser has not come back.
   * `wrong`: it is another code; after some of these, the attempt has ended. Null: there is no attempt.
   */
  async takeConfirmed(
    { accountId, personId, keyId }: Beginner & Pick<Caller, "accountId">,
    name: string,
    codeHash: Buffer,
  ): Promise<ReturnedAttempt | "other" | "waiting" | "wrong" | null> {
    return this.#database.transaction().execute(async (transaction) => {
      const row = await transaction
        .selectFrom("secret_logins")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("name", "=", name)
        .where(isPending)
        .forUpdate()
        .executeTakeFirst();
      if (!row) return null;
      const isBeginner = row.begun_by_person === personId && (personId !== null || row.begun_by_key === keyId);
      if (!isBeginner) return "other";
      if (row.code_hash === null) return row.state_hash === null ? null : "waiting";
      const change = transaction.updateTable("secret_logins").where("id", "=", row.id);
      if (row.code_hash.equals(codeHash)) {
        await change.set({ code_hash: null }).execute();
        return this.#toAttempt(row);
      }
      const isLast = row.wrong_codes + 1 >= maximumWrongCodes;
      const ended = { ...noAttempt, reason: "A wrong code was sent too often." };
      await change.set({ wrong_codes: row.wrong_codes + 1, ...(isLast && ended) }).execute();
      return "wrong";
    });
  }

  /** A person has finished an attempt. False if another one has begun, or the secret was deleted. */
  async finish({ id, attemptId }: ReturnedAttempt, given: NewLoginTokens): Promise<boolean> {
    const { numUpdatedRows } = await this.#ofAttempt(id, attemptId)
      .set({
        ...noAttempt,
        ...this.#tokenColumns(id, given),
        connected_at: sql<Date>`clock_timestamp()`,
        scopes: JSON.stringify(given.scopes ?? []),
      })
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** An attempt has failed. Tokens of an earlier one stay in use. */
  async fail({ id, attemptId }: ReturnedAttempt, reason: string): Promise<void> {
    await this.#ofAttempt(id, attemptId)
      .set({ ...noAttempt, reason })
      .execute();
  }

  /**
   * Claims the refresh of tokens of this version. Null: another server has begun it, or the tokens have changed.
   * `unreadable`: they were encrypted with another secret key.
   */
  async claimRefresh(id: string, version: string): Promise<LoginTokens | "unreadable" | null> {
    const row = await this.#ofVersion(id, version)
      .set({ refreshing_until: later(leaseSeconds) })
      .where(sql<boolean>`(refreshing_until is null or refreshing_until < clock_timestamp())`)
      .returningAll()
      .executeTakeFirst();
    return row ? (this.#tokensOf(row) ?? "unreadable") : null;
  }

  async refreshed(id: string, version: string, given: NewLoginTokens): Promise<void> {
    await this.#ofVersion(id, version)
      .set({
        ...this.#tokenColumns(id, given),
        ...(given.scopes !== null && { scopes: JSON.stringify(given.scopes) }),
      })
      .execute();
  }

  /** The authorization server did not answer a refresh. */
  async refreshLater(id: string, version: string): Promise<void> {
    await this.#ofVersion(id, version)
      .set({ refreshing_until: later(refreshAgainSeconds) })
      .execute();
  }

  /** Tokens of this version are not accepted any more. */
  async refuse(id: string, version: string, reason: string): Promise<void> {
    await this.#ofVersion(id, version)
      .set({ tokens: null, expires_at: null, refreshing_until: null, reason })
      .execute();
  }

  /** The view of a secret's login. */
  viewOf(row: ViewedLogin): SecretLogin {
    const tokens = this.#tokensOf(row);
    const hasEnded = tokens?.refreshToken === null && tokens.expiresAt !== null && tokens.expiresAt <= Date.now();
    const isUsable = tokens !== null && !hasEnded;
    const status = isUsable ? "connected" : row.isPending ? "pending" : "failed";
    const failure = hasEnded ? noRefresh : row.tokens !== null && tokens === null ? unreadable : null;
    return {
      ...{ url: row.url, status, scopes: isUsable ? row.scopes : [] },
      expiresAt: row.expires_at?.toISOString() ?? null,
      connectedAt: row.connected_at?.toISOString() ?? null,
      attemptExpiresAt: row.isPending ? row.attempt_ends_at!.toISOString() : null,
      reason: failure ?? row.reason ?? (status === "failed" ? late : null),
    };
  }

  #of(database: Database, accountId: string, name: string) {
    const rows = database.selectFrom("secret_logins").selectAll().where("account_id", "=", accountId);
    return rows.where("name", "=", name).executeTakeFirst();
  }

  #ofAttempt(id: string, attemptId: string) {
    return this.#database.updateTable("secret_logins").where("id", "=", id).where("attempt_id", "=", attemptId);
  }

  #ofVersion(id: string, version: string) {
    const rows = this.#database.updateTable("secret_logins").where("id", "=", id).where("version", "=", version);
    return rows.where("tokens", "is not", null);
  }

  #tokenColumns(id: string, { tokens }: NewLoginTokens) {
    return {
      tokens: this.#sealed(id, "tokens", tokens),
      version: sql<string>`version + 1`,
      expires_at: tokens.expiresAt === null ? null : new Date(tokens.expiresAt),
      refreshing_until: null,
      reason: null,
    };
  }

  #tokensOf({ id, tokens }: Pick<LoginRow, "id" | "tokens">): LoginTokens | null {
    return this.#opened<LoginTokens>(id, "tokens", tokens);
  }

  #toAttempt(row: LoginRow): ReturnedAttempt {
    const { id, attempt_id: attemptId, account_id: accountId, name } = row;
    const attempt = this.#opened<Attempt>(id, "attempt", row.attempt);
    return { id, attemptId: attemptId!, accountId, name, attempt };
  }

  #sealed(id: string, of: Part, value: object): Buffer {
    return this.#sealing.seal(JSON.stringify(value), contextOfSecret("secret_logins", id, of));
  }

  #opened<Opened>(id: string, of: Part, sealed: Buffer | null): Opened | null {
    const text = sealed && this.#sealing.open(sealed, contextOfSecret("secret_logins", id, of));
    return text === null ? null : JSON.parse(text);
  }
}

type Part = "attempt" | "client" | "tokens";

export const noRefresh = "The sign-in has expired, and the authorization server gave no refresh token.";
export const unreadable = "The sign-in was encrypted with another secret key.";
const late = "The sign-in was not finished in time.";
const noAttempt = { attempt: null, attempt_id: null, state_hash: null, attempt_ends_at: null, code_hash: null };
/** Condition: a person can finish an attempt. */
export const isPending = sql<boolean>`(attempt is not null and attempt_ends_at > clock_timestamp())`;

/** Condition: the beginner of an attempt is still an owner or admin. A key without a person has no role to lose. */
const mayConnect = sql<boolean>`(begun_by_person is null or exists (
  select from memberships membership
  where membership.person_id = begun_by_person and membership.account_id = secret_logins.account_id
    and membership.role in ('owner', 'admin')))`;

function later(seconds: number) {
  return sql<Date>`clock_timestamp() + make_interval(secs => ${seconds})`;
}
