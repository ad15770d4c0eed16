import { type RawBuilder, sql } from "kysely";
import { AllowedAgents } from "../core/database/allowed-agents.ts";
import { authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import type { Sealing } from "../core/http/idempotency-store.ts";
import type { Secret } from "../egress/secrets.ts";
import { agentPlaceholder, contextOfSecret } from "./placeholder.ts";
import type { UsableSecretState } from "./secrets.ts";

const allowed = new AllowedAgents("workspace_secrets");

interface OpenSecret extends Secret {
  /** The sign-in whose token is the value; null: the value was set. */
  login: { id: string; name: string } | null;
}

/** A row of either table. */
interface UsableRow extends Omit<UsableSecretState, "from"> {
  /** Null: the token of its login. */
  value: Buffer | null;
  loginId: string | null;
  /** Null for one of the agent's own. */
  seed: Buffer | null;
  accountId: string | null;
}

/**
 * The secrets that an agent can use: its own, and those of its workspace that it may use and has none of the same name
 * for. Each question is one statement, so that a change is seen as a whole.
 */
export class UsableSecretStore {
  readonly #database: Database;
  readonly #sealing: Sealing;

  constructor(database: Database, sealing: Sealing) {
    this.#database = database;
    this.#sealing = sealing;
  }

  /** By name. */
  async list(agentId: string): Promise<UsableSecretState[]> {
    const rows = await this.#rows(agentId, authorOf);
    return rows.map(({ value: _, seed, accountId, loginId: __, ...secret }) => ({
      ...secret,
      from: accountId === null ? "agent" : "workspace",
    }));
  }

  /** By name. */
  async placeholders(agentId: string): Promise<Record<string, string>> {
    const rows = await this.#rows(agentId);
    return Object.fromEntries(rows.map(({ name, placeholder }) => [name, placeholder]));
  }

  /** With their values, except those encrypted with another secret key. */
  async open(agentId: string): Promise<OpenSecret[]> {
    return (await this.#rows(agentId)).flatMap<OpenSecret>(({ name, hosts, headers, placeholder, ...row }) => {
      const places = { placeholder, hosts, headers };
      if (row.loginId !== null) return [{ ...places, value: "", login: { id: row.loginId, name } }];
      const context = row.accountId
        ? contextOfSecret("workspace_secrets", row.accountId, name)
        : contextOfSecret("agent_secrets", agentId, name);
      const value = row.value && this.#sealing.open(row.value, context);
      return value === null ? [] : [{ ...places, value, login: null }];
    });
  }

  /** `author`: the author of a row of a table; without it, nobody is looked up. */
  async #rows(agentId: string, author: (table: string) => RawBuilder<unknown> = () => sql`null::json`) {
    const { rows } = await sql<UsableRow>`
      select name, hosts, headers, value, placeholder, null::bytea as seed, null::uuid as "accountId",
        null::uuid as "loginId",
        created_at as "createdAt", updated_at as "updatedAt", ${author("agent_secrets")} as "createdBy"
      from agent_secrets where agent_id = ${agentId}
      union all
      select secret.name, hosts, headers, value, null, seed, secret.account_id,
        (select id from secret_logins login where login.account_id = secret.account_id and login.name = secret.name),
        secret.created_at, secret.updated_at, ${author("secret")}
      from workspace_secrets secret join agents on agents.account_id = secret.account_id
      where agents.id = ${agentId}
        and ${allowed.allows("secret")}
        and not exists (select from agent_secrets own where own.agent_id = agents.id and own.name = secret.name)
      order by name`.execute(this.#database);
    return rows.map((row) => (row.seed ? { ...row, placeholder: agentPlaceholder(row.name, row.seed, agentId) } : row));
  }
}
