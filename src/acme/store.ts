import { sql } from "kysely";
import type { AcmeConfig } from "../config/config.ts";
import type { Database } from "../core/database/database.ts";
import type { Sealer } from "../core/sealing.ts";
import type { KeyPair } from "../https/certificate.ts";

/** An account at a directory. */
export interface AcmeAccount {
  /** In PEM. */
  key: string;
  /** Null: it is not registered yet. */
  url: string | null;
  email: string | null;
}

/** A name's certificate at a directory, and what became of its orders. */
export interface OrderState {
  /** Null: none was issued, or it is sealed with another secret key. */
  pair: KeyPair | null;
  /** Whether there is a certificate that this server's secret key does not open. */
  isForeign: boolean;
  /** Failed orders since the last certificate. */
  failures: number;
  error: string | null;
  /** No order begins before; null: at any time. */
  nextOrderAt: Date | null;
  /** Whether that time is still to come. */
  isHeld: boolean;
  /** Whether the directory set that time. */
  isLimited: boolean;
}

/** The response to a challenge. */
export interface ChallengeResponse {
  token: string;
  name: string;
  type: AcmeConfig["challenge"];
  keyAuthorization: string;
}

/** A failed order. */
export interface FailedOrder {
  error: string;
  /** Until the next order. */
  delayMs: number;
  isLimited: boolean;
}

type Subject = Pick<AcmeConfig, "directory" | "name">;

const none: OrderState = {
  pair: null,
  isForeign: false,
  failures: 0,
  error: null,
  nextOrderAt: null,
  isHeld: false,
  isLimited: false,
};

const noFailure = { failures: 0, error: null, next_order_at: null, limited: false };

const inMs = (ms: number) => sql<Date>`now() + make_interval(secs => ${ms / 1000})`;

/** Accounts, certificates and responses to challenges, for all servers. Private keys are sealed. */
export class AcmeStore {
  readonly #database: Database;
  readonly #sealer: Sealer;

  constructor(database: Database, sealer: Sealer) {
    this.#database = database;
    this.#sealer = sealer;
  }

  /** Null: there is none, or it is sealed with another secret key. */
  async account(directory: string): Promise<AcmeAccount | null> {
    const rows = this.#database.selectFrom("acme_accounts").selectAll().where("directory", "=", directory);
    const row = await rows.executeTakeFirst();
    const key = row ? this.#sealer.open(row.key, accountContext(directory)) : null;
    return key === null ? null : { key, url: row!.url, email: row!.email };
  }

  async saveAccount(directory: string, { key, url, email }: AcmeAccount): Promise<void> {
    const values = { key: this.#sealer.seal(key, accountContext(directory)), url, email };
    await this.#database
      .insertInto("acme_accounts")
      .values({ directory, ...values })
      .onConflict((conflict) => conflict.column("directory").doUpdateSet(values))
      .execute();
  }

  async state(subject: Subject): Promise<OrderState> {
    const row = await this.#rows(subject)
      .selectAll()
      .select(sql<boolean>`coalesce(next_order_at > now(), false)`.as("isHeld"))
      .executeTakeFirst();
    if (!row) return none;
    const text = row.pair && this.#sealer.open(row.pair, pairContext(subject));
    const { failures, error, next_order_at: nextOrderAt, isHeld, limited: isLimited } = row;
    return {
      pair: text === null ? null : (JSON.parse(text) as KeyPair),
      isForeign: row.pair !== null && text === null,
      failures,
      error,
      nextOrderAt,
      isHeld,
      isLimited,
    };
  }

  /** Returns whether this lease was granted: only its owner orders, until it expires. */
  async acquire({ directory, name }: Subject, lease: string, ms: number): Promise<boolean> {
    const leased = { lease, leased_until: inMs(ms) };
    const { numInsertedOrUpdatedRows } = await this.#database
      .insertInto("acme_certificates")
      .values({ directory, name, ...leased })
      .onConflict((conflict) =>
        conflict
          .columns(["directory", "name"])
          .doUpdateSet(leased)
          .where(({ eb }) =>
            eb("acme_certificates.leased_until", "is", null).or(
              "acme_certificates.leased_until",
              "<",
              sql<Date>`now()`,
            ),
          ),
      )
      .executeTakeFirstOrThrow();
    return numInsertedOrUpdatedRows === 1n;
  }

  /** Returns false if the lease is lost. */
  async extend(subject: Subject, lease: string, ms: number): Promise<boolean> {
    const { numUpdatedRows } = await this.#owned(subject, lease)
      .set({ leased_until: inMs(ms) })
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  }

  async release(subject: Subject, lease: string): Promise<void> {
    await this.#owned(subject, lease).set({ lease: null, leased_until: null }).execute();
  }

  /** Removes the certificate of another secret key, and what became of its orders. */
  async discard(subject: Subject, lease: string): Promise<void> {
    await this.#owned(subject, lease)
      .set({ pair: null, ...noFailure })
      .execute();
  }

  async succeeded(subject: Subject, lease: string, { certificate, key }: KeyPair): Promise<void> {
    const pair = this.#sealer.seal(JSON.stringify({ certificate, key }), pairContext(subject));
    await this.#owned(subject, lease)
      .set({ pair, ...noFailure })
      .execute();
  }

  async failed(subject: Subject, lease: string, { error, delayMs, isLimited }: FailedOrder): Promise<void> {
    await this.#owned(subject, lease)
      .set(({ eb }) => ({
        failures: eb("failures", "+", 1),
        error,
        next_order_at: inMs(delayMs),
        limited: isLimited,
      }))
      .execute();
  }

  async addChallenge({ token, name, type, keyAuthorization }: ChallengeResponse, ms: number): Promise<void> {
    const values = { name, type, key_authorization: keyAuthorization, expires_at: inMs(ms) };
    await this.#database.deleteFrom("acme_challenges").where("expires_at", "<", sql<Date>`now()`).execute();
    await this.#database
      .insertInto("acme_challenges")
      .values({ token, ...values })
      .onConflict((conflict) => conflict.column("token").doUpdateSet(values))
      .execute();
  }

  async removeChallenge(token: string): Promise<void> {
    await this.#database.deleteFrom("acme_challenges").where("token", "=", token).execute();
  }

  /** Those of all orders that are under way. */
  async challenges(): Promise<ChallengeResponse[]> {
    return this.#database
      .selectFrom("acme_challenges")
      .select(["token", "name", "type", "key_authorization as keyAuthorization"])
      .where("expires_at", ">", sql<Date>`now()`)
      .execute();
  }

  #rows({ directory, name }: Subject) {
    return this.#database.selectFrom("acme_certificates").where("directory", "=", directory).where("name", "=", name);
  }

  #owned({ directory, name }: Subject, lease: string) {
    return this.#database
      .updateTable("acme_certificates")
      .where("directory", "=", directory)
      .where("name", "=", name)
      .where("lease", "=", lease);
  }
}

function accountContext(directory: string): string {
  return `acme account ${directory}`;
}

function pairContext({ directory, name }: Subject): string {
  return `acme certificate ${directory} ${name}`;
}
