import { type Selectable, sql } from "kysely";
import { BerthError } from "../contract/errors.ts";
import type { SetSecret } from "../contract/secrets.ts";
import { type AuthorIds, authorColumns, authorOf } from "../core/database/authors.ts";
import type { Database } from "../core/database/database.ts";
import type { Tables } from "../core/database/tables.ts";
import type { Sealing } from "../core/http/idempotency-store.ts";
import { contextOfSecret, newPlaceholder } from "./placeholder.ts";
import { type Authority, maximumSecrets, type SecretState } from "./secrets.ts";

/** Makes a certificate authority for an agent. */
export type MakeAuthority = (agentId: string) => Promise<Authority>;

/** The secrets of one agent, for another one, with the authority that the other one gets. */
export interface CopiedSecrets {
  secrets: readonly (SetSecret & { name: string })[];
  authority: Authority;
}

/** The agents' own secrets. Values and keys are stored encrypted and bound to their rows. */
export class SecretStore {
  readonly #database: Database;
  readonly #sealing: Sealing;
  readonly #makeAuthority: MakeAuthority;

  constructor(database: Database, sealing: Sealing, makeAuthority: MakeAuthority) {
    this.#database = database;
    this.#sealing = sealing;
    this.#makeAuthority = makeAuthority;
  }

  /** By name. */
  async list(agentId: string): Promise<SecretState[]> {
    const rows = this.#database.selectFrom("agent_secrets").selectAll().where("agent_id", "=", agentId);
    const author = authorOf("agent_secrets").as("createdBy");
    return (await rows.select(author).orderBy("name").execute()).map(fromRow);
  }

  /**
   * Creates a secret, or changes the value and hosts of an existing one, which keeps its placeholder. `made`: it is
   * new. Throws `request_invalid` if there are too many, and `agent_not_found` if the agent has gone meanwhile.
   */
  async set(
    agentId: string,
    name: string,
    { value, hosts, headers }: SetSecret,
    by: AuthorIds,
  ): Promise<{ secret: SecretState; made: boolean }> {
    const sealed = this.#sealing.seal(value, contextOfSecret("agent_secrets", agentId, name));
    // Before the transaction: it takes some time to make one.
    const authority = (await this.authority(agentId)) ?? (await this.#makeAuthority(agentId));
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
          ...authorColumns(by),
        })
        .onConflict((conflict) =>
          conflict.columns(["agent_id", "name"]).doUpdateSet({
            value: sealed,
            hosts: JSON.stringify(hosts),
            headers: JSON.stringify(headers),
            updated_at: sql`now()`,
            ...authorColumns(by),
          }),
        )
        .returningAll()
        .returning(authorOf("agent_secrets").as("createdBy"))
        .executeTakeFirstOrThrow();
      await this.#insertAuthority(transaction, agentId, authority);
      return { secret: fromRow(row), made: row.created_at.getTime() === row.updated_at.getTime() };
    });
  }

  /** The secrets of an agent that can be decrypted, to be given to a new one. Null if there are none. */
  async copyOf(from: string, to: string): Promise<CopiedSecrets | null> {
    const secrets = (await this.#rows(from)).flatMap(({ name, hosts, headers, value: sealed }) => {
      const value = this.#sealing.open(sealed, contextOfSecret("agent_secrets", from, name));
      return value === null ? [] : [{ name, value, hosts, headers }];
    });
    return secrets.length === 0 ? null : { secrets, authority: await this.#makeAuthority(to) };
  }

  /** Gives a new agent secrets, with placeholders of its own and without an author. */
  async insertCopy(transaction: Database, agentId: string, { secrets, authority }: CopiedSecrets): Promise<void> {
    const rows = secrets.map(({ name, value, hosts, headers }) => ({
      agent_id: agentId,
      name,
      placeholder: newPlaceholder(name),
      value: this.#sealing.seal(value, contextOfSecret("agent_secrets", agentId, name)),
      hosts: JSON.stringify(hosts),
      headers: JSON.stringify(headers),
    }));
    await transaction.insertInto("agent_secrets").values(rows).execute();
    await this.#insertAuthority(transaction, agentId, authority);
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

  #rows(agentId: string) {
    return this.#database.selectFrom("agent_secrets").selectAll().where("agent_id", "=", agentId).execute();
  }

  /** The agent's authority; null if there is none, or it was encrypted with another secret key. */
  async authority(agentId: string): Promise<Authority | null> {
    const rows = this.#database.selectFrom("agent_authorities").selectAll().where("agent_id", "=", agentId);
    const row = await rows.executeTakeFirst();
    const key = row && this.#sealing.open(row.key, contextOfSecret("agent_authorities", agentId, ""));
    return row && key ? { certificate: row.certificate, key } : null;
  }

  /** The agent's authority. It is made again if it was encrypted with another secret key. */
  async authorityOf(agentId: string): Promise<Authority> {
    const known = await this.authority(agentId);
    if (known) return known;
    const made = await this.#makeAuthority(agentId);
    await this.#insertAuthority(this.#database, agentId, made);
    return (await this.authority(agentId)) ?? made;
  }

  /** Keeps the authority that the agent has, also one made meanwhile, unless another secret key encrypted it. */
  async #insertAuthority(database: Database, agentId: string, { certificate, key }: Authority): Promise<void> {
    const context = contextOfSecret("agent_authorities", agentId, "");
    const row = { certificate, key: this.#sealing.seal(key, context) };
    const stored = await database
      .selectFrom("agent_authorities")
      .select("key")
      .where("agent_id", "=", agentId)
      .executeTakeFirst();
    if (stored && this.#sealing.open(stored.key, context) !== null) return;
    await database
      .insertInto("agent_authorities")
      .values({ agent_id: agentId, ...row })
      .onConflict((conflict) =>
        conflict
          .column("agent_id")
          .doUpdateSet(row)
          .where("agent_authorities.key", "=", stored?.key ?? Buffer.alloc(0)),
      )
      .execute();
  }
}

function fromRow(row: Selectable<Tables["agent_secrets"]> & Pick<SecretState, "createdBy">): SecretState {
  const { name, hosts, headers, placeholder, createdBy, created_at: createdAt, updated_at: updatedAt } = row;
  return { name, hosts, headers, placeholder, createdBy, createdAt, updatedAt };
}
