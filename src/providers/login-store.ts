import { type Selectable, sql } from "kysely";
import type { LoginStatus } from "../contract/providers.ts";
import type { Database } from "../core/database/database.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Sealing } from "../core/http/idempotency-store.ts";
import type { Device, NewTokens, Tokens } from "./chatgpt.ts";
import type { LoginState } from "./provider.ts";

/** How long a server has for one question to the vendor, in seconds. Another one asks then. */
const leaseSeconds = 60;
/** The most logins that a server takes up at once. */
const maximumDue = 16;
/** Between two tries to refresh tokens while the vendor does not answer, in seconds. */
const refreshAgainSeconds = 30;

type LoginRows = Selectable<Tables["provider_logins"]>;

/** The columns of a login that is joined to its provider. */
export type LoginRow = {
  [Name in "device" | "tokens" | "reason" | "account" | "expires_at" | "status"]: LoginRows[Name] | null;
};

/** A login as servers use it. */
export interface StoredLogin {
  status: LoginStatus;
  /** Null: there are none, or they were encrypted with another secret key. */
  tokens: Tokens | null;
  version: string;
  reason: string | null;
}

/** A login that a person is to finish. */
export interface DueDevice {
  providerId: string;
  deviceId: string;
  /** Null: it was encrypted with another secret key. */
  device: Device | null;
  isExpired: boolean;
}

/** Logins of subscriptions. Codes and tokens are stored encrypted and bound to their rows. */
export class LoginStore {
  readonly #database: Database;
  readonly #sealing: Sealing;

  constructor(database: Database, sealing: Sealing) {
    this.#database = database;
    this.#sealing = sealing;
  }

  async find(providerId: string): Promise<StoredLogin | null> {
    const row = await this.#database
      .selectFrom("provider_logins")
      .selectAll()
      .where("provider_id", "=", providerId)
      .executeTakeFirst();
    return row ? this.#toLogin(row) : null;
  }

  /** Begins a login, in place of one that is not finished. Tokens stay in use until it is. */
  async begin(providerId: string, device: Device, database = this.#database): Promise<void> {
    const sealed = this.#sealing.seal(JSON.stringify(device), contextOf(providerId, "device"));
    await sql`
      insert into provider_logins (provider_id, device, device_id, poll_at, expires_at)
      select id, ${sealed}, gen_random_uuid(), ${later(device.intervalSeconds)}, ${later(device.lifetimeSeconds)}
      from providers where id = ${providerId}
      on conflict (provider_id) do update set
        device = excluded.device, device_id = excluded.device_id, poll_at = excluded.poll_at,
        expires_at = excluded.expires_at, reason = null`.execute(database);
  }

  /** Logins to ask the vendor about. No other server asks until `pollAgain`, or the lease has expired. */
  async takeDevices(): Promise<DueDevice[]> {
    const rows = await this.#database
      .updateTable("provider_logins")
      .set({ poll_at: later(leaseSeconds) })
      .where("provider_id", "in", (due) =>
        due
          .selectFrom("provider_logins")
          .select("provider_id")
          .where("device", "is not", null)
          .where("poll_at", "<=", sql<Date>`clock_timestamp()`)
          .orderBy("poll_at")
          .limit(maximumDue)
          .forUpdate()
          .skipLocked(),
      )
      .returning(["provider_id", "device_id", "device", sql<boolean>`expires_at <= clock_timestamp()`.as("isExpired")])
      .execute();
    return rows.map(({ provider_id: providerId, device_id: deviceId, device, isExpired }) => ({
      ...{ providerId, deviceId: deviceId!, isExpired },
      device: this.#opened<Device>(providerId, "device", device),
    }));
  }

  async pollAgain({ providerId, deviceId }: DueDevice, seconds: number): Promise<void> {
    await this.#ofDevice(providerId, deviceId)
      .set({ poll_at: later(seconds) })
      .execute();
  }

  /** A person has finished a login. Nothing happens if another one has begun, or the provider was deleted. */
  async finish({ providerId, deviceId }: DueDevice, tokens: NewTokens): Promise<void> {
    await this.#ofDevice(providerId, deviceId)
      .set({ ...noDevice, ...this.#tokenColumns(providerId, tokens) })
      .execute();
  }

  /** A login has failed or expired. Tokens of an earlier one stay in use. */
  async give({ providerId, deviceId }: DueDevice, reason: string): Promise<void> {
    await this.#ofDevice(providerId, deviceId)
      .set({ ...noDevice, reason })
      .execute();
  }

  /** The providers whose tokens are to be refreshed. */
  async dueRefreshes(): Promise<{ providerId: string; version: string }[]> {
    const rows = await this.#database
      .selectFrom("provider_logins")
      .select(["provider_id", "version"])
      .where("tokens", "is not", null)
      .where("refresh_at", "<=", sql<Date>`clock_timestamp()`)
      .where(isUnclaimed)
      .orderBy("refresh_at")
      .limit(maximumDue)
      .execute();
    return rows.map(({ provider_id: providerId, version }) => ({ providerId, version }));
  }

  /**
   * Claims the refresh of tokens of this version. Null: another server has begun it, or the tokens have changed.
   * `unreadable`: they were encrypted with another secret key.
   */
  async claimRefresh(providerId: string, version: string): Promise<Tokens | "unreadable" | null> {
    const row = await this.#ofVersion(providerId, version)
      .set({ refreshing_until: later(leaseSeconds) })
      .where(isUnclaimed)
      .returning("tokens")
      .executeTakeFirst();
    return row ? (this.#opened<Tokens>(providerId, "tokens", row.tokens) ?? "unreadable") : null;
  }

  async refreshed(providerId: string, version: string, tokens: NewTokens): Promise<void> {
    await this.#database
      .updateTable("provider_logins")
      .set(this.#tokenColumns(providerId, tokens))
      .where("provider_id", "=", providerId)
      .where("version", "=", version)
      .execute();
  }

  /** The vendor did not answer a refresh. */
  async refreshLater(providerId: string, version: string): Promise<void> {
    await this.#ofVersion(providerId, version)
      .set({ refreshing_until: null, refresh_at: later(refreshAgainSeconds) })
      .execute();
  }

  /** The vendor does not accept tokens of this version. Returns whether they were in use. */
  async refuse(providerId: string, version: string, reason: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#ofVersion(providerId, version)
      .set({ tokens: null, refreshing_until: null, reason })
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** The vendor does not accept the credential that the provider has had since then. */
  async refuseCredential(providerId: string, since: Date, reason: string): Promise<void> {
    await sql`
      insert into provider_logins (provider_id, reason)
      select id, ${reason} from providers
      where id = ${providerId} and date_trunc('milliseconds', updated_at) = ${since}
      on conflict do nothing`.execute(this.#database);
  }

  #ofDevice(providerId: string, deviceId: string) {
    return this.#database
      .updateTable("provider_logins")
      .where("provider_id", "=", providerId)
      .where("device_id", "=", deviceId)
      .where("device", "is not", null);
  }

  #ofVersion(providerId: string, version: string) {
    return this.#database
      .updateTable("provider_logins")
      .where("provider_id", "=", providerId)
      .where("version", "=", version)
      .where("tokens", "is not", null);
  }

  #tokenColumns(providerId: string, { tokens, account, refreshSeconds }: NewTokens) {
    return {
      tokens: this.#sealing.seal(JSON.stringify(tokens), contextOf(providerId, "tokens")),
      version: sql<string>`version + 1`,
      refresh_at: later(refreshSeconds),
      refreshing_until: null,
      reason: null,
      ...(account !== null && { account }),
    };
  }

  /** The view of a login that is joined to its provider; null: there is none. */
  viewOf(id: string, { status, ...row }: LoginRow): LoginState | null {
    if (status === null) return null;
    const device = this.#opened<Device>(id, "device", row.device);
    return {
      ...{ status, reason: row.reason, account: row.account, expiresAt: row.expires_at },
      verificationUrl: device?.verificationUrl ?? null,
      userCode: device?.userCode ?? null,
      readable: row.tokens === null || this.#opened(id, "tokens", row.tokens) !== null,
    };
  }

  #opened<Opened>(providerId: string, of: "device" | "tokens", sealed: Buffer | null): Opened | null {
    const text = sealed && this.#sealing.open(sealed, contextOf(providerId, of));
    return text === null ? null : JSON.parse(text);
  }

  #toLogin({ provider_id: id, status, tokens, version, reason }: LoginRows): StoredLogin {
    return { status, tokens: this.#opened<Tokens>(id, "tokens", tokens), version, reason };
  }
}

const noDevice = { device: null, poll_at: null, expires_at: null };
const isUnclaimed = sql<boolean>`(refreshing_until is null or refreshing_until < clock_timestamp())`;

function later(seconds: number) {
  return sql<Date>`clock_timestamp() + make_interval(secs => ${seconds})`;
}

/** Binds what is encrypted to its row. */
function contextOf(providerId: string, of: "device" | "tokens"): string {
  return `provider_logins ${providerId} ${of}`;
}
