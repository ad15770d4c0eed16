import { randomBytes } from "node:crypto";
import type { AppContext } from "../context.ts";
import type { Author } from "../contract/authors.ts";
import type { GuestSecrets } from "../contract/guest.ts";
import type { SecretRecord, SetSecret } from "../contract/secrets.ts";
import type { AuthorIds } from "../core/database/authors.ts";
import type { SecretStore } from "./store.ts";

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

/** Generates the placeholder for a secret in the machine. It is random, so it occurs nowhere else. */
export function newPlaceholder(name: string): string {
  return `berth-secret-${name}-${randomBytes(12).toString("hex")}`;
}

/** The secret as its owner sees it. */
export function toSecretView({ createdAt, updatedAt, ...secret }: SecretState): SecretRecord {
  return { ...secret, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}

/** A certificate authority, in PEM. */
export interface Authority {
  certificate: string;
  key: string;
}

/** The machine's part: placeholders and the authority, never the values. */
export async function guestSecrets(
  rows: Pick<SecretStore, "list" | "authority">,
  agentId: string,
): Promise<GuestSecrets> {
  const [secrets, authority] = await Promise.all([rows.list(agentId), rows.authority(agentId)]);
  return {
    placeholders: Object.fromEntries(secrets.map(({ name, placeholder }) => [name, placeholder])),
    authority: authority?.certificate ?? null,
  };
}

/** Secrets that agents' programs can use but not see. */
export class Secrets {
  readonly #context: AppContext;

  constructor(context: AppContext) {
    this.#context = context;
  }

  /** By name. */
  list(agentId: string): Promise<SecretState[]> {
    return this.#context.stores.secrets.list(agentId);
  }

  /** Creates or changes a secret. Throws `request_invalid` if there are too many, `agent_not_found`. */
  async set(
    agentId: string,
    name: string,
    secret: SetSecret,
    by: AuthorIds,
  ): Promise<{ secret: SecretState; made: boolean }> {
    const set = await this.#context.stores.secrets.set(agentId, name, secret, by);
    await this.#provide(agentId);
    return set;
  }

  /** False if the agent has no such secret. */
  async remove(agentId: string, name: string): Promise<boolean> {
    const removed = await this.#context.stores.secrets.remove(agentId, name);
    if (removed) await this.#provide(agentId);
    return removed;
  }

  /** An unreachable machine is updated at its next adoption. */
  async #provide(agentId: string): Promise<void> {
    const { stores, leases, log } = this.#context;
    try {
      const guest = await leases.ifRunning(agentId);
      await guest?.provideSecrets(await guestSecrets(stores.secrets, agentId));
    } catch (error) {
      log("a machine was not given its secrets", { agentId, error });
    }
  }
}
