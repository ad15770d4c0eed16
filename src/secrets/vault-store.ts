import { type Selectable, sql, type Transaction } from "kysely";
import { BerthError } from "../contract/errors.ts";
import { maximumWorkspaceSecrets, type SetWorkspaceSecret } from "../contract/vault.ts";
import { AllowedAgents, requireAgents } from "../core/database/allowed-agents.ts";
import { type AuthorIds, authorColumns, authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import { lockAccount } from "../core/database/lock-account.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Viewer } from "../core/http/access.ts";
import type { Sealing } from "../core/http/idempotency-store.ts";
import type { SecretKey } from "../providers/secret-key.ts";
import { type BegunLogin, isPending, type SecretLoginStore, type ViewedLogin } from "./login-store.ts";
import { contextOfSecret, newSeed } from "./placeholder.ts";
import type { WorkspaceSecretState } from "./vault.ts";

/** A shorter value would be shown for a large part. */
const shortestShown = 12;
const shownCharacters = 4;

const allowed = new AllowedAgents("workspace_secrets");

/** Secrets of workspaces. Values are stored encrypted and bound to their rows. */
export class VaultStore {
  readonly #database: Database;
  readonly #sealing: Sealing;
  readonly #logins: SecretLoginStore;
  readonly #host: string;

  /** `host`: whose agents `versions` returns. */
  constructor(database: Database, sealing: Sealing, logins: SecretLoginStore, host: string) {
    this.#database = database;
    this.#sealing = sealing;
    this.#logins = logins;
    this.#host = host;
  }

  /** By name, with the agents that the viewer sees. */
  async list(viewer: Viewer, name?: string): Promise<WorkspaceSecretState[]> {
    const { accountId } = viewer;
    let rows = this.#database
      .selectFrom("workspace_secrets")
      .selectAll()
      .select(authorOf("workspace_secrets").as("createdBy"))
      .select(allowed.names(viewer).as("agents"))
      .where("account_id", "=", accountId);
    if (name !== undefined) rows = rows.where("name", "=", name);
    const logins = await this.#viewedLogins(accountId);
    return (await rows.orderBy("name").execute()).map((row) => ({
      name: row.name,
      hosts: row.hosts,
      headers: row.headers,
      agents: row.all_agents ? null : row.agents,
      lastFour: lastFourOf(this.#open(row)),
      login: row.value === null ? this.#logins.viewOf(logins.get(row.name)!) : null,
      createdBy: row.createdBy,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    }));
  }

  /**
   * Creates a secret, or changes the given fields of one. `login`: its value is the token of this sign-in. True if it is
   * new. Throws `request_invalid`, `too_many_secrets`.
   */
  async set(
    viewer: Viewer,
    name: string,
    asked: SetWorkspaceSecret,
    by: AuthorIds,
    login: BegunLogin | null = null,
  ): Promise<boolean> {
    const { accountId } = viewer;
    return this.#database.transaction().execute(async (transaction) => {
      // Serialized, so that the count is correct and concurrent changes are merged.
      await lockAccount(transaction, accountId);
      const known = await this.#of(transaction, accountId, name);
      requireKind(name, asked, known, login);
      if (!known) await requireFew(transaction, accountId);
      // Before the rows of the rights: an agent that is being deleted removes its own after its row was locked.
      const ids = asked.agents ? await requireAgents(transaction, viewer, asked.agents) : [];
      const { hosts, headers, all } = merged(asked, known, login !== null);
      if (
        hosts.length === 0 &&
        (all || (asked.agents?.length ?? (await allowed.count(transaction, accountId, name))) > 0)
      )
        throw needsHost();
      const columns = {
        ...(asked.value === undefined ? {} : { value: this.#seal(accountId, name, asked.value) }),
        hosts: JSON.stringify(hosts),
        headers: JSON.stringify(headers),
        all_agents: all,
        ...authorColumns(by),
      };
      if (known) {
        const row = transaction.updateTable("workspace_secrets").set({ ...columns, updated_at: sql`now()` });
        await row.where("account_id", "=", accountId).where("name", "=", name).execute();
      } else {
        const value = login ? null : this.#seal(accountId, name, asked.value!);
        const row = { account_id: accountId, name, seed: newSeed(), ...columns, value };
        await transaction.insertInto("workspace_secrets").values(row).execute();
      }
      if (asked.agents !== undefined) await allowed.set(transaction, accountId, name, ids);
      if (login) await this.#logins.begin(transaction, { accountId, name, by }, login);
      return !known;
    });
  }

  /** A secret with its value and its hosts, for a provider; null: there is none of this name. */
  async keyOf(accountId: string, name: string): Promise<SecretKey | null> {
    const row = await this.#of(this.#database, accountId, name);
    return row ? { name, hosts: row.hosts, value: this.#open(row), isLogin: row.value === null } : null;
  }

  /** False if there is no such secret. */
  async remove(accountId: string, name: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom("workspace_secrets")
      .where("account_id", "=", accountId)
      .where("name", "=", name)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** Lets an agent use what another one of the same workspace is listed for. */
  copyRights(transaction: Database, from: string, to: string): Promise<void> {
    return allowed.copy(transaction, from, to);
  }

  /** The version of their workspace's secrets, for the agents of this host whose machines run. */
  async versions(): Promise<Map<string, string>> {
    const rows = this.#database
      .selectFrom("workspace_secret_versions")
      .innerJoin("agents", "agents.account_id", "workspace_secret_versions.account_id")
      .select(["agents.id", "version"])
      .where("agents.host", "=", this.#host)
      .where("agents.status", "=", "ready");
    return new Map((await rows.execute()).map(({ id, version }) => [id, version]));
  }

  #of(database: Database, accountId: string, name: string) {
    const rows = database.selectFrom("workspace_secrets").selectAll().where("account_id", "=", accountId);
    return rows.where("name", "=", name).executeTakeFirst();
  }

  #seal(accountId: string, name: string, value: string): Buffer {
    return this.#sealing.seal(value, contextOfSecret("workspace_secrets", accountId, name));
  }

  #open({ account_id: accountId, name, value }: Pick<Row, "account_id" | "name" | "value">): string | null {
    return value && this.#sealing.open(value, contextOfSecret("workspace_secrets", accountId, name));
  }

  async #viewedLogins(accountId: string): Promise<Map<string, ViewedLogin>> {
    const rows = this.#database
      .selectFrom("secret_logins")
      .select(["id", "name", "url", "tokens", "scopes", "expires_at", "connected_at", "attempt_ends_at", "reason"])
      .select(isPending.as("isPending"))
      .where("account_id", "=", accountId);
    return new Map((await rows.execute()).map((row) => [row.name, row]));
  }
}

type Row = Selectable<Tables["workspace_secrets"]>;

/** The error for a sign-in of this name. */
export function hasValue(name: string): BerthError {
  return invalid(`${name} is a secret with a value. Choose another name, or delete it first.`);
}

/** A secret keeps its kind: a value that was set, or a sign-in. Throws `request_invalid`. */
function requireKind(name: string, asked: SetWorkspaceSecret, known: Row | undefined, login: BegunLogin | null): void {
  if (!known) return;
  if (login && known.value !== null) throw hasValue(name);
  const isChanged = [asked.value, asked.hosts, asked.headers].some((field) => field !== undefined);
  if (!login && known.value === null && isChanged) {
    throw invalid(
      `${name} is a sign-in to an MCP server: only \`agents\` can be changed. To set a value, delete it first.`,
    );
  }
}

interface Places {
  hosts: string[];
  headers: string[];
}

/**
 * The fields of the request, and otherwise the known ones. Without the value, a secret goes to no further place: a person
 * who does not know it could have it sent to a host of theirs. Throws `request_invalid`.
 */
function merged(
  { value, hosts, headers, agents }: SetWorkspaceSecret,
  known: (Places & { all_agents: boolean }) | undefined,
  isLogin: boolean,
): Places & { all: boolean } {
  if (!known && value === undefined && !isLogin) throw invalid("value is required: the secret itself.");
  const isWider = (asked: string[] = [], before: string[] = []) => asked.some((each) => !before.includes(each));
  if (value === undefined && !isLogin && (isWider(hosts, known?.hosts) || isWider(headers, known?.headers))) {
    throw invalid("value is required to add a host or a header. Without it, you can remove some and change `agents`.");
  }
  return {
    hosts: hosts ?? known?.hosts ?? [],
    headers: headers ?? known?.headers ?? ["authorization"],
    all: agents === undefined ? (known?.all_agents ?? true) : agents === null,
  };
}

function needsHost(): BerthError {
  return invalid(
    "hosts: set at least one host that the secret may be sent to. Only a secret that no agent uses (`agents`: []) needs none.",
  );
}

async function requireFew(transaction: Transaction<Tables>, accountId: string): Promise<void> {
  const rows = transaction.selectFrom("workspace_secrets").select("name").where("account_id", "=", accountId);
  if ((await rows.execute()).length < maximumWorkspaceSecrets) return;
  const message = `A workspace can have up to ${maximumWorkspaceSecrets} secrets; delete one first.`;
  throw new BerthError("too_many_secrets", message);
}

function lastFourOf(value: string | null): string | null {
  return value === null || value.length < shortestShown ? null : value.slice(-shownCharacters);
}

function invalid(message: string): BerthError {
  return new BerthError("request_invalid", message);
}
