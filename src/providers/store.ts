import { type Selectable, sql } from "kysely";
import { BerthError } from "../contract/errors.ts";
import { type AuthorIds, authorColumns, authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import { lockAccount } from "../core/database/lock-account.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Sealing } from "../core/http/idempotency-store.ts";
import { contextOfSecret } from "../secrets/placeholder.ts";
import type { Device } from "./chatgpt.ts";
import { addressOf, type KeyKind } from "./endpoints/key.ts";
import type { LoginRow, LoginStore } from "./login-store.ts";
import {
  type Credential,
  hintOf,
  type ProviderOwner,
  type ProviderSettings,
  type ProviderState,
  type ProviderViewer,
} from "./provider.ts";
import { problemOf, type SecretKey } from "./secret-key.ts";

/** How many providers a workspace can have, a person in it, and the installation. */
const maximumProviders = 50;

/** A provider as it is stored. `credential`: null if it needs none. */
export interface NewProvider extends ProviderSettings {
  id: string;
  accountId: string | null;
  ownerId: string | null;
  name: string;
  credential: Credential | null;
}

type Row = Selectable<Tables["providers"]> & LoginRow & SecretRow & Pick<ProviderState, "createdBy">;

/** The columns of the secret of the workspace that is its key; null: there is none. */
interface SecretRow {
  secret_value: Buffer | null;
  secret_hosts: string[] | null;
  secret_updated_at: Date | null;
}

/** Providers of models. Their credentials are stored encrypted and bound to their rows. */
export class ProviderStore {
  readonly #database: Database;
  readonly #sealing: Sealing;
  readonly #logins: LoginStore;

  constructor(database: Database, sealing: Sealing, logins: LoginStore) {
    this.#database = database;
    this.#sealing = sealing;
    this.#logins = logins;
  }

  /** Those of the person, of the workspace, and those for all, by name. */
  async reachable({ accountId, personId }: ProviderViewer): Promise<ProviderState[]> {
    const rows = await this.#select()
      .where(({ eb, or }) => or([eb("account_id", "=", accountId), eb("account_id", "is", null)]))
      .where(({ eb, or }) => or([eb("owner_id", "is", null), eb("owner_id", "=", personId)]))
      .orderBy("name")
      .execute();
    return rows.map((row) => this.#toState(row));
  }

  async find(owner: ProviderOwner, name: string): Promise<ProviderState | null> {
    const row = await this.#select().where(isOf(owner)).where("name", "=", name).executeTakeFirst();
    return row ? this.#toState(row) : null;
  }

  /** Throws `provider_exists`, `too_many_providers`. A second call with the same id changes nothing. */
  async insert(provider: NewProvider, by: AuthorIds, device: Device | null = null): Promise<void> {
    const { id, accountId, ownerId, name, kind, credential } = provider;
    await this.#database.transaction().execute(async (transaction) => {
      // Serialized, so that the count is correct.
      if (accountId !== null) await lockAccount(transaction, accountId);
      else await sql`lock table providers in share row exclusive mode`.execute(transaction);
      const others = await transaction.selectFrom("providers").select(["id", "name"]).where(isOf(provider)).execute();
      if (others.some((each) => each.id === id)) return;
      if (others.some((each) => each.name === name)) {
        throw new BerthError(
          "provider_exists",
          `There is a provider ${name} already; change it, or choose another name.`,
        );
      }
      if (others.length >= maximumProviders) {
        const message = `There can be at most ${maximumProviders} providers; delete one first.`;
        throw new BerthError("too_many_providers", message);
      }
      await transaction
        .insertInto("providers")
        .values({
          ...{ id, name, kind },
          account_id: accountId,
          owner_id: ownerId,
          ...settingColumns(provider),
          ...this.#credentialColumns(id, credential),
          ...authorColumns(by),
        } as never)
        .execute();
      if (device) await this.#logins.begin(id, device, transaction);
    });
  }

  /** Whether it exists. `credential`: null leaves the stored one. */
  async change(id: string, settings: ProviderSettings, credential: Credential | null): Promise<boolean> {
    return this.#database.transaction().execute(async (transaction) => {
      const { numUpdatedRows } = await transaction
        .updateTable("providers")
        .set({
          ...settingColumns(settings),
          ...(credential && this.#credentialColumns(id, credential)),
          updated_at: sql`clock_timestamp()`,
        } as never)
        .where("id", "=", id)
        .executeTakeFirst();
      if (settings.secret !== null && !credential) {
        const own = { credential: null, hint: null };
        await transaction.updateTable("providers").set(own).where("id", "=", id).execute();
      }
      // The login of a Claude subscription, whose token was refused.
      if (credential) await transaction.deleteFrom("provider_logins").where("provider_id", "=", id).execute();
      return numUpdatedRows > 0n;
    });
  }

  /** Whether it existed. */
  async remove(owner: ProviderOwner, name: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom("providers")
      .where(isOf(owner))
      .where("name", "=", name)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  #select() {
    return this.#database
      .selectFrom("providers")
      .leftJoin("provider_logins", "provider_logins.provider_id", "providers.id")
      .leftJoin(
        (secrets) =>
          secrets
            .selectFrom("workspace_secrets")
            .select(["account_id as secret_account", "name as secret_name", "value as secret_value"])
            .select(["hosts as secret_hosts", "updated_at as secret_updated_at"])
            .as("keys"),
        (join) => join.onRef("secret_account", "=", "providers.account_id").onRef("secret_name", "=", "secret"),
      )
      .selectAll("providers")
      .select(["secret_value", "secret_hosts", "secret_updated_at"])
      .select(["device", "tokens", "reason", "account", "expires_at", "status"])
      .select(authorOf("providers").as("createdBy"));
  }

  #credentialColumns(id: string, credential: Credential | null) {
    if (credential === null) return { credential: null, hint: null };
    return { credential: this.#sealing.seal(JSON.stringify(credential), contextOf(id)), hint: hintOf(credential) };
  }

  #toState(row: Row): ProviderState {
    const { id, name, kind, region, project, models, secret, createdBy } = row;
    return {
      ...{ id, name, kind, region, project, models, secret, createdBy },
      ...this.#credentialOf(row),
      version: `${row.updated_at.toISOString()} ${row.secret_updated_at?.toISOString()}`,
      accountId: row.account_id,
      ownerId: row.owner_id,
      baseUrl: row.base_url,
      login: this.#logins.viewOf(id, row),
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    };
  }

  #credentialOf(row: Row): Pick<ProviderState, "credential" | "hint" | "problem"> {
    const { id, kind, hint, secret } = row;
    if (secret !== null) {
      const problem = problemOf(secret, this.#secretOf(row), addressOf(kind as KeyKind, row.base_url));
      if (problem !== null) return { credential: "unreadable", hint: null, problem };
      const credential = { apiKey: this.#secretOf(row)!.value! };
      return { credential, hint: hintOf(credential), problem };
    }
    if (row.credential === null) return { credential: "none", hint, problem: null };
    const opened = this.#sealing.open(row.credential, contextOf(id));
    return { credential: opened === null ? "unreadable" : JSON.parse(opened), hint, problem: null };
  }

  #secretOf({ secret: name, account_id: accountId, secret_value: value, secret_hosts: hosts }: Row): SecretKey | null {
    if (name === null || accountId === null || hosts === null) return null;
    return {
      ...{ name, hosts },
      value: value && this.#sealing.open(value, contextOfSecret("workspace_secrets", accountId, name)),
      isLogin: value === null,
    };
  }
}

function isOf({ accountId, ownerId }: ProviderOwner) {
  return sql<boolean>`account_id is not distinct from ${accountId}::uuid and owner_id is not distinct from ${ownerId}::uuid`;
}

function settingColumns({ baseUrl, region, project, models, secret }: ProviderSettings) {
  return { base_url: baseUrl, region, project, models: models && JSON.stringify(models), secret };
}

/** Binds a credential to its row. */
function contextOf(id: string): string {
  return `providers ${id}`;
}
