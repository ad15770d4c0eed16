import type { AppContext } from "../context.ts";
import type { Author } from "../contract/authors.ts";
import { BerthError } from "../contract/errors.ts";
import type { SecretRecord, SetSecret } from "../contract/secrets.ts";
import type { AuthorIds } from "../core/database/authors.ts";

/** How many secrets an agent may have. */
export const maximumSecrets = 50;

/** A secret of an agent, without its value. */
export interface SecretState {
  name: string;
  hosts: string[];
  headers: string[];
  placeholder: string;
  createdBy: Author | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A secret that an agent can use: its own, or one of its workspace. */
export type UsableSecretState = SecretState & Pick<SecretRecord, "from">;

/** The secret as its owner sees it. */
export function toSecretView({ createdAt, updatedAt, ...secret }: UsableSecretState): SecretRecord {
  return { ...secret, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

/** A certificate authority, in PEM. */
export interface Authority {
  certificate: string;
  key: string;
}

/** Secrets that agents' programs can use but not see. */
export class Secrets {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** Those that the agent can use, by name. */
  list(agentId: string): Promise<UsableSecretState[]> {
    return this.#context.stores.usableSecrets.list(agentId);
  }

  /** Creates or changes a secret. Throws `request_invalid` if there are too many, `agent_not_found`. */
  async set(
    agentId: string,
    name: string,
    secret: SetSecret,
    by: AuthorIds,
  ): Promise<{ secret: SecretState; made: boolean }> {
    const set = await this.#context.stores.secrets.set(agentId, name, secret, by);
    await this.#context.placeholders.provide(agentId);
    return set;
  }

  /** Removes one of the agent's own. Throws `secret_not_found`. */
  async remove(agentId: string, name: string): Promise<void> {
    const { stores, placeholders } = this.#context;
    if (await stores.secrets.remove(agentId, name)) return placeholders.provide(agentId);
    const isOfWorkspace = (await stores.usableSecrets.list(agentId)).some((secret) => secret.name === name);
    const message = isOfWorkspace
      ? `${name} is a secret of the workspace, not of the agent: delete /secrets/${name}, or leave the agent out of its \`agents\`.`
      : `The agent has no secret ${name}.`;
    throw new BerthError("secret_not_found", message);
  }
}
