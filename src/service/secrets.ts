import { randomBytes } from "node:crypto";
import type { GuestSecrets } from "../contract/guest.ts";
import type { SecretRecord, SetSecret } from "../contract/secrets.ts";

/** How many secrets an agent may have. */
export const maximumSecrets = 50;

/** A secret of an agent, without its value. */
export interface SecretState {
  name: string;
  hosts: string[];
  headers: string[];
  placeholder: string;
  createdAt: Date;
  updatedAt: Date;
}

/** What stands for a secret in the machine: made up anew for each, so that it is found nowhere else. */
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

/** The secrets' rows. */
export interface SecretRows {
  /** By name. */
  list(agentId: string): Promise<SecretState[]>;
  /** `made`: there was none of that name. Throws `request_invalid` for one too many, `agent_not_found`. */
  set(agentId: string, name: string, secret: SetSecret): Promise<{ secret: SecretState; made: boolean }>;
  /** False when the agent has no such secret. */
  remove(agentId: string, name: string): Promise<boolean>;
  /** Null where the agent has had no secret yet. */
  authority(agentId: string): Promise<Authority | null>;
  /** Keeps an authority unless the agent has one. Answers the one that it has. */
  keepAuthority(agentId: string, made: Authority): Promise<Authority>;
}

/** What the agent's machine is given of its secrets: none of them. */
export async function guestSecrets(
  rows: Pick<SecretRows, "list" | "authority">,
  agentId: string,
): Promise<GuestSecrets> {
  const [secrets, authority] = await Promise.all([rows.list(agentId), rows.authority(agentId)]);
  return {
    placeholders: Object.fromEntries(secrets.map(({ name, placeholder }) => [name, placeholder])),
    authority: authority?.certificate ?? null,
  };
}

/** The agent's authority, made with its first secret. */
export async function authorityOf(
  rows: Pick<SecretRows, "authority" | "keepAuthority">,
  make: (agentId: string) => Promise<Authority>,
  agentId: string,
): Promise<Authority> {
  return (await rows.authority(agentId)) ?? rows.keepAuthority(agentId, await make(agentId));
}

interface SecretOptions {
  rows: SecretRows;
  makeAuthority: (agentId: string) => Promise<Authority>;
  /** Gives a machine that runs what it has of the secrets from now on. */
  provide: (agentId: string, secrets: GuestSecrets) => Promise<void>;
  log: (message: string, fields: Record<string, unknown>) => void;
}

/** What agents' programs can use and not see. */
export class Secrets {
  readonly #options: SecretOptions;

  constructor(options: SecretOptions) {
    this.#options = options;
  }

  /** By name. */
  list(agentId: string): Promise<SecretState[]> {
    return this.#options.rows.list(agentId);
  }

  /** Makes a secret or changes it. Throws `request_invalid` for one too many, `agent_not_found`. */
  async set(agentId: string, name: string, secret: SetSecret): Promise<{ secret: SecretState; made: boolean }> {
    const { rows, makeAuthority } = this.#options;
    const set = await rows.set(agentId, name, secret);
    await authorityOf(rows, makeAuthority, agentId);
    await this.#provide(agentId);
    return set;
  }

  /** False when the agent has no such secret. */
  async remove(agentId: string, name: string): Promise<boolean> {
    const removed = await this.#options.rows.remove(agentId, name);
    if (removed) await this.#provide(agentId);
    return removed;
  }

  /** A machine that cannot be reached now is given its secrets when it is adopted next. */
  async #provide(agentId: string): Promise<void> {
    const { rows, provide, log } = this.#options;
    try {
      await provide(agentId, await guestSecrets(rows, agentId));
    } catch (error) {
      log("a machine was not given its secrets", { agentId, error });
    }
  }
}
