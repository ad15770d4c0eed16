import { type Selectable, sql } from "kysely";
import { BerthError } from "../contract/errors.ts";
import { type AuthorIds, authorColumns, authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import { lockAccount } from "../core/database/lock-account.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Sealing } from "../core/http/idempotency-store.ts";
import type { Device } from "./chatgpt.ts";
import type { LoginRow, LoginStore } from "./login-store.ts";
import {
  type Credential,
  hintOf,
  type ProviderOwner,
  type ProviderSettings,
  type ProviderState,
  type ProviderViewer,
} from "./provider.ts";

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

type Row = Selectable<Tables["providers"]> & LoginRow & Pick<ProviderState, "createdBy">;

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
      .selectAll("providers")
      .select(["device", "tokens", "reason", "account", "expires_at", "status"])
      .select(authorOf("providers").as("createdBy"));
  }

  #credentialColumns(id: string, credential: Credential | null) {
    if (credential === null) return { credential: null, hint: null };
    return { credential: this.#sealing.seal(JSON.stringify(credential), contextOf(id)), hint: hintOf(credential) };
  }

  #toState(row: Row): ProviderState {
    const { id, name, kind, region, project, models, hint, createdBy } = row;
    const opened = row.credential && this.#sealing.open(row.credential, contextOf(id));
    return {
      ...{ id, name, kind, region, project, models, hint, createdBy },
      accountId: row.account_id,
      ownerId: row.owner_id,
      baseUrl: row.base_url,
      login: this.#logins.viewOf(id, row),
      credential: row.credential === null ? "none" : opened === null ? "unreadable" : JSON.parse(opened),
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    };
  }
}

function isOf({ accountId, ownerId }: ProviderOwner) {
  return sql<boolean>`account_id is not distinct from ${accountId}::uuid and owner_id is not distinct from ${ownerId}::uuid`;
}

function settingColumns({ baseUrl, region, project, models }: ProviderSettings) {
  return { base_url: baseUrl, region, project, models: models && JSON.stringify(models) };
}

/** Binds a credential to its row. */
function contextOf(id: string): string {
  return `providers ${id}`;
}
