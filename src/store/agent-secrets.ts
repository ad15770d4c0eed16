import { type Selectable, sql } from "kysely";
import { BerthError } from "../contract/errors.ts";
import type { SetSecret } from "../contract/secrets.ts";
import {
  type Authority,
  maximumSecrets,
  newPlaceholder,
  type SecretRows,
  type SecretState,
} from "../service/secrets.ts";
import type { Database, Tables } from "./database.ts";
import type { Sealing } from "./idempotency.ts";

/** A secret with its value. */
export interface OpenedSecret {
  placeholder: string;
  hosts: string[];
  headers: string[];
  value: string;
}

/** The agents' secrets. Values and keys are stored encrypted and bound to their rows. */
export class SecretStore implements SecretRows {
  readonly #database: Database;
  readonly #sealing: Sealing;

  constructor(database: Database, sealing: Sealing) {
    this.#database = database;
    this.#sealing = sealing;
  }

  /** By name. */
  async list(agentId: string): Promise<SecretState[]> {
    const rows = this.#database.selectFrom("agent_secrets").selectAll().where("agent_id", "=", agentId);
    return (await rows.orderBy("name").execute()).map(fromRow);
  }

  /**
   * Creates a secret, or changes the value and hosts of an existing one, which keeps its placeholder. `made`: it is
   * new. Throws `request_invalid` if there are too many, and `agent_not_found` if the agent has gone meanwhile.
   */
  async set(
    agentId: string,
    name: string,
    { value, hosts, headers }: SetSecret,
  ): Promise<{ secret: SecretState; made: boolean }> {
    const sealed = this.#sealing.seal(value, contextOf("agent_secrets", agentId, name));
    return this.#database.transaction().execute(async (transaction) => {
      // Serialized, so that the count is correct.
      const agents = transaction.selectFrom("agents").select("id").where("id", "=", agentId);
      if (!(await agents.forNoKeyUpdate().executeTakeFirst())) {
        throw new BerthError("agent_not_found", "The agent is gone.");
      }
      const own = transaction.selectFrom("agent_secrets").where("agent_id", "=", agentId);
      const others = (await own.select("name").execute()).filter((each) => each.name !== name);
      if (others.length >= maximumSecrets) {
        throw new BerthError("request_invalid", `An agent can have at most ${maximumSecrets} secrets.`);
      }
      const row = await transaction
        .insertInto("agent_secrets")
        .values({
          agent_id: agentId,
          name,
          placeholder: newPlaceholder(name),
          value: sealed,
          hosts: JSON.stringify(hosts),
          headers: JSON.stringify(headers),
        })
        .onConflict((conflict) =>
          conflict.columns(["agent_id", "name"]).doUpdateSet({
            value: sealed,
            hosts: JSON.stringify(hosts),
            headers: JSON.stringify(headers),
            updated_at: sql`now()`,
          }),
        )
        .returningAll()
        .executeTakeFirstOrThrow();
      return { secret: fromRow(row), made: row.created_at.getTime() === row.updated_at.getTime() };
    });
  }

  /** Gives an agent the secrets of another one, with placeholders of its own. */
  async copy(from: string, to: string): Promise<void> {
    for (const { name, hosts, headers, value: sealed } of await this.#rows(from)) {
      const value = this.#sealing.open(sealed, contextOf("agent_secrets", from, name));
      if (value !== null) await this.set(to, name, { value, hosts, headers });
    }
  }

  /** False if the agent has no such secret. */
  async remove(agentId: string, name: string): Promise<boolean> {
    const { numDeletedRows } = await this.#database
      .deleteFrom("agent_secrets")
      .where("agent_id", "=", agentId)
      .where("name", "=", name)
      .executeTakeFirst();
    return numDeletedRows > 0n;
  }

  /** All of the agent's secrets with their values, except those encrypted with another secret key. */
  async open(agentId: string): Promise<OpenedSecret[]> {
    return (await this.#rows(agentId)).flatMap(({ name, placeholder, hosts, headers, value: sealed }) => {
      const value = this.#sealing.open(sealed, contextOf("agent_secrets", agentId, name));
      return value === null ? [] : [{ placeholder, hosts, headers, value }];
    });
  }

  #rows(agentId: string) {
    return this.#database.selectFrom("agent_secrets").selectAll().where("agent_id", "=", agentId).execute();
  }

  /** The agent's authority; null if there is none, or it was encrypted with another secret key. */
  async authority(agentId: string): Promise<Authority | null> {
    const rows = this.#database.selectFrom("agent_authorities").selectAll().where("agent_id", "=", agentId);
    const row = await rows.executeTakeFirst();
    const key = row && this.#sealing.open(row.key, contextOf("agent_authorities", agentId, ""));
    return row && key ? { certificate: row.certificate, key } : null;
  }

  /** Stores an authority for an agent, unless it has a usable one. Returns the agent's. */
  async keepAuthority(agentId: string, made: Authority): Promise<Authority> {
    const known = await this.authority(agentId);
    if (known) return known;
    const key = this.#sealing.seal(made.key, contextOf("agent_authorities", agentId, ""));
    const row = { certificate: made.certificate, key };
    await this.#database
      .insertInto("agent_authorities")
      .values({ agent_id: agentId, ...row })
      .onConflict((conflict) => conflict.column("agent_id").doUpdateSet(row))
      .execute();
    return (await this.authority(agentId)) ?? made;
  }
}

/** Binds ciphertext to its row. */
function contextOf(table: "agent_secrets" | "agent_authorities", agentId: string, name: string): string {
  return JSON.stringify([table, agentId, name]);
}

function fromRow(row: Selectable<Tables["agent_secrets"]>): SecretState {
  const { name, hosts, headers, placeholder, created_at: createdAt, updated_at: updatedAt } = row;
  return { name, hosts, headers, placeholder, createdAt, updatedAt };
}
